package judge

// Does the operator keep samples apart from each other and from somebody else's objects, whatever their
// names are?

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

func nameChecks() []Check {
	return []Check{
		{
			Name:    "taken-name",
			Promise: "somebody else's object is left alone, even if it has the name that the operator needs",
			Why:     "If the operator takes over the object, its real owner loses it, and nobody learns of the conflict.",
			Fix:     "Before you write, check metav1.IsControlledBy. If it is false, report that in the status and don't write.",
			Lesson:  "01-raw-watch/README.md",
			run:     takenNameIsLeftAlone,
		},
		{
			Name:    "names",
			Promise: "samples aren't mixed up, even if a name is reused, and a 63-character name works or the status says why",
			Why:     "Names are reused, but UIDs aren't. And a selector that is too wide sends requests to the wrong Pods.",
			Fix:     "Compare UIDs (metav1.IsControlledBy), put the name into selectors, and shorten long names by a hash.",
			Lesson:  "05-controller-runtime/more/pitfalls.md",
			run: func(s *scenario) {
				samples := s.startWith("one", "two")
				s.foundOverlap(samples[0], samples[1])
				reuseName(s, samples[0])
				useLongName(s, samples[1])
				s.foundCrashes()
			},
		},
	}
}

// foundOverlap is a finding for each object of a sample, such as a Service, that selects the Pods of
// another sample.
func (s *scenario) foundOverlap(sample, other *unstructured.Unstructured) {
	for _, object := range s.owned(sample) {
		selector, _, err := unstructured.NestedStringMap(object.Object, "spec", "selector")
		if err != nil { // the one of a workload has more structure
			selector, _, _ = unstructured.NestedStringMap(object.Object, "spec", "selector", "matchLabels")
		}
		_, hasMore, _ := unstructured.NestedSlice(object.Object, "spec", "selector", "matchExpressions")
		for _, workload := range s.owned(other) {
			pods, hasPods, _ := unstructured.NestedStringMap(workload.Object, "spec", "template", "metadata", "labels")
			if hasPods && !hasMore && len(selector) > 0 && labels.SelectorFromSet(selector).Matches(labels.Set(pods)) {
				s.found(Error, append(s.present(workload), s.present(object)...),
					"the selector of a %s matches the Pods of another sample's %s", object.GetKind(), workload.GetKind())
			}
		}
	}
}

// reuseName deletes a sample, and holds its objects by a finalizer, so that they are still there when
// another sample has its name.
func reuseName(s *scenario, sample *unstructured.Unstructured) {
	for _, object := range s.owned(sample) {
		s.hold(object)
	}
	s.remove(metav1.DeletePropagationBackground, sample)
	if err := s.within(s.config.Limits.Quiet, func() error { return s.areGone(sample) }); err != nil {
		s.step("%v: the operator keeps it until its objects are gone, so nobody can use its name", err)
		return
	}
	held := s.owned(sample) // by the UID in their owner references
	began := time.Now()
	again := s.create(s.sample(sample.GetName()))
	other := s.create(s.sample("other"))
	s.needs(s.soon(func() error { return s.saysReady(other) })) // the operator has seen the one before, too
	s.pass(settled)
	for _, before := range held {
		now := s.history.now(before)
		if now != nil && (refersTo(now, again) || differ(now, before, "spec") || differ(now, before, "data")) {
			// Only a warning, because these objects are about to go, and then it creates its own.
			s.foundAlso(Warning, s.evidence(began, before),
				"a sample takes over objects of a deleted sample that had its name", before.GetKind())
		}
	}
	if len(held) > 0 && s.claimsReady(again) && len(s.owned(again)) == 0 {
		s.broken(began, again, "a sample is ready, although all objects are those of a deleted sample that had its name")
	}
	for _, object := range held {
		s.release(object)
	}
	s.needs(s.soon(func() error { return s.areGone(held...) }))
	s.foundAfterwards(began, again)
}

// longName is as long as the value of a label may be, and the name of a Service.
var longName = "a-name-of-63-characters" + strings.Repeat("-x", 20)

func useLongName(s *scenario, healthy *unstructured.Unstructured) {
	sample := s.sample(longName)
	if _, err := s.wouldBe(sample); err != nil {
		s.step("the API server refuses a name of 63 characters: %v", err)
		return
	}
	began := time.Now()
	sample = s.create(sample)
	if s.within(s.config.Limits.Recover, func() error { return s.isReady(sample) }) != nil {
		s.foundSilence(began, sample, healthy, "a sample whose name has 63 characters doesn't become ready")
		s.foundLoop("a name of 63 characters")
	}
}

