package lens

// Who wrote which version of an object. Writes come from the page's buttons, from a program, or from
// another client. While the API server handles a write, it may call webhooks.

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/operators/scripts/internal/audit"
)

// How late lens's own informer may see a version, in milliseconds: at most, and usually.
const (
	late      = 1000
	usualLate = 100
)

// acted is called when the actor has done something, perhaps a write. resourceVersion is ""
// if the answer has none.
func (o *Observer) acted(item Item, target object, resourceVersion string) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	item.Object, item.Version = target.String(), resourceVersion
	id := o.Recorder.Add(item)
	if target != (object{}) {
		o.wrote(target, id, resourceVersion, !item.Failed)
	}
}

// requested is called with each request of a program.
func (o *Observer) requested(by string, r audit.Request) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if r.Resource == "" {
		return // discovery
	}
	p, target := o.program(by), objectOf(r)
	id := o.Recorder.Add(Item{
		Lane: Requests, Program: by, At: milliseconds(r.Received), Until: milliseconds(r.Answered),
		Label:  fmt.Sprintf("%s %s %d", r.Verb, object{r.Resource, r.Namespace, r.Name}, r.Code),
		Object: target.String(), Version: r.ResourceVersion, Failed: failed(r), Conflict: r.Code == http.StatusConflict,
		Detail:  strings.TrimSpace(r.String() + "\n" + audit.Readable(r.Body)),
		Explain: fmt.Sprintf("%s sent this request, and the API server answered %d.", by, r.Code) + meaning(r.Code),
	})
	switch {
	case r.Verb == "delete": // the version in its answer isn't new
		o.wrote(target, id, "", r.Code < 300)
	case r.IsWrite():
		o.wrote(target, id, r.ResourceVersion, r.Code < 300)
	case r.Verb == "list" && r.Code < 300:
		o.listed(p, r, id)
	}
	switch {
	case r.Verb == "watch" || r.IsElection():
	case o.withoutLogs:
		o.Recorder.Cause(o.newsBefore(p, target, milliseconds(r.Received)), id)
	default:
		p.requests = append(p.requests, sent{id, target, milliseconds(r.Received)})
	}
}

// newsBefore returns what had reached a program last, at that time, about the managed object that an
// object belongs to. That is most likely why it sent a request. An object that is about to be created
// belongs to the managed object of its name or, if there is none, to any.
func (o *Observer) newsBefore(p *programState, target object, at float64) (newest int) {
	managed, found := o.managed(target)
	if !found && p.keys[target.key()] != nil {
		managed, found = target, true
	}
	for key, state := range p.keys {
		for _, item := range slices.Backward(state.news) {
			if found && key != managed.key() || item <= newest {
				break
			}
			if o.Recorder.Get(item).Until <= at {
				newest = item
			}
		}
	}
	return newest
}

// otherRequested is called with each request of another client. The audit log doesn't say which
// version it wrote.
func (o *Observer) otherRequested(r audit.Request) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	target := objectOf(r)
	id := o.Recorder.Add(Item{
		Lane: Others, At: milliseconds(r.Received), Until: milliseconds(r.Answered),
		Label:  fmt.Sprintf("%s: %s %s %d", r.Client(), r.Verb, object{r.Resource, r.Namespace, r.Name}, r.Code),
		Object: target.String(), Failed: failed(r), Conflict: r.Code == http.StatusConflict,
		Detail: r.String() + "\n" + r.UserAgent,
		Explain: fmt.Sprintf("%s, which is another client, sent this request, and the API server answered %d.",
			r.Client(), r.Code) + meaning(r.Code),
	})
	if !r.IsWrite() {
		return
	}
	o.wrote(target, id, "", r.Code < 300)
	if r.Verb == "delete" && strings.HasSuffix(r.Client(), "garbage-collector") { // because its owner is gone
		if owner, found := o.managed(target); found {
			o.Recorder.Cause(of(o.objects, owner).deleted, id)
		}
	}
}

// failed reports whether a request failed. That an object doesn't exist is an answer, and no failure.
func failed(r audit.Request) bool {
	return r.Code >= 400 && (r.Code != http.StatusNotFound || r.Name == "")
}

const conflicted = " 409 Conflict: the object had changed since it was read. That is normal, and happens often."

// meaning explains the status codes that look like failures but are normal.
func meaning(code int32) string {
	switch code {
	case http.StatusConflict:
		return conflicted + " The client reads the object again, and decides again."
	case http.StatusNotFound:
		return " 404 Not Found: there is no such object, or not yet."
	}
	return ""
}

// wrote is called when a write was answered, perhaps with the resourceVersion that it wrote.
func (o *Observer) wrote(target object, write int, resourceVersion string, succeeded bool) {
	state := of(o.objects, target)
	state.writes = append(state.writes, write)
	o.linkCalls(state)
	if !succeeded {
		return
	}
	if resourceVersion == "" {
		state.unversioned = append(state.unversioned, write)
	} else if v := of(o.versions, version{target, resourceVersion}); v.writer == 0 { // otherwise it has changed nothing
		state.unwritten = slices.DeleteFunc(state.unwritten, func(other *versionState) bool { return other == v })
		v.writer = write
		o.link(v)
	}
	o.linkByTime(state)
}

