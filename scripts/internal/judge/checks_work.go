package judge

// Does the operator do its work?

import (
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

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
			run:    converges,
		},
		{
			Name:    "mutations",
			Promise: "each change to a sample reaches the objects that it owns",
			Why: "The spec is how users tell the operator what to do. If a change to it has no effect, they can't " +
				"tell a slow operator from a broken one.",
			Lesson: "01-raw-watch/README.md",
			needs:  "mutations",
			run:    mutationsReach,
		},
		{
			Name:    "drift",
			Promise: "a manual change to a field that the operator has set is reverted",
			Why: "An operator should compare the actual state with the desired state, no matter who changed it. If " +
				"it only reacts to changes of the sample's spec, a manual change (drift) stays until somebody changes the " +
				"spec, which may be never.",
			Lesson: "02-informers/README.md",
			run:    driftIsReverted,
		},
		{
			Name:    "recreate",
			Promise: "an owned object is created again after somebody deletes it",
			Why: "Deletion is the most extreme drift. An operator that doesn't watch the objects that it creates " +
				"never notices.",
			Lesson: "02-informers/README.md",
			run:    deletedComesBack,
		},
		{
			Name:    "start-without-crd",
			Promise: "an operator that starts before its CRD exists waits for it, or exits and works after a restart",
			Why: "Helm, GitOps tools and people apply things in any order. Nobody should have to restart the " +
				"operator by hand.",
			Lesson: "01-raw-watch/README.md",
			run: func(s *scenario) {
				group := s.samples[0].GroupVersionKind().Group
				startsLater(s, "the API group is missing", func(p *faultproxy.Proxy) *faultproxy.Fault { return p.Hide(group) })
			},
		},
		{
			Name:    "start-without-permissions",
			Promise: "an operator that starts before it has its permissions waits for them, or exits and works after a restart",
			Why: "If a Role is applied a second too late, nobody should have to step in. While the operator waits, " +
				"it must not flood the API server with requests.",
			Lesson: "02-informers/README.md",
			run: func(s *scenario) {
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
	lasts := s.config.Limits.Quiet / 2
	s.step("%s for %v", missing, lasts)
	s.needs(s.soon(func() error {
		if fault.Hits() == 0 {
			return fmt.Errorf("the operator doesn't notice that %s: it has sent %d requests", missing, len(r.Proxy.Requests()))
		}
		return nil
	}))
	began := time.Now()
	s.pass(lasts)
	if requests := s.since(began); float64(len(requests)) > loop*lasts.Seconds() {
		s.found(Error, asEvidence(requests), "while %s, the operator sends more than %d requests a second", missing, loop)
	}
	s.step("now nothing is missing")
	fault.Stop()
	began = time.Now()
	if s.recovers(began, sample, "%s at first, and when that is fixed, the operator doesn't do its work", missing) {
		s.measure("restarts: %d", len(s.crashes()))
		s.measure("time until it works: %.2f s", time.Since(began).Seconds())
	}
}

func converges(s *scenario) {
	s.start()
	for i, sample := range s.samples {
		began := time.Now()
		created := s.create(s.renamed(sample, sample.GetName()))
		if err := s.becomes(created); err != nil {
			s.broken(began, created, "%s doesn't converge: %s", title(sample), plain(err))
		} else if i == 0 {
			s.measure("time until the first sample is ready: %.2f s", (time.Since(began) - settled).Seconds())
		}
	}
	s.foundCrashes()
}

// broken is a finding about an object, whose evidence is what has happened since began.
func (s *scenario) broken(began time.Time, object *unstructured.Unstructured, format string, args ...any) {
	s.found(Error, s.evidence(began, object), format, args...)
}

// evidence is what the operator has sent since then, and the object as it is. If a finding can't
// show all of the requests, those about this object take precedence.
func (s *scenario) evidence(since time.Time, object *unstructured.Unstructured) (evidence []Evidence) {
	requests := s.writes(since)
	if len(requests) == 0 {
		requests = s.requests()
	}
	slices.SortStableFunc(requests, func(x, y audit.Request) int { return s.distance(x, object) - s.distance(y, object) })
	slices.SortStableFunc(requests[:min(len(requests), mostShown)], inOrder)
	evidence = asEvidence(requests)
	if now := s.history.now(object); now != nil {
		evidence = append(evidence, Evidence{time.Now(), title(now) + " now", asYAML(now)})
	}
	return append(evidence, s.crashes()...)
}

// distance is 0 for a request about the object, and 1 for others.
func (s *scenario) distance(r audit.Request, object *unstructured.Unstructured) int {
	if r.Name == object.GetName() && r.GroupResource() == s.mapping(object).Resource.GroupResource() {
		return 0
	}
	return 1
}

func mutationsReach(s *scenario) {
	s.start()
	for i, m := range s.config.Mutations {
		sample := s.ready(fmt.Sprintf("mutated-%d", i))[0]
		began := time.Now()
		sample = s.patch(sample, asJSON(m.Patch))
		if !s.promise(began, s.config.Limits.Converge, sample, func() error { return s.hasEffect(sample, m) },
			"the mutation %q doesn't have the expected effect", m.Name) {
			continue
		}
		if err := s.becomes(sample); err != nil {
			s.broken(began, sample, "after the mutation %q, the sample doesn't converge: %s",
				m.Name, plain(err))
		}
	}
}

// hasEffect returns nil if the objects that the sample owns are as the mutation's expectations say.
func (s *scenario) hasEffect(sample *unstructured.Unstructured, m Mutation) error {
	now := s.history.now(sample)
	if now == nil {
		return fmt.Errorf("%s is gone", title(sample))
	}
	owned, counts := s.owned(now), s.counts(now)
	for _, e := range m.Expect {
		if err := e.holds(owned, now); err != nil {
			return err
		}
		if count := counts[e.Kind]; e.Count != nil && count != *e.Count {
			return fmt.Errorf("the number of objects of kind %s is %d, not %d", e.Kind, count, *e.Count)
		}
	}
	return nil
}

// holds returns nil if one of the objects that a sample owns is as the expression says.
func (e Expectation) holds(owned []*unstructured.Unstructured, sample *unstructured.Unstructured) error {
	if e.CEL == nil {
		return nil
	}
	err := fmt.Errorf("there is no %s", e.Kind)
	for _, object := range owned {
		if object.GetKind() != e.Kind {
			continue
		}
		if err = e.CEL.holds(object, sample); err == nil {
			return nil
		}
	}
	return err
}

func driftIsReverted(s *scenario) {
	sample := s.startWith("drifted")[0]
	tried := 0
	for _, object := range s.owned(sample) {
		for _, d := range s.drifts(object) {
			began := time.Now()
			reverted := s.interfere(sample, object, d)
			if reverted == nil {
				continue
			}
			tried++
			if s.soon(reverted) != nil {
				change := fmt.Sprintf("the judge changes %s of %s from %v to %v", d, title(object), d.was, d.becomes)
				s.found(Error, append([]Evidence{{began, change, d.patch}}, s.evidence(began, object)...),
					"a manual change to %s of a %s isn't reverted, although the operator set that field", d, object.GetKind())
			}
			s.needs(s.becomes(sample))
		}
	}
	if tried == 0 {
		s.skip("the owned objects have no field that the judge could change by hand: it would have to be a scalar, " +
			"set by the operator, and not immutable")
	}
}

// interfere changes a field of an object that the sample owns, and returns a function that returns
// nil when the operator has reverted that. It returns nil if the object has just changed.
func (s *scenario) interfere(sample, object *unstructured.Unstructured, d drift) (reverted func() error) {
	s.step("change %s of %s by hand, from %v to %v", d, title(object), d.was, d.becomes)
	if _, err := s.tryPatch(object, types.JSONPatchType, d.patch); err != nil {
		s.step("%v", err)
		return nil
	}
	return func() error {
		now := s.nowOrReplaced(sample, object)
		if now == nil {
			return fmt.Errorf("%s is gone", title(object))
		}
		if value := d.in(now); fmt.Sprint(value) != fmt.Sprint(d.was) {
			return fmt.Errorf("%s of %s is %v", d, title(now), value)
		}
		return nil
	}
}

func deletedComesBack(s *scenario) {
	sample := s.startWith("deleted")[0]
	for _, object := range s.owned(sample) {
		began := time.Now()
		s.remove(metav1.DeletePropagationBackground, object)
		isBack := func() error {
			for _, other := range s.owned(sample) {
				isNew := other.GetUID() != object.GetUID() && other.GetDeletionTimestamp() == nil
				if isNew && other.GetKind() == object.GetKind() {
					return nil
				}
			}
			return errors.New("nothing has replaced it")
		}
		if !s.promise(began, s.config.Limits.Converge, sample, isBack, "a deleted %s doesn't come back", object.GetKind()) {
			return
		}
	}
	s.needs(s.becomes(sample))
}
