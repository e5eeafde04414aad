package judge

// Does the status tell the truth?

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func statusChecks() []Check {
	return []Check{
		{
			Name: "observed-generation",
			Promise: "the status reports which generation of the spec it is about, and the sample isn't ready before " +
				"that generation's rollout has begun",
			Why: "Without observedGeneration, nobody can tell whether a status is about the current spec or an " +
				"older one, so kubectl wait returns too soon. It also returns too soon if the operator mistakes the end " +
				"of the previous rollout for the end of the new one.",
			Fix: "Set observedGeneration to the generation that you have read, and wait for that of the " +
				"owned workload.",
			Lesson:   "03-workqueue/README.md",
			requires: "mutations",
			run:      generationIsObserved,
		},
		{
			Name:    "conditions",
			Promise: "each condition has a reason, and lastTransitionTime changes only when the condition's status does",
			Why: "People look at lastTransitionTime to see how long something has been broken. If the operator " +
				"updates the time with each write, each write is a change, and each change makes the operator work again.",
			Fix:    "Set conditions with meta.SetStatusCondition, and give each a reason.",
			Lesson: "03-workqueue/README.md",
			run:    conditionsAreWellFormed,
		},
	}
}

func generationIsObserved(s *scenario) {
	sample := s.startWith("observed")[0]
	began := time.Now()
	mutation := s.config.Mutations[0]
	s.mutate(sample, mutation)
	s.pass(settled)
	s.needs(s.settle())
	now := s.history.now(sample)
	if now.GetGeneration() == 1 {
		s.skip("the generation stays 1, because the first mutation changes only metadata")
	}
	if _, found := observedGeneration(now); !found {
		s.found(Warning, []Evidence{{time.Now(), title(now), asYAML(now)}},
			"neither the status nor any of its conditions has an observedGeneration")
	} else if !s.promise(began, s.config.Limits.Converge, sample, func() error { return s.isObserved(sample) },
		"observedGeneration lags behind the generation after a mutation") {
		return
	}
	s.foundReadyTooSoon(sample, mutation)
}

// isObserved returns nil if the status is about the present spec.
func (s *scenario) isObserved(sample *unstructured.Unstructured) error {
	now := s.history.now(sample)
	if observed, _ := observedGeneration(now); observed != now.GetGeneration() {
		return fmt.Errorf("observedGeneration is %d, but the generation is %d", observed, now.GetGeneration())
	}
	return nil
}

// foundReadyTooSoon is a finding if the sample was ever ready for its generation before the objects
// that it owns were as the mutation expects, or before the rollout of a Deployment, or of another kind
// of workload, had begun.
func (s *scenario) foundReadyTooSoon(sample *unstructured.Unstructured, m Mutation) {
	mutated := s.history.now(sample).GetGeneration()
	for _, v := range s.history.of(sample) {
		generation := v.object.GetGeneration()
		if observed, _ := observedGeneration(v.object); observed != generation || s.config.Ready.holds(v.object) != nil {
			continue
		}
		owned := s.history.asOf(v.object.GetResourceVersion(), func(o *unstructured.Unstructured) bool {
			return s.owns(sample, o)
		})
		err := rolloutsHaveBegun(owned)
		if err == nil && generation == mutated {
			err = m.hasReached(owned, v.object)
		}
		if err == nil {
			continue
		}
		evidence := []Evidence{{v.at, title(v.object), asYAML(v.object)}}
		for _, then := range owned {
			evidence = append(evidence, Evidence{v.at, title(then) + " at that time", asYAML(then)})
		}
		s.found(Error, evidence, "a sample was ready too soon: %s", plain(err))
		return
	}
}

// rolloutsHaveBegun returns nil if no workload has a spec that its controller hasn't seen yet.
func rolloutsHaveBegun(objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		observed, _ := observedGeneration(object)
		if object.GroupVersionKind().Group == appsv1.GroupName && observed < object.GetGeneration() {
			return fmt.Errorf("the rollout of its %s hadn't begun yet", object.GetKind())
		}
	}
	return nil
}

// hasReached returns nil if the objects that a sample owned were as the mutation's expressions say. It
// doesn't count them, because deleting one takes time.
func (m Mutation) hasReached(owned []*unstructured.Unstructured, sample *unstructured.Unstructured) error {
	for _, e := range m.Expect {
		if err := e.holds(owned, sample); err != nil {
			return fmt.Errorf("the mutation %q had no effect yet: %w", m.Name, err)
		}
	}
	return nil
}

// observedGeneration returns that of the status or, without it, the lowest one of its conditions.
func observedGeneration(object *unstructured.Unstructured) (generation int64, found bool) {
	if generation, found, _ = unstructured.NestedInt64(object.Object, "status", "observedGeneration"); found {
		return generation, true
	}
	for _, c := range conditions(object) {
		if of, has, _ := unstructured.NestedInt64(c, "observedGeneration"); has && (!found || of < generation) {
			generation, found = of, true
		}
	}
	return generation, found
}

func conditionsAreWellFormed(s *scenario) {
	sample := s.startWith("conditions")[0]
	if len(s.config.Mutations) > 0 {
		s.patch(sample, asJSON(s.config.Mutations[0].Patch))
		s.needs(s.becomes(sample))
	}
	s.annotate(sample, "judge.example.com/unrelated")
	s.needs(s.catchesUp("another"))
	last := map[string]map[string]any{} // by type
	found := map[string]bool{}
	for _, v := range s.history.of(sample) {
		for _, condition := range conditions(v.object) {
			kind := fmt.Sprint(condition["type"])
			wrong := whatIsWrong(condition, last[kind])
			last[kind] = condition
			if wrong != "" && !found[wrong] {
				found[wrong] = true
				s.found(Error, []Evidence{{v.at, title(v.object), asYAML(v.object)}}, "%s", wrong)
			}
		}
	}
	if len(last) == 0 {
		s.skip("%s has no conditions", sample.GetKind())
	}
}

// whatIsWrong compares a condition with what it was before, which may be nil. It returns "" if nothing
// is wrong.
func whatIsWrong(condition, before map[string]any) string {
	kind := condition["type"]
	reason, _ := condition["reason"].(string)
	transition, _ := condition["lastTransitionTime"].(string)
	switch {
	case reason == "":
		return fmt.Sprintf("the condition %s has no reason", kind)
	case transition == "":
		return fmt.Sprintf("the condition %s has no lastTransitionTime", kind)
	case before["status"] == condition["status"] && before["lastTransitionTime"] != transition:
		return fmt.Sprintf("the lastTransitionTime of the condition %s changes, although its status doesn't", kind)
	}
	return ""
}
