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
			Why: "All other checks build on this. If an operator never stops writing, each of its writes is work " +
				"for the API server, etcd and everyone who watches.",
			Lesson: "01-raw-watch/README.md",
			judge:  converges,
		},
		{
			Name:    "mutations",
			Promise: "each change to a sample reaches the objects that it owns",
			Why: "The spec is how users tell the operator what to do. If a change to it has no effect, they can't " +
				"tell a slow operator from a broken one.",
			Lesson:   "01-raw-watch/README.md",
			requires: hasMutations,
			judge:    mutationsReach,
		},
		{
			Name:    "drift",
			Promise: "a manual change to a field that the operator has set is reverted",
			Why: "An operator should compare the actual state with the desired state, no matter who changed it. If " +
				"it only reacts to changes of the sample's spec, a manual change (drift) stays until somebody changes the " +
				"spec, which may be never.",
			Lesson: "02-informers/README.md",
			judge:  driftIsReverted,
		},
		{
			Name:    "recreate",
			Promise: "an owned object is created again after somebody deletes it",
			Why: "Deletion is the most extreme drift. An operator that doesn't watch the objects that it creates " +
				"never notices.",
			Lesson: "02-informers/README.md",
			judge:  deletedComesBack,
		},
		{
			Name:    "start-without-crd",
			Promise: "an operator that starts before its CRD exists waits for it, or exits and works after a restart",
			Why: "Helm, GitOps tools and people apply things in any order. Nobody should have to restart the " +
				"operator by hand.",
			Lesson: "01-raw-watch/README.md",
			judge: func(s *scenario) {
				startsLater(s, "the API group is missing", func(p *faultproxy.Proxy) *faultproxy.Fault { return p.Hide(s.samples[0].GroupVersionKind().Group) })
			},
		},
		{
			Name:    "start-without-permissions",
			Promise: "an operator that starts before it has its permissions waits for them, or exits and works after a restart",
			Why: "If a Role is applied a second too late, nobody should have to step in. While the operator waits, " +
				"it must not flood the API server with requests.",
			Lesson: "02-informers/README.md",
			judge: func(s *scenario) {
				startsLater(s, "all permissions are missing", func(p *faultproxy.Proxy) *faultproxy.Fault { return p.Forbid() })
			},
		},
	}
}

// startsLater starts the operator while something is missing that it needs.
func startsLater(s *scenario, missing string, hide func(*faultproxy.Proxy) *faultproxy.Fault) {
	var fault *faultproxy.Fault
	r := s.startBehind(func(p *faultproxy.Proxy) { fault = hide(p) })
	sample := s.create(s.sample("early"))
	lasts := s.config.Limits.Quiet.Duration / 2
	s.step("%s for %v", missing, lasts)
	err := s.within(s.config.Limits.Converge.Duration, func() error {
		if fault.Hits() == 0 {
			return fmt.Errorf("the operator doesn't notice that %s: it has sent %d requests", missing, len(r.Proxy.Requests()))
		}
		return nil
	})
	if err != nil {
		s.unable("%v", err)
	}
	began := time.Now()
	s.pass(lasts)
	if requests := s.since(began, func(audit.Request) bool { return true }); float64(len(requests)) > loop*lasts.Seconds() {
		s.find(Error, seen(requests), "while %s, the operator sends more than %d requests a second", missing, loop)
	}
	s.step("now nothing is missing")
	fault.Stop()
	began = time.Now()
	if err := s.within(s.config.Limits.Recover.Duration, func() error { return s.isReady(sample) }); err != nil {
		s.find(Error, s.evidence(began, sample), "%s at first, and when that is fixed, the operator doesn't do its "+
			"work within %v: %s", missing, s.config.Limits.Recover.Duration, s.plain(err))
		return
	}
	s.measure("restarts", float64(len(s.crashes())), "")
	s.measure("time until it works", time.Since(began).Seconds(), "s")
}

func hasMutations(config *Config) string {
	if len(config.Mutations) == 0 {
		return "judge.yaml has no mutations"
	}
	return ""
}

func converges(s *scenario) {
	s.start()
	for i, sample := range s.samples {
		began := time.Now()
		created := s.create(s.renamed(sample, sample.GetName()))
		if err := s.becomes(created); err != nil {
			s.find(Error, s.evidence(began, created), "%s doesn't converge: %s", title(sample), s.plain(err))
			continue
		}
		if i == 0 {
			s.measure("time until the first sample is ready", time.Since(began).Seconds()-settled.Seconds(), "s")
		}
	}
	s.foundCrashes()
}

