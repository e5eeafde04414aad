package judge

// Does the operator leave alone what belongs to others?

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

func otherPeopleChecks() []Check {
	return []Check{
		{
			Name:    "foreign-fields",
			Promise: "other people's labels, annotations, finalizers and sidecars survive the operator's writes",
			Why: "People and other controllers write to the same objects, for example kubectl rollout restart, " +
				"service meshes and backup tools. An operator that replaces the whole object keeps undoing their changes.",
			Fix: "Send a patch or a server-side apply with your own fields only, or change the object that " +
				"you have read.",
			Lesson: "04-codegen/README.md",
			run:    foreignFieldsSurvive,
		},
		{
			Name:    "taken-name",
			Promise: "somebody else's object is left alone, even if it has the name that the operator needs",
			Why: "If the operator takes over the object, its real owner loses it. Instead, the operator must " +
				"report the conflict in the status, and wait until the name is free.",
			Fix: "Before you write, check that you control the object (metav1.IsControlledBy). If you " +
				"don't, report it in the status.",
			Lesson: "01-raw-watch/README.md",
			run:    takenNameIsLeftAlone,
		},
		{
			Name:    "conflicts",
			Promise: "somebody else's change isn't lost, even if the operator hasn't seen it yet",
			Why: "The operator's cache is always a little behind. Without resourceVersion or server-side apply, a " +
				"write based on an old object silently reverts whatever has changed since.",
			Fix:    "Send the resourceVersion of the object that you have read, or use server-side apply.",
			Lesson: "03-workqueue/more/stale-reads.md",
			run:    conflictsLoseNothing,
		},
		{
			Name: "bad-input",
			Promise: "input that the operator must refuse changes no objects, and doesn't make the operator retry in a " +
				"tight loop",
			Why: "Bad input stays until a person corrects it. An operator that retries as fast as it can keeps the " +
				"API server busy until then.",
			Fix: "Report bad input in the status, and wait until it changes, or return an error, which is " +
				"retried with a backoff.",
			Lesson:   "03-workqueue/README.md",
			requires: "badInput",
			run:      badInputIsRefused,
		},
	}
}

const (
	foreignKey       = "judge.example.com/foreign"
	foreignFinalizer = "judge.example.com/finalizer"
	sidecar          = "judge-sidecar"
)

// isForeign says for each part that the judge adds to an object whether the object has it.
var isForeign = map[string]func(*unstructured.Unstructured) bool{
	"label":      func(o *unstructured.Unstructured) bool { return o.GetLabels()[foreignKey] == "yes" },
	"annotation": func(o *unstructured.Unstructured) bool { return o.GetAnnotations()[foreignKey] == "yes" },
	"finalizer":  func(o *unstructured.Unstructured) bool { return slices.Contains(o.GetFinalizers(), foreignFinalizer) },
	"sidecar":    hasSidecar,
}

func foreignFieldsSurvive(s *scenario) {
	sample := s.startWith("shared")[0]
	var lost []string
	var evidence []Evidence
	for _, object := range s.owned(sample) {
		began := time.Now()
		added := []string{"label", "annotation", "finalizer"}
		changed := s.patch(object, fmt.Sprintf(
			`{"metadata":{"labels":{%[1]q:"yes"},"annotations":{%[1]q:"yes"},"finalizers":%[2]s}}`,
			foreignKey, asJSON(append(object.GetFinalizers(), foreignFinalizer))))
		if s.addSidecar(changed) {
			added = append(added, "sidecar")
		}
		_ = s.settle() // provoke judges that
		s.provoke(sample, changed)
		now := s.history.now(object)
		if now == nil {
			s.broken(began, object, "a %s with somebody else's fields disappears", object.GetKind())
			continue
		}
		isKept := func(part string) bool { return isForeign[part](now) }
		if parts := slices.DeleteFunc(added, isKept); len(parts) > 0 {
			lost = append(lost, fmt.Sprintf("a %s loses its %s", object.GetKind(), strings.Join(parts, ", ")))
			evidence = append(evidence, s.evidence(began, object)...)
		}
	}
	if len(lost) > 0 {
		slices.Sort(lost)
		s.found(Error, evidence, "what somebody else has added doesn't survive: %s", strings.Join(slices.Compact(lost), "; "))
	}
}

// addSidecar adds a container to the Pods of an object, if it has a template for them.
func (s *scenario) addSidecar(object *unstructured.Unstructured) bool {
	containers := containersOf(object)
	if len(containers) == 0 {
		return false
	}
	s.step("add a sidecar to %s", title(object))
	added := map[string]any{"name": sidecar, "image": containers[0].(map[string]any)["image"]}
	patch := []map[string]any{{"op": "add", "path": "/spec/template/spec/containers/-", "value": added}}
	_, err := s.tryPatch(object, types.JSONPatchType, asJSON(patch))
	return err == nil
}

func containersOf(object *unstructured.Unstructured) []any {
	containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
	return containers
}

