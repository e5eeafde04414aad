package judge

// Does the operator survive what happens to every cluster?

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/faultproxy"
)

// accident is a fault that lasts for some time.
type accident struct {
	name, promise, why, lesson string
	begin                      func(b *Bench, p *faultproxy.Proxy) *faultproxy.Fault
	lasts                      time.Duration
	// then is another fault at the end of the first one. It may be nil.
	then func(b *Bench, p *faultproxy.Proxy) *faultproxy.Fault
}

// accidents are the faults F1 to F9, without those that need several replicas.
func accidents() []accident {
	failWrites := func(code int) func(*Bench, *faultproxy.Proxy) *faultproxy.Fault {
		return func(_ *Bench, p *faultproxy.Proxy) *faultproxy.Fault { return p.FailWrites(math.MaxInt, code) }
	}
	return []accident{
		{"F1", "watches that are cut again and again", "Load balancers, proxies and restarts of the API server cut watches every day. The operator must reconnect, and miss no change.", "02-informers/README.md",
			func(_ *Bench, p *faultproxy.Proxy) *faultproxy.Fault { return p.KeepCutting(1) }, 3 * time.Second, nil},
		{"F2", "watches that miss events and then get 410 Gone", "The API server forgets old versions after a few minutes. A client that was disconnected for longer must list again, and work out for itself what has been deleted.", "02-informers/README.md",
			func(_ *Bench, p *faultproxy.Proxy) *faultproxy.Fault { return p.Delay(longest) }, time.Second, gone},
		{"F3", "an API server that is down for a few seconds", "Upgrades restart the API server. If an operator exits or gives up then, somebody has to step in.", "02-informers/README.md",
			func(_ *Bench, p *faultproxy.Proxy) *faultproxy.Fault { return p.Down() }, 3 * time.Second, nil},
		{"F4a", "writes that fail with 500 (internal error)", "A failed write must be retried, because nobody else will do it.", "03-workqueue/README.md", failWrites(http.StatusInternalServerError), 3 * time.Second, nil},
		{"F4b", "writes that fail with 429 (too many requests)", "The API server is protecting itself from overload. The operator must wait and try again.", "03-workqueue/README.md", failWrites(http.StatusTooManyRequests), 3 * time.Second, nil},
		{"F4c", "writes that fail with 409 (conflict)", "A conflict means that the object has changed since the operator read it. The operator must read it again, and decide again.", "03-workqueue/README.md", failWrites(http.StatusConflict), 3 * time.Second, nil},
		{"F6a", "a connection that freezes", "A network that drops packets doesn't close the connection. Only a client that sends pings notices.", "02-informers/README.md",
			func(_ *Bench, p *faultproxy.Proxy) *faultproxy.Fault { return p.Freeze() }, 8 * time.Second, nil},
		{"F8", "a temporary loss of its permissions for owned objects", "Permissions change while operators run. Once they are back, the operator must retry what was refused.", "03-workqueue/README.md",
			func(b *Bench, p *faultproxy.Proxy) *faultproxy.Fault {
				return p.Forbid(faultproxy.Resource(b.resources(false)...))
			}, 3 * time.Second, nil},
		{"F9", "a cache that is seconds behind", "Under load, events arrive seconds late. An operator that trusts its cache creates objects twice, or reverts newer changes.", "03-workqueue/more/stale-reads.md",
			func(_ *Bench, p *faultproxy.Proxy) *faultproxy.Fault { return p.Delay(2 * time.Second) }, 5 * time.Second, nil},
	}
}

// gone sends 410 to the watches of the samples, and then to those of the owned objects. In this
// order, only an operator that handles the owned objects' deletions finds out about them: a new list
// of samples would make it look at each of them again.
func gone(b *Bench, p *faultproxy.Proxy) *faultproxy.Fault {
	began := time.Now()
	p.GoneAsEvent(faultproxy.Resource(b.resources(true)...))
	_ = b.within(b.config.Limits.Recover.Duration, func() error { return b.watchesAgain(began) }) // it may not need to
	b.pass(settled)
	return p.GoneAsEvent(faultproxy.Resource(b.resources(false)...))
}

// watchesAgain returns an error unless the operator has sent a new watch of samples after that time.
func (b *Bench) watchesAgain(when time.Time) error {
	for _, request := range b.requests() {
		if request.Verb == "watch" && request.Received.After(when) && slices.Contains(b.resources(true), request.Resource) {
			return nil
		}
	}
	return errors.New("the operator doesn't watch samples again")
}

// resources returns the resources of the samples, or those of the owned objects.
func (b *Bench) resources(ofSamples bool) (resources []string) {
	for _, resource := range b.watched {
		if b.first[resource] == ofSamples {
			resources = append(resources, resource.Resource)
		}
	}
	return resources
}

func faultChecks() (checks []Check) {
	for _, a := range accidents() {
		checks = append(checks, Check{
			Name:    a.name,
			Promise: "the operator survives " + a.promise,
			Why:     a.why,
			Lesson:  a.lesson,
			judge:   func(b *Bench) { survives(b, a) },
		})
	}
	return append(checks, Check{
		Name:    "F5",
		Promise: "the operator survives being killed between any two of its writes",
		Why:     "A Pod can be killed at any time. Its replacement must find out from the objects what is left to do, because the events won't be sent again.",
		Lesson:  "03-workqueue/README.md",
		judge:   survivesKills,
	})
}

