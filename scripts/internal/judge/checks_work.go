package judge

// Does the operator do its work?

import (
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/faultproxy"
)

func workChecks() []Check {
	return []Check{
		{
			Name:    "converge",
			Promise: "each sample becomes ready, and then the operator stops writing",
			Why:     "All other checks build on this. If an operator never stops writing, each of its writes is work for the API server, etcd and everyone who watches.",
			Lesson:  "01-raw-watch/README.md",
			judge:   converges,
		},
		{
			Name:     "mutations",
			Promise:  "each change to a sample reaches the objects that it owns",
			Why:      "The spec is how users tell the operator what to do. If a change to it has no effect, they can't tell a slow operator from a broken one.",
			Lesson:   "01-raw-watch/README.md",
			requires: hasMutations,
			judge:    mutationsReach,
		},
		{
			Name:    "drift",
			Promise: "a manual change to a field that the operator has set is reverted",
			Why:     "An operator should compare the actual state with the desired state, no matter who changed it. If it only reacts to changes of the sample's spec, a manual change (drift) stays until somebody changes the spec, which may be never.",
			Lesson:  "02-informers/README.md",
			judge:   driftIsReverted,
		},
		{
			Name:    "recreate",
			Promise: "an owned object is created again after somebody deletes it",
			Why:     "Deletion is the most extreme drift. An operator that doesn't watch the objects that it creates never notices.",
			Lesson:  "02-informers/README.md",
			judge:   deletedComesBack,
		},
		{
			Name:    "start-without-crd",
			Promise: "an operator that starts before its CRD exists waits for it, or exits and works after a restart",
			Why:     "Helm, GitOps tools and people apply things in any order. Nobody should have to restart the operator by hand.",
			Lesson:  "01-raw-watch/README.md",
			judge: func(b *Bench) {
				startsLater(b, "the API group is missing", func(p *faultproxy.Proxy) *faultproxy.Fault { return p.Hide(b.samples[0].GroupVersionKind().Group) })
			},
		},
		{
			Name:    "start-without-permissions",
			Promise: "an operator that starts before it has its permissions waits for them, or exits and works after a restart",
			Why:     "If a Role is applied a second too late, nobody should have to step in. While the operator waits, it must not flood the API server with requests.",
			Lesson:  "02-informers/README.md",
			judge: func(b *Bench) {
				startsLater(b, "all permissions are missing", func(p *faultproxy.Proxy) *faultproxy.Fault { return p.Forbid() })
			},
		},
	}
}

// startsLater starts the operator while something is missing that it needs.
func startsLater(b *Bench, missing string, hide func(*faultproxy.Proxy) *faultproxy.Fault) {
	var fault *faultproxy.Fault
	r := b.startBehind(func(p *faultproxy.Proxy) { fault = hide(p) })
	sample := b.create(b.sample("early"))
	lasts := b.config.Limits.Quiet.Duration / 2
	b.step("%s for %v", missing, lasts)
	err := b.within(b.config.Limits.Converge.Duration, func() error {
		if fault.Hits() == 0 {
			return fmt.Errorf("the operator doesn't notice that %s: it has sent %d requests", missing, len(r.proxy.Requests()))
		}
		return nil
	})
	if err != nil {
		b.unable("%v", err)
	}
	began := time.Now()
	b.pass(lasts)
	if requests := b.since(began, func(audit.Request) bool { return true }); float64(len(requests)) > loop*lasts.Seconds() {
		b.find(Error, seen(requests), "while %s, the operator sends more than %d requests a second", missing, loop)
	}
	b.step("now nothing is missing")
	fault.Stop()
	began = time.Now()
	if err := b.within(b.config.Limits.Recover.Duration, func() error { return b.isReady(sample) }); err != nil {
		b.find(Error, b.evidence(began, sample), "%s at first, and when that is fixed, the operator doesn't do its work within %v: %s", missing, b.config.Limits.Recover.Duration, b.plain(err))
		return
	}
	b.measure("restarts", float64(len(b.crashes())), "")
	b.measure("time until it works", time.Since(began).Seconds(), "s")
}

func hasMutations(j *Judge) string {
	if len(j.mutations) == 0 {
		return "judge.yaml has no mutations"
	}
	return ""
}

func converges(b *Bench) {
	b.start()
	for i, sample := range b.samples {
		began := time.Now()
		created := b.create(b.renamed(sample, sample.GetName()))
		if err := b.becomes(created); err != nil {
			b.find(Error, b.evidence(began, created), "%s doesn't converge: %s", title(sample), b.plain(err))
			continue
		}
		if i == 0 {
			b.measure("time until the first sample is ready", time.Since(began).Seconds()-settled.Seconds(), "s")
		}
	}
	b.foundCrashes()
}

// evidence is what the operator has sent since then, and the object as it is. If a finding can't
// show all of the requests, those about this object take precedence.
func (b *Bench) evidence(since time.Time, object *unstructured.Unstructured) (evidence []Evidence) {
	requests := b.writes(since)
	if len(requests) == 0 {
		requests = b.requests()
	}
	slices.SortStableFunc(requests, func(x, y audit.Request) int { return b.distance(x, object) - b.distance(y, object) })
	slices.SortStableFunc(requests[:min(len(requests), mostSeen)], inOrder)
	evidence = seen(requests)
	if now := b.now(object); now != nil {
		evidence = append(evidence, Evidence{At: time.Now(), Text: title(now) + " now", Detail: text(now)})
	}
	return append(evidence, b.crashes()...)
}

