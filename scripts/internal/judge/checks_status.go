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
			Name:     "observed-generation",
			Promise:  "the status says which generation it is about, and isn't ready before that generation's rollout begins",
			Why:      "Otherwise, kubectl wait returns too soon: what it sees may be the end of the rollout before this one.",
			Fix:      "Set observedGeneration to the generation you read. Report Ready once the workload has observed its own.",
			Lesson:   "03-workqueue/README.md",
			requires: "mutations",
			run:      generationIsObserved,
		},
		{
			Name:    "conditions",
			Promise: "each condition has a reason, and lastTransitionTime changes only when the condition's status does",
			Why:     "lastTransitionTime shows how long something has been broken, and each change of it is one more write.",
			Fix:     "Set conditions with meta.SetStatusCondition and give each a reason.",
			Lesson:  "03-workqueue/README.md",
			run:     conditionsAreWellFormed,
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
		s.found(Warning, s.present(now),
			"neither the status nor any of its conditions has an observedGeneration")
	} else if !s.promise(began, s.config.Limits.Converge, sample, func() error {
		now := s.history.now(sample)
		if observed, _ := observedGeneration(now); observed != now.GetGeneration() {
			return fmt.Errorf("observedGeneration is %d, but the generation is %d", observed, now.GetGeneration())
		}
		return nil
	}, "observedGeneration lags behind the generation after a mutation") {
		return
	}
	s.foundReadyTooSoon(sample, mutation)
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
		for _, e := range m.Expect { // without their count, because to delete an object takes time
			if err == nil && generation == mutated {
				err = e.holds(owned, v.object)
			}
		}
		if err == nil {
			continue
		}
		evidence := []Evidence{v.evidence()}
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
				s.found(Error, []Evidence{v.evidence()}, "%s", wrong)
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