func takenNameIsLeftAlone(s *scenario) {
	sample := s.startWith("taken")[0]
	owned := s.owned(sample)
	s.replicas[0].Stop()
	s.remove(metav1.DeletePropagationBackground, sample)
	s.remove(metav1.DeletePropagationBackground, owned...)
	s.needs(s.soon(func() error {
		if s.history.now(sample) != nil {
			s.setFinalizers(sample, nil)
			return errors.New("the sample isn't gone")
		}
		return s.areGone(owned...)
	}))
	s.pass(settled) // the kubelet's last delete of a Pod names no UID, and could meet the new one
	theirs := s.takeNames(owned)
	for _, object := range theirs {
		if drifts := s.drifts(object); len(drifts) > 0 { // so that the operator would have to change it
			_, _ = s.tryPatch(object, types.JSONPatchType, drifts[0].patch)
		}
	}
	s.pass(settled) // the scheduler changes new Pods
	for i := range theirs {
		if theirs[i] = s.history.now(theirs[i]); theirs[i] == nil {
			s.unable("an object that the judge has created is gone, although the operator wasn't running")
		}
	}
	s.step("somebody else's objects have the names now: create the sample again")
	s.start()
	began := time.Now()
	sample = s.create(s.sample("taken"))
	failed := s.catchesUp("free")
	if len(s.config.Mutations) > 0 { // another reason to write
		_, _ = s.tryPatch(sample, types.MergePatchType, asJSON(s.config.Mutations[0].Patch))
		s.pass(settled)
		_ = s.settle() // a conflict may be reported again and again
	}
	for _, before := range theirs {
		now := s.history.now(before)
		switch {
		case now == nil:
			s.broken(began, before, "somebody else's %s is deleted", before.GetKind())
		case len(now.GetOwnerReferences()) > len(before.GetOwnerReferences()):
			s.broken(began, before, "somebody else's %s gets an owner, and would be deleted with it", before.GetKind())
		case slices.ContainsFunc(s.history.of(before), func(v snapshot) bool {
			return v.at.After(began) && (differ(v.object, before, "spec") || differ(v.object, before, "data"))
		}):
			s.broken(began, before, "somebody else's %s is changed", before.GetKind())
		}
	}
	if s.claimsReady(sample) && len(s.owned(sample)) == 0 {
		s.broken(began, sample, "the sample is ready, although it owns nothing, because its names are taken")
	}
	if failed != nil && len(s.result.Findings) == 0 {
		s.unable("a sample whose name is free doesn't become ready either: %v", failed)
	}
}

func differ(a, b *unstructured.Unstructured, field string) bool {
	return asJSON(a.Object[field]) != asJSON(b.Object[field])
}

// takeNames creates objects of somebody else with the names of these, which are being deleted.
func (s *scenario) takeNames(owned []*unstructured.Unstructured) (theirs []*unstructured.Unstructured) {
	for _, object := range owned {
		copied := s.theirs(object)
		s.needs(s.soon(func() error {
			created, err := s.api(copied).Create(s.ctx, copied, metav1.CreateOptions{FieldManager: "somebody"})
			if err != nil {
				return fmt.Errorf("%s can't be created by hand: %w", title(object), err)
			}
			s.made[created.GetUID()] = true
			theirs = append(theirs, created)
			return nil
		}))
	}
	return theirs
}

// theirs returns an object with the same name that nobody's controller has made.
func (s *scenario) theirs(object *unstructured.Unstructured) *unstructured.Unstructured {
	object = object.DeepCopy()
	delete(object.Object, "status")
	object.Object["metadata"] = map[string]any{
		"name": object.GetName(), "namespace": object.GetNamespace(), "labels": map[string]any{"owner": "somebody"},
	}
	assigned := []string{"nodeName", "volumeName"}
	if ip, _, _ := unstructured.NestedString(object.Object, "spec", "clusterIP"); ip != corev1.ClusterIPNone {
		assigned = append(assigned, "clusterIP", "clusterIPs")
	}
	if object.GetKind() == "Job" { // the API server labels its Pods with its UID
		assigned = append(assigned, "selector")
		for _, label := range []string{"controller-uid", batchv1.ControllerUidLabel} {
			unstructured.RemoveNestedField(object.Object, "spec", "template", "metadata", "labels", label)
		}
	}
	for _, field := range assigned {
		unstructured.RemoveNestedField(object.Object, "spec", field)
	}
	return object
}
