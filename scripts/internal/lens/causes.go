package lens

// What caused what. A write's answer has the object's new resourceVersion, and so do the version of
// the object and the events that carry it to the programs. The programs' logs say which event led to
// which key, and when the work on a key began and ended.

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/faultproxy"
)

// mostNews is how many events may be shown as the causes of one reconcile call.
const mostNews = 50

// observer turns what is observed into items, and links them.
type observer struct {
	recorder *Recorder
	resource string // of the kind that the programs manage, such as foos

	mutex    sync.Mutex
	writers  map[string]int    // the request or action that has written a version
	versions map[string]int    // the objects' versions
	newest   map[string]string // by object, its newest version
	waiting  map[string][]int  // events whose version of the object isn't known yet
	owners   map[string]string // the object that controls another one
	gone     map[string]int    // the deletion of a managed object, by its key
	// Writes whose answers have no resourceVersion, such as deletes and those of other clients, are
	// linked to versions by object and time.
	unclaimed map[string][]moment // versions of an object that nobody seems to have written
	claims    map[string][]moment // writes that may have written one
	// The same for calls of webhooks.
	calls    map[string][]moment // those that no write has claimed
	writes   map[string][]moment
	programs map[string]*observed // by name
}

// observed is what is known about one program.
type observed struct {
	name string
	// namespace is the only one that the program watches, or "".
	namespace string
	events    map[string]int       // by version
	has       map[string]bool      // the versions that have reached it
	behind    map[string]int       // by object, the cache item that lasts
	news      map[string][]int     // by key, the events since the last work on it
	last      int                  // the last event that the log mentioned
	handled   map[string]int       // by key, the last event that the log mentioned
	queued    map[string]int       // by key, the queue item that lasts
	working   map[string]int       // by key, the work item that lasts
	began     map[string]time.Time // by key, when that was
	failures  map[string]int       // by key, how often the work has failed in a row
	requests  []sent               // those that no work has claimed yet
	kinds     map[string]bool      // the resources that it watches
	waiting   map[string][]moment  // by key, the backoffs
	pauses    map[string]pause     // by key, what else than an event will lead to the next work
	retries   bool                 // it uses controller-runtime, which retries failed work and doesn't log its queue
	queues    bool                 // it has a queue, and logs what enters it
	calls     map[string]int       // of its webhooks, by request ID
	sentFor   map[int]bool         // the work in progress that has sent a request
}

type sent struct {
	audit.Request
	id int
}

// moment is when something happened, in milliseconds.
type moment struct {
	id       int
	at, last float64
}

// mostMoments is how many of them are kept for each object.
const mostMoments = 20

// slack is how late our own informer may see a version, in milliseconds.
const slack = 1000

func newObserver(recorder *Recorder, resource string) *observer {
	return &observer{
		recorder: recorder, resource: resource, writers: map[string]int{}, versions: map[string]int{}, waiting: map[string][]int{},
		newest: map[string]string{}, owners: map[string]string{}, gone: map[string]int{}, unclaimed: map[string][]moment{}, claims: map[string][]moment{},
		calls: map[string][]moment{}, writes: map[string][]moment{}, programs: map[string]*observed{},
	}
}

// watchesIn records that a program only watches this namespace.
func (o *observer) watchesIn(name, namespace string) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.of(name).namespace = namespace
}

func (o *observer) of(name string) *observed {
	p := o.programs[name]
	if p == nil {
		p = &observed{
			name: name, events: map[string]int{}, has: map[string]bool{}, behind: map[string]int{}, news: map[string][]int{},
			handled: map[string]int{}, queued: map[string]int{}, working: map[string]int{}, began: map[string]time.Time{},
			failures: map[string]int{}, kinds: map[string]bool{}, waiting: map[string][]moment{}, pauses: map[string]pause{}, calls: map[string]int{}, sentFor: map[int]bool{},
		}
		o.programs[name] = p
	}
	return p
}