// Stored is called with each version of an object that the API server has.
func (o *Observer) Stored(resource string, seen *unstructured.Unstructured, deleted bool) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	target := object{resource, seen.GetNamespace(), seen.GetName()}
	state := of(o.objects, target)
	o.uids[seen.GetUID()] = target
	if owner := metav1.GetControllerOf(seen); owner != nil {
		var known bool
		if state.owner, known = o.uids[owner.UID]; !known {
			state.owner = object{plural(owner.Kind), target.namespace, owner.Name}
		}
	}
	id := version{target, seen.GetResourceVersion()}
	v := of(o.versions, id)
	onlyLinks := !o.withoutLogs && (resource == "replicasets" || resource == "pods") // to their owners
	if v.stored != 0 || onlyLinks {
		return
	}
	now := milliseconds(time.Now())
	item := Item{
		Lane: Objects, At: now, Until: now, Object: target.String(), Version: id.resourceVersion, Label: target.String(),
		Detail: asText(seen), Fields: fieldsOf(seen),
		Explain: fmt.Sprintf("The API server has stored a new version of %s.", target),
	}
	if deleted {
		item.Label, item.Explain = item.Label+" is deleted", fmt.Sprintf("The API server has deleted %s.", target)
	}
	v.stored = o.Recorder.Add(item)
	state.newest = id
	if deleted {
		state.newest, state.deleted = version{}, v.stored
	}
	if v.writer != 0 {
		o.link(v)
	} else {
		v.freed = deleted && seen.GetDeletionTimestamp() != nil
		state.unwritten = append(state.unwritten, v)
		o.linkByTime(state)
	}
	for _, event := range v.early { // a program's watch was faster than lens's
		o.Recorder.Cause(v.stored, event)
		sent := o.Recorder.Get(event).At
		o.Recorder.Update(v.stored, func(item *Item) {
			item.At = min(item.At, sent-0.01)
			item.Until = item.At
		})
	}
	o.cachesFallBehind(id)
}

// link links a version to its write, if both are known. It was stored before the write was answered,
// even if lens has seen it later.
func (o *Observer) link(v *versionState) {
	if v.writer == 0 || v.stored == 0 {
		return
	}
	answered := o.Recorder.Get(v.writer).Until
	o.Recorder.Update(v.stored, func(item *Item) {
		item.At = min(item.At, answered)
		item.Until = item.At
	})
	o.Recorder.Cause(v.writer, v.stored)
}

// linkByTime links versions to writes that don't say that they wrote them.
func (o *Observer) linkByTime(state *objectState) {
	state.unwritten = slices.DeleteFunc(state.unwritten, func(v *versionState) bool {
		v.writer = o.writerOf(state, v)
		o.link(v)
		return v.writer != 0
	})
}

// writerOf returns the write during which a version was stored, or 0.
func (o *Observer) writerOf(state *objectState, v *versionState) int {
	at := o.Recorder.Get(v.stored).At
	if v.freed {
		for _, write := range slices.Backward(state.writes) {
			if o.during(write, at, usualLate) {
				return write
			}
		}
		return 0
	}
	for i, write := range state.unversioned {
		if o.during(write, at, late) {
			state.unversioned = slices.Delete(state.unversioned, i, i+1) // each has written one version
			return write
		}
	}
	return 0
}

// linkCalls links calls of webhooks to the write during which they happened.
func (o *Observer) linkCalls(state *objectState) {
	state.calls = slices.DeleteFunc(state.calls, func(call int) bool {
		at := o.Recorder.Get(call).At
		i := slices.IndexFunc(state.writes, func(write int) bool { return o.during(write, at, 0) })
		if i >= 0 {
			o.Recorder.Cause(state.writes[i], call)
		}
		return i >= 0
	})
}

// called is called when a webhook has received a request, and answered when it has answered.
func (o *Observer) called(p *programState, e entry) {
	target := object{e.values["resource"], e.values["namespace"], e.values["name"]}
	id := o.Recorder.Add(Item{
		Lane: Admission, Program: p.name, At: milliseconds(e.at), Object: target.String(), Label: target.String(),
		Explain: fmt.Sprintf("Before it stored %s, the API server called a webhook of %s, "+
			"which may change or refuse the object.", target, p.name),
	})
	p.calls[e.values["requestID"]] = id
	state := of(o.objects, target)
	state.calls = append(state.calls, id)
	o.linkCalls(state)
}

func (o *Observer) answered(p *programState, e entry) {
	o.Recorder.Update(p.calls[e.values["requestID"]], func(item *Item) {
		item.Until = milliseconds(e.at)
		if item.Failed = e.values["allowed"] == "false"; item.Failed {
			item.Label += " is refused"
		}
	})
}

func plural(kind string) string { return strings.ToLower(kind) + "s" }

// asText is an object as JSON without managedFields.
func asText(seen *unstructured.Unstructured) string {
	seen = seen.DeepCopy()
	seen.SetManagedFields(nil)
	content, _ := json.MarshalIndent(seen.Object, "", "  ") // an object of the API server can't fail
	return string(content)
}