// distance is 0 for a request about the object, and 1 for others.
func (b *Bench) distance(r audit.Request, object *unstructured.Unstructured) int {
	resource := b.mapping(object).Resource
	if r.Name == object.GetName() && r.Group == resource.Group && withoutSubresource(r.Resource) == resource.Resource {
		return 0
	}
	return 1
}

func (b *Bench) crashes() (crashes []Evidence) {
	for _, r := range b.replicas {
		crashes = append(crashes, r.exits()...)
	}
	return crashes
}

// foundCrashes is a finding if the operator has exited by itself.
func (b *Bench) foundCrashes() {
	if crashes := b.crashes(); len(crashes) > 0 {
		b.find(Error, crashes, "the operator exits unexpectedly")
	}
}

func mutationsReach(b *Bench) {
	for i, m := range b.mutations {
		var sample *unstructured.Unstructured
		if i == 0 {
			sample = b.settles(fmt.Sprintf("mutated-%d", i))[0]
		} else {
			sample = b.create(b.sample(fmt.Sprintf("mutated-%d", i)))
			b.awaits(sample)
		}
		began := time.Now()
		sample = b.patch(sample, string(m.Patch))
		if err := b.within(b.config.Limits.Converge.Duration, func() error { return b.hasEffect(sample, m) }); err != nil {
			b.find(Error, b.evidence(began, sample), "the mutation %q doesn't have the expected effect: %s", m.Name, b.plain(err))
			continue
		}
		if err := b.becomes(sample); err != nil {
			b.find(Error, b.evidence(began, sample), "after the mutation %q, the sample doesn't converge: %s", m.Name, b.plain(err))
		}
	}
}

// hasEffect returns nil if the objects that the sample owns are as the mutation's expectations say.
func (b *Bench) hasEffect(sample *unstructured.Unstructured, m mutation) error {
	now := b.now(sample)
	if now == nil {
		return fmt.Errorf("%s is gone", title(sample))
	}
	for _, e := range m.expect {
		owned := slices.DeleteFunc(b.owned(now), func(object *unstructured.Unstructured) bool { return object.GetKind() != e.kind })
		if e.expression != nil {
			err := fmt.Errorf("there is no %s", e.kind)
			for _, object := range owned {
				if err = e.holds(object, now); err == nil {
					break
				}
			}
			if err != nil {
				return err
			}
		}
		if e.count != nil && len(owned) != *e.count {
			return fmt.Errorf("the number of objects of kind %s is %d, not %d", e.kind, len(owned), *e.count)
		}
	}
	return nil
}

func driftIsReverted(b *Bench) {
	sample := b.settles("drifted")[0]
	tried := 0
	for _, object := range b.owned(sample) {
		for _, leaf := range b.drifts(object) {
			tried++
			began := time.Now()
			b.step("change %s of %s by hand, from %v to %v", leaf.path, title(object), leaf.was, leaf.becomes)
			drifted, err := b.tryPatch(object, leaf.patchType, leaf.patch)
			if err != nil {
				b.step("%v", err) // the operator has just deleted or changed it
				tried--
				continue
			}
			err = b.within(b.config.Limits.Converge.Duration, func() error {
				now := b.nowOrReplaced(sample, drifted)
				if now == nil {
					return errors.New("it is gone")
				}
				if value := leaf.valueIn(now); fmt.Sprint(value) != fmt.Sprint(leaf.was) {
					return fmt.Errorf("%s is %v", leaf.path, value)
				}
				return nil
			})
			if err != nil {
				b.find(Error, append([]Evidence{{At: began, Text: fmt.Sprintf("the judge changes %s of %s from %v to %v", leaf.path, title(object), leaf.was, leaf.becomes), Detail: string(leaf.patch)}},
					b.evidence(began, drifted)...), "a manual change to %s of a %s isn't reverted, although the operator set that field", leaf.path, object.GetKind())
			}
			b.awaits(sample)
		}
	}
	if tried == 0 {
		b.skip("the owned objects have no field that the judge could change by hand: it would have to be a scalar, set by the operator according to managedFields, and not immutable")
	}
}

func deletedComesBack(b *Bench) {
	sample := b.settles("deleted")[0]
	for _, object := range b.owned(sample) {
		began := time.Now()
		b.remove(object, metav1.DeletePropagationBackground)
		err := b.within(b.config.Limits.Converge.Duration, func() error {
			for _, other := range b.owned(sample) {
				if other.GetKind() == object.GetKind() && other.GetUID() != object.GetUID() && other.GetDeletionTimestamp() == nil {
					return nil
				}
			}
			return errors.New("it doesn't come back")
		})
		if err != nil {
			b.find(Error, b.evidence(began, sample), "a deleted %s doesn't come back", object.GetKind())
			return
		}
	}
	b.awaits(sample)
}