// prune removes the entries of items that only the recording still has.
func (o *observer) prune(ids map[string]int) {
	if len(ids) > 2*most {
		oldest := o.recorder.oldest()
		maps.DeleteFunc(ids, func(_ string, id int) bool { return id < oldest })
	}
}

// name is how items name an object: deployments default/web.
func name(resource, namespace, object string) string {
	return strings.TrimSpace(resource + " " + strings.TrimPrefix(namespace+"/"+object, "/"))
}

func version(object, resourceVersion string) string { return object + "\x00" + resourceVersion }

// keyOf returns the key of the managed object that an object belongs to, or "".
func (o *observer) keyOf(object string) string {
	for range 4 { // a Pod, its ReplicaSet, its Deployment, and the managed object
		resource, key, _ := strings.Cut(object, " ")
		if resource == o.resource {
			return key
		}
		object = o.owners[object]
	}
	return ""
}

// acted is called when the user has done something, with the object that it has changed, if any.
func (o *observer) acted(began time.Time, label, command, object, resourceVersion string, failed error) int {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	explain := "You did this. The command below does the same."
	if command == "" {
		explain = "You did this."
	}
	item := Item{Lane: Actions, At: milliseconds(began), Until: milliseconds(time.Now()), Label: label, Object: object, Version: resourceVersion, Detail: command, Explain: explain}
	if failed != nil {
		item.Failed, item.Detail = true, command+"\n"+failed.Error()
	}
	id := o.recorder.Add(item)
	o.admitted(object, moment{id, item.At, item.Until})
	switch {
	case resourceVersion != "":
		o.wrote(version(object, resourceVersion), id)
	case object != "" && failed == nil:
		o.claim(object, moment{id, item.At, item.Until})
	}
	return id
}

// claim records that an item has written a version of an object at about that time.
func (o *observer) claim(object string, by moment) {
	for i, v := range o.unclaimed[object] {
		if v.at >= by.at-1 && v.at <= by.last+slack {
			o.recorder.Cause(by.id, v.id)
			o.unclaimed[object] = slices.Delete(o.unclaimed[object], i, i+1)
			return
		}
	}
	keep(o.claims, object, by)
}

// claimed returns the item that has written a version of an object that is seen now, or 0.
func (o *observer) claimed(object string, now float64) int {
	for i, by := range o.claims[object] {
		if now >= by.at-1 && now <= by.last+slack {
			o.claims[object] = slices.Delete(o.claims[object], i, i+1)
			return by.id
		}
	}
	return 0
}

// keep keeps the last moments of an object.
func keep(moments map[string][]moment, object string, m moment) {
	if len(moments) > most {
		clear(moments)
	}
	moments[object] = append(moments[object], m)
	moments[object] = moments[object][max(0, len(moments[object])-mostMoments):]
}

// wrote notes who has written a version. That version may have been seen already.
func (o *observer) wrote(version string, id int) {
	if o.writers[version] == 0 {
		o.writers[version] = id
		o.prune(o.writers)
	}
	seen, answered := o.versions[version], o.recorder.Get(id).Until
	o.recorder.Cause(id, seen)
	o.recorder.Update(seen, func(item *Item) { // it was stored before it was seen
		item.At = min(item.At, answered)
		item.Until = item.At
	})
	object, _, _ := strings.Cut(version, "\x00")
	o.unclaimed[object] = slices.DeleteFunc(o.unclaimed[object], func(m moment) bool { return m.id == seen })
}

// aside are the kinds that lens follows only to learn their owners.
var aside = map[string]bool{"replicasets": true, "pods": true}

