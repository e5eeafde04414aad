package judge

// Does the operator leave alone what belongs to others?

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

func otherPeopleChecks() []Check {
	return []Check{
		{
			Name:    "foreign-fields",
			Promise: "what others add to the operator's objects survives: metadata, sidecars, data keys and replicas",
			Why:     "An operator that replaces the whole object undoes what people, service meshes and autoscalers write.",
			Fix:     "Send a patch or a server-side apply with only your own fields, or change the object that you have read.",
			Lesson:  "04-codegen/README.md",
			run:     foreignFieldsSurvive,
		},
		{
			Name:    "conflicts",
			Promise: "somebody else's change isn't lost, even if the operator hasn't seen it yet",
			Why:     "The operator's cache is always a little behind, so a write from it may silently revert a newer change.",
			Fix:     "Send the resourceVersion of the object that you have read, or use server-side apply.",
			Lesson:  "03-workqueue/more/stale-reads.md",
			run:     conflictsLoseNothing,
		},
	}
}

const (
	foreignKey       = "judge.example.com/foreign"
	foreignFinalizer = "judge.example.com/finalizer"
	dataKey          = "data key"
)

// foreign are the parts that the judge adds to an object, each with a value that nothing else has.
var foreign = map[string]any{
	"label": "judge-label", "annotation": "judge-annotation", "finalizer": foreignFinalizer,
	"sidecar": "judge-sidecar", dataKey: "eWVz", // in base64, because it may be a Secret
}

func foreignFieldsSurvive(s *scenario) {
	sample := s.startWith("shared")[0]
	for _, object := range s.owned(sample) {
		began := time.Now()
		added := s.addForeign(object)
		_ = s.settle() // provoke judges that
		s.provoke(sample, object)
		now := s.history.now(object)
		if now == nil {
			s.broken(began, object, "a %s with somebody else's fields disappears", object.GetKind())
			continue
		}
		isKept := func(part string) bool {
			return slices.ContainsFunc(leaves(now.Object), func(field leaf) bool { return field.value == foreign[part] })
		}
		if lost := slices.Sorted(slices.Values(slices.DeleteFunc(added, isKept))); len(lost) > 0 {
			severity := Error
			if slices.Equal(lost, []string{dataKey}) {
				severity = Warning // some operators mean to own all of the data
			}
			s.foundAlso(severity, s.evidence(began, object), "what somebody else has added doesn't survive",
				fmt.Sprintf("a %s loses its %s", object.GetKind(), strings.Join(lost, ", ")))
		}
	}
	s.foundScaledBack()
}

// image is that of the first container of an object's Pods.
var image = leaf{path: []any{"spec", "template", "spec", "containers", 0, "image"}}

// addForeign adds to an object what it can have of foreign, and returns these parts.
func (s *scenario) addForeign(object *unstructured.Unstructured) (added []string) {
	s.patch(object, asJSON(map[string]any{"metadata": map[string]any{
		"labels":      map[string]any{foreignKey: foreign["label"]},
		"annotations": map[string]any{foreignKey: foreign["annotation"]},
		"finalizers":  append(object.GetFinalizers(), foreignFinalizer),
	}}))
	added = []string{"label", "annotation", "finalizer"}
	container := map[string]any{"name": foreign["sidecar"], "image": image.in(object)}
	for part, patch := range map[string]map[string]any{
		"sidecar": {"op": "add", "path": "/spec/template/spec/containers/-", "value": container},
		dataKey:   {"op": "add", "path": "/data/judge", "value": foreign[dataKey]},
	} {
		if _, err := s.tryPatch(object, types.JSONPatchType, asJSON([]any{patch})); err == nil {
			added = append(added, part)
		} // otherwise the object has no such part, or it is immutable
	}
	return added
}

// provoke makes the operator write an owned object: by drift, and by a mutation, unless it may replace
// the object by another one.
func (s *scenario) provoke(sample, object *unstructured.Unstructured) {
	for _, d := range s.drifts(object) {
		s.interfere(sample, object, d)
	}
	s.pass(settled)
	s.needs(s.settle())
	isCounted := func(e Expectation) bool { return e.Count != nil }
	for _, m := range s.config.Mutations {
		if !slices.ContainsFunc(m.Expect, isCounted) {
			s.patch(sample, asJSON(m.Patch))
			_ = s.soon(func() error { return s.hasEffect(sample, m) }) // whether it has is another check's question
			s.pass(settled)
			s.needs(s.settle())
			return
		}
	}
}

var replicas = leaf{path: []any{"spec", "replicas"}}

// foundScaledBack looks for a mutation that replicas follow. Other fields aren't judged: an operator's
// own default of an image, for example, is as good as a value in the sample.
func (s *scenario) foundScaledBack() {
	for _, m := range s.config.Mutations {
		for _, e := range m.Expect {
			for _, field := range leaves(m.Patch) {
				if e.CEL != nil && e.CEL.text == "object.spec.replicas == sample."+field.String() {
					s.scaleWithout(field, e.Kind)
				}
			}
		}
	}
}

// scaleWithout creates a sample without that field. It is a finding if the operator resets the replicas
// of an object of this kind that somebody else has scaled.
func (s *scenario) scaleWithout(field leaf, kind string) {
	sample := s.sample("scaled")
	unstructured.RemoveNestedField(sample.Object, strings.Split(field.String(), ".")...)
	if stored, err := s.wouldBe(sample); err != nil || field.in(stored) != nil {
		return // the field is required, or has a default
	}
	if sample = s.create(sample); s.becomes(sample) != nil {
		return // the operator needs the field
	}
	for _, object := range s.owned(sample) {
		was, hasReplicas := replicas.in(object).(int64)
		if object.GetKind() != kind || !hasReplicas {
			continue
		}
		began := time.Now()
		s.patch(object, patchOf(replicas, was+1))
		s.annotate(sample, foreignKey) // so that the operator looks again
		s.pass(settled)
		if now := s.history.now(object); now != nil && replicas.in(now) != any(was+1) {
			s.found(Warning, s.evidence(began, object), "the operator resets spec.replicas of a %s, although the sample has "+
				"no %s, so an autoscaler can't scale it", kind, field)
		}
	}
}

// conflictsLoseNothing changes owned objects while the operator's watches are late, and makes it
// write at the same time.
func conflictsLoseNothing(s *scenario) {
	sample := s.startWith("conflict")[0]
	owned := s.owned(sample)
	fault := s.replicas[0].Proxy.Delay(2 * time.Second)
	s.step("events reach the operator 2s late")
	began := time.Now()
	rounds := []string{"judge.example.com/round-1", "judge.example.com/round-2", "judge.example.com/round-3"}
	for i, annotation := range rounds {
		for _, object := range owned {
			s.annotate(object, annotation)
		}
		if mutations := s.config.Mutations; len(mutations) > 0 {
			s.patch(sample, asJSON(mutations[i%len(mutations)].Patch))
		}
		s.pass(700 * time.Millisecond)
	}
	s.pass(2 * time.Second)
	fault.Stop()
	s.needs(s.becomes(sample))
	for _, object := range owned {
		// The last version alone wouldn't show it: an operator that writes from an old object often writes
		// again from a newer one, which brings back what it has removed.
		lost, present := false, map[string]bool{}
		for _, v := range s.history.of(object) {
			for _, annotation := range rounds {
				_, has := v.object.GetAnnotations()[annotation]
				lost = lost || present[annotation] && !has
				present[annotation] = has
			}
		}
		if lost {
			s.broken(began, object, "somebody else's annotation of a %s is lost if events are late", object.GetKind())
		}
	}
}
