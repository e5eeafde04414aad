package judge

// Does the operator write only what it must?

import (
	"fmt"
	"time"

	"example.com/operators/scripts/internal/audit"
)

func writeChecks() []Check {
	return []Check{
		{
			Name:    "writes",
			Promise: "a new sample needs few writes, and none of them stores what is already stored",
			Why:     "A write that changes nothing isn't free. It goes through admission, webhooks and validation before the API server notices that there is nothing to store. Usually it means that the operator doesn't compare before it writes.",
			Lesson:  "05-controller-runtime/more/pitfalls.md",
			judge:   fewWrites,
		},
		{
			Name:    "quiet",
			Promise: "the operator writes nothing when nothing that concerns it has changed",
			Why:     "Every resync, every new list after a broken watch, and every change by somebody else calls Reconcile again. If each of those calls writes, a cluster with a thousand objects is never quiet.",
			Lesson:  "05-controller-runtime/more/pitfalls.md",
			judge:   staysQuiet,
		},
		{
			Name:    "restart",
			Promise: "after a restart, the operator writes nothing if nothing has changed",
			Why:     "After a restart, each object looks new to the operator. If it writes each of them again, upgrading the operator floods the API server.",
			Lesson:  "02-informers/README.md",
			judge:   restartsQuietly,
		},
	}
}

func fewWrites(b *Bench) {
	began := time.Now()
	sample := b.settles("written")[0]
	writes := b.writes(began)
	b.foundNoOps(writes, "while a sample becomes ready")
	perObject := map[string][]audit.Request{}
	for _, write := range writes {
		if write.Code < 300 {
			key := fmt.Sprintf("%s %s", withoutSubresource(write.Resource), write.Name)
			perObject[key] = append(perObject[key], write)
		}
	}
	b.measure("writes per sample", float64(len(writes)), "")
	for object, writes := range perObject {
		if most := b.config.Limits.WritesPerObject; len(writes) > most {
			b.find(Warning, seen(writes), "%s is written %d times until %s is ready; the limit is %d", object, len(writes), title(sample), most)
		}
	}
}

func staysQuiet(b *Bench) {
	sample := b.settles("quiet")[0]
	occasions := []struct {
		name string
		do   func()
	}{
		{"nothing happens", func() {}},
		{"the watches end and all objects are listed again", func() { b.replicas[0].proxy.GoneAsEvent() }},
		{"somebody annotates the sample", func() { b.patch(sample, `{"metadata":{"annotations":{"judge.example.com/unrelated":"yes"}}}`) }},
		{"somebody labels an owned object", func() {
			for _, object := range b.owned(sample) {
				b.patch(object, `{"metadata":{"labels":{"judge.example.com/unrelated":"yes"}}}`)
			}
		}},
	}
	for _, occasion := range occasions {
		b.step("%s; then the judge waits %v", occasion.name, b.config.Limits.Quiet.Duration/time.Duration(len(occasions)))
		began := time.Now()
		occasion.do()
		b.pass(b.config.Limits.Quiet.Duration / time.Duration(len(occasions)))
		if writes := b.writes(began); len(writes) > 0 {
			b.find(Error, seen(writes), "%s, and the operator writes", occasion.name)
		}
	}
	b.foundCrashes()
}

func restartsQuietly(b *Bench) {
	b.settles("restarted")
	b.step("stop the operator")
	b.replicas[0].Stop()
	began := time.Now()
	again := b.start()
	if err := b.within(b.config.Limits.Converge.Duration, func() error { return b.watches(again) }); err != nil {
		b.unable("after the restart, %v", err)
	}
	b.pass(max(settled, b.config.Limits.Quiet.Duration/4))
	if writes := b.writes(began); len(writes) > 0 {
		b.find(Error, seen(writes), "after a restart, the operator writes although nothing has changed")
	}
}

// watches returns nil if the replica watches the samples' kind.
func (b *Bench) watches(r *running) error {
	for _, request := range r.proxy.Requests() {
		if request.Verb == "watch" && request.Code < 300 && request.Resource == b.watched[0].Resource && request.Group == b.watched[0].Group {
			return nil
		}
	}
	return fmt.Errorf("the operator doesn't watch %s", b.watched[0].Resource)
}

// foundNoOps is a finding for the writes that the server has answered with the object as it was.
func (b *Bench) foundNoOps(writes []audit.Request, when string) {
	last := map[string]string{} // by object, its resourceVersion
	var same []audit.Request
	for _, write := range writes {
		if write.ResourceVersion == "" || write.Code >= 300 || write.Verb == "delete" {
			continue
		}
		object := fmt.Sprintf("%s.%s/%s", withoutSubresource(write.Resource), write.Group, write.Name)
		if last[object] == write.ResourceVersion {
			same = append(same, write)
		}
		last[object] = write.ResourceVersion
	}
	if len(same) > 0 {
		b.find(Warning, seen(same), "%s, the operator writes what is stored already", when)
	}
}