// stored is called with each version of an object that the API server has.
func (o *observer) stored(resource string, object *unstructured.Unstructured, deleted bool) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	of := name(resource, object.GetNamespace(), object.GetName())
	if owner := metav1.GetControllerOf(object); owner != nil {
		o.owners[of] = name(plural(owner.Kind), object.GetNamespace(), owner.Name)
	}
	v := version(of, object.GetResourceVersion())
	if o.versions[v] != 0 || aside[resource] {
		return
	}
	now := milliseconds(time.Now())
	by := o.writers[v]
	if by != 0 { // we may be late
		now = min(now, o.recorder.Get(by).Until)
	}
	item := Item{
		Lane: Objects, At: now, Until: now, Object: of, Version: object.GetResourceVersion(), Label: of, Detail: asText(object),
		Explain: fmt.Sprintf("The API server has stored a new version of %s.", of), Fields: fieldsOf(object),
	}
	if deleted {
		item.Label, item.Explain = of+" is deleted", fmt.Sprintf("The API server has deleted %s.", of)
	}
	id := o.recorder.Add(item)
	if key := object.GetNamespace() + "/" + object.GetName(); deleted && resource == o.resource {
		o.gone[key] = id
		o.prune(o.gone)
	}
	o.versions[v] = id
	o.newest[of] = v
	if deleted {
		delete(o.newest, of)
	}
	o.prune(o.versions)
	switch by := cmp.Or(by, o.claimed(of, now)); by {
	case 0:
		if writes := o.writes[of]; deleted && object.GetDeletionTimestamp() != nil && len(writes) > 0 {
			o.recorder.Cause(writes[len(writes)-1].id, id) // the one that removed the last finalizer
			break
		}
		keep(o.unclaimed, of, moment{id, now, now})
	default:
		o.recorder.Cause(by, id)
	}
	for _, event := range o.waiting[v] {
		o.recorder.Cause(id, event)
	}
	delete(o.waiting, v)
	for _, p := range o.programs {
		if p.kinds[resource] && (p.namespace == "" || p.namespace == object.GetNamespace()) && !p.has[v] && p.behind[of] == 0 {
			p.behind[of] = o.recorder.Add(Item{
				Lane: Cache, Program: p.name, At: now, Object: of, Version: object.GetResourceVersion(), Label: of, Causes: []int{id},
				Explain: fmt.Sprintf("%s doesn't know the newest version of %s yet.", p.name, of),
			})
		}
	}
}

// received is called when the API server has sent an event, and again when the program has it.
func (o *observer) received(of string, e faultproxy.WatchEvent) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	p := o.of(of)
	p.kinds[e.Watch.Resource] = true
	object := name(e.Watch.Resource, e.Object.Namespace, e.Object.Name)
	v := version(object, e.Object.ResourceVersion)
	at := e.Received
	if e.Type == "BOOKMARK" {
		return
	}
	if e.Type == "ERROR" {
		if !e.Delivered.IsZero() {
			o.recorder.Add(Item{
				Lane: Events, Program: of, At: milliseconds(at), Until: milliseconds(e.Delivered), Object: e.Watch.Resource, Label: "ERROR " + e.Watch.Resource, Failed: true,
				Explain: fmt.Sprintf("The API server ends %s's watch of %s with an error. If it is 410 Gone, the history after the last known version is lost, so %[1]s has to list again.", of, e.Watch.Resource),
			})
		}
		return
	}
	id := p.events[v]
	if again := e.Delivered.IsZero() && p.has[v]; id == 0 || again { // a new watch may repeat a version
		id = o.recorder.Add(Item{
			Lane: Events, Program: of, At: milliseconds(at), Object: object, Version: e.Object.ResourceVersion,
			Label:   e.Type + " " + object,
			Explain: fmt.Sprintf("The API server sends %s the event %s for %s.", of, e.Type, object),
		})
		p.events[v] = id
		o.prune(p.events)
		if stored := o.versions[v]; stored != 0 {
			o.recorder.Cause(stored, id)
		} else {
			o.waiting[v] = append(o.waiting[v], id)
			if len(o.waiting) > most { // our own informer doesn't see them
				clear(o.waiting)
			}
		}
	}
	if e.Delivered.IsZero() {
		return
	}
	o.recorder.Update(id, func(item *Item) { item.Until = milliseconds(e.Delivered) })
	if len(p.has) > 2*most {
		clear(p.has)
	}
	p.has[v] = true
	o.caughtUp(p, object, milliseconds(e.Delivered))
	if key := o.keyOf(object); key != "" {
		p.news[key] = append(p.news[key], id)
		p.news[key] = p.news[key][max(0, len(p.news[key])-mostNews):]
	}
}