func hasSidecar(object *unstructured.Unstructured) bool {
	return slices.ContainsFunc(containersOf(object), func(c any) bool { return c.(map[string]any)["name"] == sidecar })
}

// provoke makes the operator write an owned object: by a mutation, and by drift.
func (s *scenario) provoke(sample, object *unstructured.Unstructured) {
	if len(s.config.Mutations) > 0 {
		s.mutate(sample, s.config.Mutations[0])
	}
	if now := s.history.now(object); now != nil {
		if drifts := s.drifts(now); len(drifts) > 0 {
			s.interfere(sample, now, drifts[0])
		}
	}
	s.pass(settled)
	s.needs(s.settle())
}

func takenNameIsLeftAlone(s *scenario) {
	sample := s.startWith("taken")[0]
	owned := s.owned(sample)
	drifts := make([]*drift, len(owned))
	for i, object := range owned {
		if all := s.drifts(object); len(all) > 0 {
			drifts[i] = &all[0]
		}
	}
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
	for i, d := range drifts { // so that the operator would have to change it
		if d != nil {
			s.step("change %s of %s", d, title(theirs[i]))
			_, _ = s.tryPatch(theirs[i], types.JSONPatchType, d.patch) // it may be immutable by now
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
	fresh := s.sample("taken")
	isVacuous := s.config.Ready.holds(fresh) == nil
	sample = s.create(fresh)
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
			s.broken(began, before, "somebody else's %s gets an owner reference, and would be deleted "+
				"together with that owner", before.GetKind())
		case differ(now, before, "spec") || differ(now, before, "data"):
			s.broken(began, before, "somebody else's %s is changed", before.GetKind())
		}
	}
	if !isVacuous && len(s.owned(sample)) == 0 && s.saysReady(sample) == nil {
		s.broken(began, sample, "the sample is ready, although it owns nothing: somebody else's objects have the names "+
			"that it needs")
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
		"name": object.GetName(), "namespace": s.namespace, "labels": map[string]any{"owner": "somebody"},
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
		versions := s.history.of(object)
		if slices.ContainsFunc(rounds, func(annotation string) bool { return disappears(versions, annotation) }) {
			s.broken(began, object, "an annotation that somebody else added to a %s while the "+
				"operator's events were late is lost", object.GetKind())
		}
	}
}

// disappears reports whether a version of an object lacks an annotation that a version before it
// has. The last version alone doesn't show that: an operator that writes from an old object often
// writes again from a newer one, which brings back what it has removed.
func disappears(versions []snapshot, annotation string) bool {
	present := false
	for _, v := range versions {
		_, has := v.object.GetAnnotations()[annotation]
		if present && !has {
			return true
		}
		present = has
	}
	return false
}

func badInputIsRefused(s *scenario) {
	accepted := 0
	r := s.start()
	for i, bad := range s.config.BadInput {
		sample := s.ready(fmt.Sprintf("bad-%d", i))[0]
		before, used := s.owned(sample), s.usage(r).cpu
		began := time.Now()
		s.step("patch %s: %s", title(sample), asJSON(bad.Patch))
		_, err := s.tryPatch(sample, types.MergePatchType, asJSON(bad.Patch))
		if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) {
			continue // the API server or a webhook refuses it, which is best
		}
		s.must(err)
		accepted++
		_ = s.within(s.config.Limits.Quiet/2, func() error { // it may need no request for that
			if len(s.since(began)) == 0 {
				return errors.New("the operator hasn't noticed the bad input")
			}
			return nil
		})
		s.foundLoop(bad.Name)
		used, took := s.usage(r).cpu-used, time.Since(began)
		if len(s.crashes()) == 0 && used > float64(took.Milliseconds())/2 {
			s.found(Error, []Evidence{noted("%.0f ms of CPU time in %v", used, took)},
				"the bad input %q keeps a processor busy", bad.Name)
		}
		for _, object := range before {
			if now := s.history.now(object); now == nil || differ(now, object, "spec") {
				s.broken(began, object, "the bad input %q changes or deletes a %s", bad.Name, object.GetKind())
			}
		}
		s.foundCrashes()
	}
	if accepted == 0 {
		s.step("the API server refuses all of badInput, so the operator never sees it")
	}
}

// foundLoop watches the operator for some time. It is a finding if the bad input that the operator
// has just noticed makes it loop.
func (s *scenario) foundLoop(badInput string) {
	noticed := time.Now()
	s.pass(s.config.Limits.Quiet / 2)
	lasted := time.Since(noticed)
	requests := s.since(noticed)
	never := longestPause(noticed, requests, noticed.Add(lasted)) < min(pause, lasted/4)
	if never || float64(len(requests)) > loop*lasted.Seconds() {
		s.found(Error, asEvidence(requests), "the bad input %q makes the operator send %d requests in %v",
			badInput, len(requests), lasted.Round(time.Second))
	}
}
