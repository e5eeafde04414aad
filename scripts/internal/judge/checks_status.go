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
			Lesson:   "03-workqueue/README.md",
			requires: hasMutations,
			judge:    generationIsObserved,
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
	sample = s.patch(sample, string(s.mutations[0].Patch))
	if err := s.within(s.config.Limits.Converge.Duration, func() error { return s.hasEffect(sample, s.mutations[0]) }); err != nil {
		s.unable("%s: see the check mutations", s.plain(err))
	}
	s.pass(settled)
	if err := s.settle(time.Now().Add(s.config.Limits.Converge.Duration)); err != nil {
		s.unable("%s: see the check converge", s.plain(err))
	}
	now := s.now(sample)
	if now.GetGeneration() == 1 {
		s.skip("the generation stays 1, because the first mutation changes only metadata")
	}
	observed, found := observedGeneration(now)
	switch {
	case !found:
		s.find(Warning, []Evidence{{At: time.Now(), Text: title(now), Detail: text(now)}}, "neither the status nor "+
			"any of its conditions has an observedGeneration")
	case observed != now.GetGeneration():
		err := s.within(s.config.Limits.Converge.Duration, func() error {
			now = s.now(sample)
			if observed, _ = observedGeneration(now); observed != now.GetGeneration() {
				return fmt.Errorf("observedGeneration is %d, but the generation is %d", observed, now.GetGeneration())
			}
			return nil
		})
		if err != nil {
			s.find(Error, s.evidence(began, now), "observedGeneration lags behind the generation after a mutation")
			return
		}
	}
	s.findReadyTooSoon(now)
}

// findReadyTooSoon reports a finding if the sample was ever ready for its generation before the
// rollout of a Deployment, or another kind of workload, that it owns had begun.
func (s *scenario) findReadyTooSoon(sample *unstructured.Unstructured) {
	owned := slices.DeleteFunc(s.owned(sample), func(object *unstructured.Unstructured) bool {
		_, found := observedGeneration(object)
		return !found || object.GroupVersionKind().Group != appsv1.GroupName
	})
	for _, v := range s.history.of(sample.GetUID()) {
		if observed, _ := observedGeneration(v.object); observed != v.object.GetGeneration() || s.ready.holds(v.object, v.object) != nil {
			continue
		}
		for _, object := range owned {
			then := s.history.asOf(v.object.GetResourceVersion(), object)
			if then == nil {
				continue
			}
			if observed, _ := observedGeneration(then); observed < then.GetGeneration() {
				s.find(Error, []Evidence{
					{At: v.at, Text: title(v.object), Detail: text(v.object)},
					{At: v.at, Text: title(then) + " at that time", Detail: text(then)},
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
	if len(s.mutations) > 0 {
		s.patch(sample, string(s.mutations[0].Patch))
		s.awaits(sample)
	}
	s.patch(sample, `{"metadata":{"annotations":{"judge.example.com/unrelated":"yes"}}}`)
	s.pass(settled)
	versions := s.history.of(sample.GetUID())
	last := map[string]map[string]any{} // by type
	seenAny := false
	said := map[string]bool{}
	find := func(v snapshot, format string, args ...any) {
		what := fmt.Sprintf(format, args...)
		if !said[what] {
			said[what] = true
			s.find(Error, []Evidence{{At: v.at, Text: title(v.object), Detail: asYAML(v.object.Object["status"])}}, "%s", what)
		}
	}
	for _, v := range versions {
		for _, condition := range conditions(v.object) {
			seenAny = true
			kind := fmt.Sprint(condition["type"])
			if reason, _ := condition["reason"].(string); reason == "" {
				find(v, "the condition %s has no reason", kind)
			}
			if transition, _ := condition["lastTransitionTime"].(string); transition == "" {
				find(v, "the condition %s has no lastTransitionTime", kind)
			}
			if before := last[kind]; before != nil && before["status"] == condition["status"] && before["lastTransitionTime"] != condition["lastTransitionTime"] {
				find(v, "the lastTransitionTime of the condition %s changes, although its status doesn't", kind)
			}
			last[kind] = condition
		}
	}
	if !seenAny {
		s.skip("%s has no conditions", sample.GetKind())
	}
}