// requested is called with each request of a program.
func (o *observer) requested(of string, r audit.Request) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if r.Resource == "" {
		return // discovery
	}
	p := o.of(of)
	object := name(r.Resource, r.Namespace, r.Name)
	id := o.recorder.Add(Item{
		Lane: Requests, Program: of, At: milliseconds(r.Received), Until: milliseconds(r.Answered), Label: fmt.Sprintf("%s %s %d", r.Verb, object, r.Code),
		Object: withoutSubresource(object), Version: r.ResourceVersion, Failed: r.Code >= 400, Detail: strings.TrimSpace(r.String() + "\n" + audit.Readable(r.Body)),
		Explain: fmt.Sprintf("%s sent this request, and the API server answered %d.", of, r.Code),
	})
	if r.IsWrite() {
		o.admitted(withoutSubresource(object), moment{id, milliseconds(r.Received), milliseconds(r.Answered)})
	}
	switch {
	case r.IsWrite() && r.Verb != "delete" && r.ResourceVersion != "":
		o.wrote(version(withoutSubresource(object), r.ResourceVersion), id)
	case r.Verb == "delete" && r.Code < 300:
		o.claim(object, moment{id, milliseconds(r.Received), milliseconds(r.Answered)})
	case r.Verb == "list" && r.Code < 300:
		o.listed(p, r, id)
	}
	if r.Verb == "watch" || r.Resource == "leases" {
		return
	}
	if work := o.workOf(p, r); work != 0 {
		p.sentFor[work] = true
		o.recorder.Cause(work, id)
	} else {
		p.requests = append(p.requests, sent{r, id})
	}
}

// listed is called when a program has listed a resource: its cache has all that was there before.
func (o *observer) listed(p *observed, r audit.Request, id int) {
	p.kinds[r.Resource] = true
	for object, v := range o.newest {
		resource, key, _ := strings.Cut(object, " ")
		namespace, _, _ := strings.Cut(key, "/")
		stored := o.recorder.Get(o.versions[v])
		if resource != r.Resource || p.namespace != "" && namespace != p.namespace || stored.ID == 0 || stored.At > milliseconds(r.Received) {
			continue
		}
		if event := p.events[v]; event != 0 && !p.has[v] {
			o.recorder.Update(event, func(item *Item) {
				item.Until = milliseconds(r.Answered)
				item.Explain += " Before it arrived, the program listed all objects again."
			})
		}
		p.has[v] = true
		if p.events[v] == 0 {
			p.events[v] = id
			o.recorder.Cause(stored.ID, id)
			if key := o.keyOf(object); key != "" {
				p.news[key] = append(p.news[key], id)
			}
		}
		o.caughtUp(p, object, milliseconds(r.Answered))
	}
}

// caughtUp ends the item that says that a program's cache is behind.
func (o *observer) caughtUp(p *observed, object string, at float64) {
	if behind := p.behind[object]; behind != 0 {
		o.recorder.Update(behind, func(item *Item) {
			item.Until = at
			item.Explain += fmt.Sprintf(" That lasted for %.0f ms.", item.Until-item.At)
		})
		delete(p.behind, object)
	}
}

// otherRequested is called with each request of another client.
func (o *observer) otherRequested(r audit.Request) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	object, at, until := name(r.Resource, r.Namespace, r.Name), milliseconds(r.Received), milliseconds(r.Answered)
	id := o.recorder.Add(Item{
		Lane: Others, At: at, Until: until, Label: fmt.Sprintf("%s: %s %s %d", r.Client(), r.Verb, object, r.Code),
		Object: withoutSubresource(object), Failed: r.Code >= 400, Detail: r.String() + "\n" + r.UserAgent,
		Explain: fmt.Sprintf("%s, which is another client, sent this request, and the API server answered %d.", r.Client(), r.Code),
	})
	if !r.IsWrite() || r.Code >= 300 {
		return
	}
	o.claim(withoutSubresource(object), moment{id, at, until})
	if r.Verb == "delete" && strings.HasSuffix(r.Client(), "garbage-collector") { // because its owner is gone
		o.recorder.Cause(o.gone[o.keyOf(object)], id)
	}
}