// survives lets users and accidents change samples while the fault lasts, and then judges them.
func survives(b *Bench, a accident) {
	all := b.settles("mutated", "drifted", "lost")
	mutated, drifted, lost := all[0], all[1], all[2]
	usual := b.counts(lost)
	began := time.Now()
	b.step("%s begins: %s", a.name, a.promise)
	fault := a.begin(b, b.replicas[0].proxy)

	created := b.create(b.sample("created"))
	if len(b.mutations) > 0 {
		b.patch(mutated, string(b.mutations[0].Patch))
	}
	undone := b.driftOne(drifted)
	gone := b.owned(lost)
	for _, object := range gone {
		b.remove(object, metav1.DeletePropagationBackground)
	}
	b.pass(a.lasts / 5)
	b.patch(created, `{"metadata":{"annotations":{"judge.example.com/unrelated":"yes"}}}`) // it is reconciled again
	b.pass(a.lasts * 4 / 5)
	b.exhaust(fault, a.lasts)
	hits := fault.Hits()
	if a.then != nil {
		hits = a.then(b, b.replicas[0].proxy).Hits()
	}
	b.step("%s ends", a.name)
	fault.Stop()
	b.measure("hits", float64(hits), "")
	if hits == 0 {
		b.skip("the fault hit nothing, because the operator sends no such request")
	}

	limit := b.config.Limits.Recover.Duration
	late := time.Now().Add(limit)
	left := func() time.Duration { return max(time.Until(late), time.Second) }
	if err := b.within(left(), func() error { return b.isReady(created) }); err != nil {
		b.find(Error, b.evidence(began, created), "a sample that was created during the fault doesn't become ready within %v: %s", limit, b.plain(err))
	}
	if len(b.mutations) > 0 {
		if err := b.within(left(), func() error { return b.hasEffect(mutated, b.mutations[0]) }); err != nil {
			b.find(Error, b.evidence(began, mutated), "a mutation during the fault has no effect within %v: %s", limit, b.plain(err))
		}
	}
	if err := b.within(left(), undone); err != nil {
		b.find(Error, b.evidence(began, drifted), "a manual change during the fault isn't reverted within %v: %s", limit, b.plain(err))
	}
	if err := b.within(left(), func() error { return b.isReady(lost) }); err != nil {
		b.find(Error, b.evidence(began, lost), "an owned object that was deleted during the fault isn't back within %v: %s", limit, b.plain(err))
	}
	b.foundDuplicates(began, created, usual, "after "+a.promise)
	b.foundCrashes()
}

// exhaust lets the fault last until it has hit nothing for some time, but not longer than limit. An
// operator that lags behind could otherwise do after the fault what it should have done during it,
// and seem to have survived.
func (b *Bench) exhaust(fault *faultproxy.Fault, limit time.Duration) {
	end := time.Now().Add(limit)
	for hits := -1; hits != fault.Hits() && time.Now().Before(end); {
		hits = fault.Hits()
		b.pass(settled)
	}
}

// counts returns how many objects of each kind a sample owns.
func (b *Bench) counts(sample *unstructured.Unstructured) map[string]int {
	counts := map[string]int{}
	for _, object := range b.owned(sample) {
		counts[object.GetKind()]++
	}
	return counts
}

// foundDuplicates is a finding for each kind of which the sample owns more objects than usual.
func (b *Bench) foundDuplicates(began time.Time, sample *unstructured.Unstructured, usual map[string]int, when string) {
	for kind, count := range b.counts(sample) {
		if count > usual[kind] {
			b.find(Error, b.evidence(began, sample), "%s, a sample has too many objects of kind %s", when, kind)
		}
	}
}

// driftOne changes one field that the operator owns. The function that it returns returns nil when
// that is undone.
func (b *Bench) driftOne(sample *unstructured.Unstructured) (undone func() error) {
	for _, object := range b.owned(sample) {
		for _, leaf := range b.drifts(object) {
			b.step("change %s of %s by hand", leaf.path, title(object))
			if _, err := b.tryPatch(object, leaf.patchType, leaf.patch); err != nil {
				continue // the operator has just deleted or changed it
			}
			return func() error {
				for _, now := range b.owned(sample) {
					if now.GetKind() == object.GetKind() && now.GetName() == object.GetName() {
						if value := leaf.valueIn(now); fmt.Sprint(value) != fmt.Sprint(leaf.was) {
							return fmt.Errorf("%s of %s is %v", leaf.path, title(now), value)
						}
					}
				}
				return nil
			}
		}
	}
	return func() error { return nil }
}

// survivesKills kills the operator after its first write for a new sample, after its second one for
// the next sample, and so on, until a sample needs fewer writes.
func survivesKills(b *Bench) {
	usual := b.counts(b.settles("before")[0])
	const most = 6
	for k := 1; k <= most; k++ {
		r := b.replicas[0]
		name := fmt.Sprintf("killed-%d", k)
		fault := r.proxy.AfterWrite(k, func(audit.Request) { r.Kill() }, func(request audit.Request) bool { return changesObjects(request) })
		began := time.Now()
		sample := b.create(b.sample(name))
		if err := b.within(b.config.Limits.Recover.Duration, func() error { return b.isReady(sample) }); err != nil {
			b.find(Error, b.evidence(began, sample), "after a kill between two writes, a sample doesn't become ready: %s", b.plain(err))
			return
		}
		hits := fault.Hits()
		fault.Stop()
		if hits == 0 {
			b.measure("kills", float64(k-1), "")
			if k == 1 {
				b.unable("the operator wrote nothing for a new sample")
			}
			return
		}
		b.step("killed after write %d", k)
		b.foundDuplicates(began, sample, usual, "after a kill between two writes")
	}
	b.measure("kills", most, "")
}