// evidence is what the operator has sent since then, and the object as it is. If a finding can't
// show all of the requests, those about this object take precedence.
func (s *scenario) evidence(since time.Time, object *unstructured.Unstructured) (evidence []Evidence) {
	requests := s.writes(since)
	if len(requests) == 0 {
		requests = s.requests()
	}
	slices.SortStableFunc(requests, func(x, y audit.Request) int { return s.distance(x, object) - s.distance(y, object) })
	slices.SortStableFunc(requests[:min(len(requests), mostSeen)], inOrder)
	evidence = seen(requests)
	if now := s.now(object); now != nil {
		evidence = append(evidence, Evidence{At: time.Now(), Text: title(now) + " now", Detail: text(now)})
	}
	return append(evidence, s.crashes()...)
}

// distance is 0 for a request about the object, and 1 for others.
func (s *scenario) distance(r audit.Request, object *unstructured.Unstructured) int {
	resource := s.mapping(object).Resource
	if r.Name == object.GetName() && r.Group == resource.Group && withoutSubresource(r.Resource) == resource.Resource {
		return 0
	}
	return 1
}

func (s *scenario) crashes() (crashes []Evidence) {
	for _, r := range s.replicas {
		crashes = append(crashes, r.exits()...)
	}
	return crashes
}

// foundCrashes is a finding if the operator has exited by itself.
func (s *scenario) foundCrashes() {
	if crashes := s.crashes(); len(crashes) > 0 {
		s.find(Error, crashes, "the operator exits unexpectedly")
	}
}

func mutationsReach(s *scenario) {
	for i, m := range s.mutations {
		var sample *unstructured.Unstructured
		if i == 0 {
			sample = s.settles(fmt.Sprintf("mutated-%d", i))[0]
		} else {
			sample = s.create(s.sample(fmt.Sprintf("mutated-%d", i)))
			s.awaits(sample)
		}
		began := time.Now()
		sample = s.patch(sample, string(m.Patch))
		if err := s.within(s.config.Limits.Converge.Duration, func() error { return s.hasEffect(sample, m) }); err != nil {
			s.find(Error, s.evidence(began, sample), "the mutation %q doesn't have the expected effect: %s", m.Name, s.plain(err))
			continue
		}
		if err := s.becomes(sample); err != nil {
			s.find(Error, s.evidence(began, sample), "after the mutation %q, the sample doesn't converge: %s", m.Name, s.plain(err))
		}
	}
}

// hasEffect returns nil if the objects that the sample owns are as the mutation's expectations say.
func (s *scenario) hasEffect(sample *unstructured.Unstructured, m mutation) error {
	now := s.now(sample)
	if now == nil {
		return fmt.Errorf("%s is gone", title(sample))
	}
	for _, e := range m.expect {
		owned := slices.DeleteFunc(s.owned(now), func(object *unstructured.Unstructured) bool { return object.GetKind() != e.kind })
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

func driftIsReverted(s *scenario) {
	sample := s.settles("drifted")[0]
	tried := 0
	for _, object := range s.owned(sample) {
		for _, leaf := range s.drifts(object) {
			tried++
			began := time.Now()
			s.step("change %s of %s by hand, from %v to %v", leaf.path, title(object), leaf.was, leaf.becomes)
			drifted, err := s.tryPatch(object, leaf.patchType, leaf.patch)
			if err != nil {
				s.step("%v", err) // the operator has just deleted or changed it
				tried--
				continue
			}
			err = s.within(s.config.Limits.Converge.Duration, func() error {
				now := s.nowOrReplaced(sample, drifted)
				if now == nil {
					return errors.New("it is gone")
				}
				if value := leaf.valueIn(now); fmt.Sprint(value) != fmt.Sprint(leaf.was) {
					return fmt.Errorf("%s is %v", leaf.path, value)
				}
				return nil
			})
			if err != nil {
				s.find(Error, append([]Evidence{{At: began, Text: fmt.Sprintf("the judge changes %s of %s from %v to %v", leaf.path, title(object), leaf.was, leaf.becomes), Detail: string(leaf.patch)}},
					s.evidence(began, drifted)...), "a manual change to %s of a %s isn't reverted, although the operator set "+
					"that field", leaf.path, object.GetKind())
			}
			s.awaits(sample)
		}
	}
	if tried == 0 {
		s.skip("the owned objects have no field that the judge could change by hand: it would have to be a scalar, " +
			"set by the operator according to managedFields, and not immutable")
	}
}

func deletedComesBack(s *scenario) {
	sample := s.settles("deleted")[0]
	for _, object := range s.owned(sample) {
		began := time.Now()
		s.remove(object, metav1.DeletePropagationBackground)
		err := s.within(s.config.Limits.Converge.Duration, func() error {
			for _, other := range s.owned(sample) {
				if other.GetKind() == object.GetKind() && other.GetUID() != object.GetUID() && other.GetDeletionTimestamp() == nil {
					return nil
				}
			}
			return errors.New("it doesn't come back")
		})
		if err != nil {
			s.find(Error, s.evidence(began, sample), "a deleted %s doesn't come back", object.GetKind())
			return
		}
	}
	s.awaits(sample)
}