func withoutSubresource(object string) string {
	resource, rest, _ := strings.Cut(object, " ")
	resource, _, _ = strings.Cut(resource, "/")
	return strings.TrimSpace(resource + " " + rest)
}

// logged is called with each line of a program's log.
func (o *observer) logged(of, line string) {
	e, ok := parseLine(line, time.Now())
	if !ok {
		return
	}
	o.mutex.Lock()
	defer o.mutex.Unlock()
	p, key, at := o.of(of), e.key(), milliseconds(e.at)
	switch e.message {
	case "Event received":
		object := name(plural(e.values["kind"]), "", e.values["object"])
		p.last = p.events[version(object, e.values["resourceVersion"])]
		p.handled[o.keyOf(object)] = p.last
	case "Key queued":
		p.queues = true
		o.queued(p, key, at)
	case "Work started", "Reconciling":
		p.retries = e.message == "Reconciling" // controller-runtime does
		o.started(p, key, e.at)
	case "received request":
		o.called(p, e)
	case "wrote response":
		o.answered(p, e)
	case "Work finished", "Reconcile successful", "Reconcile done, requeueing", "Reconciler error":
		p.pausesAfter(key, e.message, p.working[key], at)
		o.finished(p, key, e.at, cmp.Or(e.values["err"], e.values["error"]))
	default:
		switch {
		case strings.HasPrefix(e.message, "Reconcile done, requeueing after "):
			p.pausesAfter(key, e.message, p.working[key], at)
			o.finished(p, key, e.at, "")
		case strings.HasPrefix(strings.ToLower(e.message), "starting"):
			o.restarted(p, at)
		}
	}
}

func (o *observer) queued(p *observed, key string, at float64) {
	id := p.queued[key]
	if id == 0 {
		id = o.recorder.Add(Item{Lane: Queue, Program: p.name, At: at, Object: key, Label: key, Explain: fmt.Sprintf("The key %s waits for a worker.", key)})
		p.queued[key] = id
	} else {
		o.recorder.Update(id, func(item *Item) {
			item.Explain += " Meanwhile it was queued again, but the queue still holds it only once."
		})
	}
	o.recorder.Cause(p.last, id)
}

// The backoff of the programs in chapters 03 and 04, which are those that log their queue. Each
// failure doubles it.
const (
	shortestBackoff = 5 * time.Millisecond
	longestBackoff  = time.Minute
)

// failed shows that a key waits for its next try. Only a program with a queue has one.
func (o *observer) failed(p *observed, key string, work int, at float64) {
	p.failures[key]++
	if !p.queues {
		return
	}
	backoff := min(shortestBackoff<<min(p.failures[key]-1, 20), longestBackoff)
	due := at + float64(backoff.Microseconds())/1000
	id := o.recorder.Add(Item{
		Lane: Queue, Program: p.name, At: at, Until: due, Object: key, Label: fmt.Sprintf("%s, failure %d", key, p.failures[key]), Failed: true, Causes: []int{work},
		Explain: fmt.Sprintf("The work on %s has failed (failure %d in a row). Its key waits for %v before it is queued again.", key, p.failures[key], backoff),
	})
	keep(p.waiting, key, moment{id, at, due})
}

// retried returns the items of the backoffs that are over. Each has queued the key again, which is
// in the queue only once.
func (p *observed) retried(key string, at float64) (ids []int) {
	p.waiting[key] = slices.DeleteFunc(p.waiting[key], func(wait moment) bool {
		over := at >= wait.last-1
		if over {
			ids = append(ids, wait.id)
		}
		return over
	})
	return ids
}

