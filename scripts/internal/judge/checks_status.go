package judge

// Does the status tell the truth?

import (
	"fmt"
	"slices"
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
			Lesson: "03-workqueue/README.md",
			needs:  "mutations",
			judge:  generationIsObserved,
		},
		{
			Name:    "conditions",
			Promise: "each condition has a reason, and lastTransitionTime changes only when the condition's status does",
			Why: "People look at lastTransitionTime to see how long something has been broken. If the operator " +
				"updates the time with each write, each write is a change, and each change makes the operator work again.",
			Lesson: "03-workqueue/README.md",
			judge:  conditionsAreWellFormed,
		},
	}
}

func generationIsObserved(s *scenario) {
	sample := s.settles("observed")[0]
	began := time.Now()
	s.mutate(sample, s.config.Mutations[0])
	s.pass(settled)
	s.awaitSettled()
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
	s.foundReadyTooSoon(sample)
}

// isObserved returns nil if the status is about the present spec.
func (s *scenario) isObserved(sample *unstructured.Unstructured) error {
	now := s.history.now(sample)
	if observed, _ := observedGeneration(now); observed != now.GetGeneration() {
		return fmt.Errorf("observedGeneration is %d, but the generation is %d", observed, now.GetGeneration())
	}
	return nil
}

// foundReadyTooSoon is a finding if the sample was ever ready for its generation before the rollout
// of a Deployment, or another kind of workload, that it owns had begun.
func (s *scenario) foundReadyTooSoon(sample *unstructured.Unstructured) {
	workloads := slices.DeleteFunc(s.owned(sample), func(object *unstructured.Unstructured) bool {
		_, found := observedGeneration(object)
		return !found || object.GroupVersionKind().Group != appsv1.GroupName
	})
	for _, v := range s.history.of(sample) {
		if observed, _ := observedGeneration(v.object); observed != v.object.GetGeneration() {
			continue
		}
		if s.config.Ready.holds(v.object) != nil {
			continue
		}
		for _, object := range workloads {
			then := s.history.asOf(v.object.GetResourceVersion(), object)
			if then == nil {
				continue
			}
			if observed, _ := observedGeneration(then); observed < then.GetGeneration() {
				s.found(Error, []Evidence{
					{v.at, title(v.object), asYAML(v.object)},
					{v.at, title(then) + " at that time", asYAML(then)},
				}, "a sample was ready too soon: the rollout of its %s hadn't begun yet", object.GetKind())
				return
			}
		}
	}
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

func conditions(object *unstructured.Unstructured) (all []map[string]any) {
	list, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, one := range list {
		if condition, ok := one.(map[string]any); ok {
			all = append(all, condition)
		}
	}
	return all
}

func conditionsAreWellFormed(s *scenario) {
	sample := s.settles("conditions")[0]
	if len(s.config.Mutations) > 0 {
		s.patch(sample, asJSON(s.config.Mutations[0].Patch))
		s.awaitReady(sample)
	}
	s.annotate(sample, "judge.example.com/unrelated")
	s.pass(settled)
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