func (o *observer) started(p *observed, key string, began time.Time) {
	at := milliseconds(began)
	var causes []int
	if p.retries {
		causes = o.inferQueue(p, key, at)
	}
	id := o.recorder.Add(Item{Lane: Work, Program: p.name, At: at, Object: key, Label: key, Explain: fmt.Sprintf("%s compares the actual state of %s with its desired state.", p.name, key)})
	causes = append(causes, p.retried(key, at)...)
	queued, handled := p.queued[key], p.handled[key]
	switch {
	case queued != 0:
		o.recorder.Update(queued, func(item *Item) { item.Until = at })
		causes = append(causes, queued)
	case len(causes) > 0:
	case handled != 0: // the handler itself works
		causes = []int{handled}
		delete(p.handled, key)
	default:
		causes = p.news[key]
	}
	for _, cause := range causes {
		o.recorder.Cause(cause, id)
	}
	delete(p.queued, key)
	delete(p.news, key)
	p.working[key], p.began[key] = id, began
}

// workOf returns the only work in progress that may have sent a request, or 0.
func (o *observer) workOf(p *observed, r audit.Request) (found int) {
	for key, id := range p.working {
		if r.Received.Before(p.began[key]) || o.keyOfRequest(r, key) != key {
			continue
		}
		if found != 0 {
			return 0
		}
		found = id
	}
	return found
}

// restarted is called when a program starts. What it was doing before has ended.
func (o *observer) restarted(p *observed, at float64) {
	for _, doing := range []map[string]int{p.working, p.queued} {
		for _, id := range doing {
			o.recorder.Update(id, func(item *Item) {
				item.Until = at
				item.Explain += " The program exited before this was finished."
			})
		}
		clear(doing)
	}
	clear(p.failures)
	clear(p.waiting)
	clear(p.pauses)
	clear(p.has)
	clear(p.events)
	clear(p.news)
	clear(p.handled)
}

func (o *observer) finished(p *observed, key string, ended time.Time, failure string) {
	id, began := p.working[key], p.began[key]
	if id == 0 {
		return
	}
	delete(p.working, key)
	hasFailed := failure != "" && failure != "null" // which is how klog writes nil
	if hasFailed {
		o.failed(p, key, id, milliseconds(ended))
	} else {
		delete(p.failures, key)
	}
	var others []sent
	for _, request := range p.requests {
		switch {
		case request.Received.Before(began.Add(-time.Millisecond)) || request.Received.After(ended.Add(time.Millisecond)) || o.keyOfRequest(request.Request, key) != key:
			if time.Since(request.Answered) < time.Minute {
				others = append(others, request)
			}
		default:
			p.sentFor[id] = true
			o.recorder.Cause(id, request.id)
		}
	}
	p.requests = others
	o.recorder.Update(id, func(item *Item) {
		item.Until = milliseconds(ended)
		switch {
		case hasFailed && (p.queues || p.retries):
			item.Explain += " It failed, so it will be retried."
		case hasFailed:
			item.Explain += " It failed, and nothing retries it before the next event."
		case !p.sentFor[id]:
			item.Explain += " It sent no request, because there was nothing to do."
		}
		if hasFailed {
			item.Failed, item.Detail = true, failure
		}
	})
	delete(p.sentFor, id)
}

// keyOfRequest returns the key that a request was sent for: its object's, or its owner's. If it says
// neither, it is taken for the one that is asked about.
func (o *observer) keyOfRequest(r audit.Request, asked string) string {
	resource, _, _ := strings.Cut(r.Resource, "/")
	if key := o.keyOf(name(resource, r.Namespace, r.Name)); key != "" {
		return key
	}
	var body struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
	}
	if json.Unmarshal([]byte(r.Body), &body) == nil {
		if owner := metav1.GetControllerOf(&body.Metadata); owner != nil {
			return r.Namespace + "/" + owner.Name
		}
	}
	return asked
}

func plural(kind string) string { return strings.ToLower(kind) + "s" }

// asText is an object as JSON without managedFields.
func asText(object *unstructured.Unstructured) string {
	object = object.DeepCopy()
	object.SetManagedFields(nil)
	content, err := json.MarshalIndent(object.Object, "", "  ")
	if err != nil {
		return err.Error()
	}
	return string(content)
}
