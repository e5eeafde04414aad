package judge

// Does the operator leave alone what belongs to others?

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"example.com/operators/scripts/internal/audit"
)

func otherPeopleChecks() []Check {
	return []Check{
		{
			Name:    "foreign-fields",
			Promise: "other people's labels, annotations, finalizers and sidecars survive the operator's writes",
			Why:     "People and other controllers write to the same objects, for example kubectl rollout restart, service meshes and backup tools. An operator that replaces the whole object keeps undoing their changes.",
			Lesson:  "04-codegen/README.md",
			judge:   foreignFieldsSurvive,
		},
		{
			Name:    "taken-name",
			Promise: "somebody else's object is left alone, even if it has the name that the operator needs",
			Why:     "If the operator takes over the object, its real owner loses it. Instead, the operator must report the conflict in the status, and wait until the name is free.",
			Lesson:  "01-raw-watch/README.md",
			judge:   takenNameIsLeftAlone,
		},
		{
			Name:    "conflicts",
			Promise: "somebody else's change isn't lost, even if the operator hasn't seen it yet",
			Why:     "The operator's cache is always a little behind. Without resourceVersion or server-side apply, a write based on an old object silently reverts whatever has changed since.",
			Lesson:  "03-workqueue/more/stale-reads.md",
			judge:   conflictsLoseNothing,
		},
		{
			Name:    "bad-input",
			Promise: "input that the operator must refuse changes no objects, and doesn't make the operator retry in a tight loop",
			Why:     "Bad input stays until a person corrects it. An operator that retries as fast as it can keeps the API server busy until then.",
			Lesson:  "03-workqueue/README.md",
			requires: func(j *Judge) string {
				if len(j.config.BadInput) == 0 {
					return "judge.yaml has no badInput"
				}
				return ""
			},
			judge: badInputIsRefused,
		},
	}
}

const (
	foreignKey       = "judge.example.com/foreign"
	foreignFinalizer = "judge.example.com/finalizer"
	sidecar          = "judge-sidecar"
)

func foreignFieldsSurvive(b *Bench) {
	sample := b.settles("shared")[0]
	type foreign struct {
		what string
		in   func(*unstructured.Unstructured) bool
	}
	for _, object := range b.owned(sample) {
		began := time.Now()
		all := []foreign{
			{"label", func(o *unstructured.Unstructured) bool { return o.GetLabels()[foreignKey] == "yes" }},
			{"annotation", func(o *unstructured.Unstructured) bool { return o.GetAnnotations()[foreignKey] == "yes" }},
			{"finalizer", func(o *unstructured.Unstructured) bool { return slices.Contains(o.GetFinalizers(), foreignFinalizer) }},
		}
		changed := b.patch(object, fmt.Sprintf(`{"metadata":{"labels":{%[1]q:"yes"},"annotations":{%[1]q:"yes"},"finalizers":%[2]s}}`,
			foreignKey, asJSON(append(object.GetFinalizers(), foreignFinalizer))))
		if b.addSidecar(changed) {
			all = append(all, foreign{"sidecar", hasSidecar})
		}
		b.settle(time.Now().Add(b.config.Limits.Converge.Duration))
		b.provoke(sample, changed)
		for _, f := range all {
			now := b.now(object)
			if now == nil {
				b.find(Error, b.evidence(began, object), "a %s with somebody else's fields disappears", object.GetKind())
				break
			}
			if !f.in(now) {
				b.find(Error, b.evidence(began, object), "a %s loses the %s that somebody else added", object.GetKind(), f.what)
			}
		}
	}
}

func asJSON(value any) string {
	content, _ := json.Marshal(value) // strings and maps can't fail
	return string(content)
}

// addSidecar adds a container to the Pods of an object, if it has a template for them.
func (b *Bench) addSidecar(object *unstructured.Unstructured) bool {
	containers, found, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
	if !found || len(containers) == 0 {
		return false
	}
	first, _ := containers[0].(map[string]any)
	b.step("add a sidecar to %s", title(object))
	patch := asJSON([]map[string]any{{"op": "add", "path": "/spec/template/spec/containers/-", "value": map[string]any{"name": sidecar, "image": first["image"]}}})
	_, err := b.tryPatch(object, types.JSONPatchType, []byte(patch))
	return err == nil
}

func hasSidecar(object *unstructured.Unstructured) bool {
	containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
	return slices.ContainsFunc(containers, func(c any) bool { return c.(map[string]any)["name"] == sidecar })
}

// provoke makes the operator write an owned object: by a mutation, and by drift.
func (b *Bench) provoke(sample, object *unstructured.Unstructured) {
	if len(b.mutations) > 0 {
		m := b.mutations[0]
		b.patch(sample, string(m.Patch))
		if err := b.within(b.config.Limits.Converge.Duration, func() error { return b.hasEffect(sample, m) }); err != nil {
			b.unable("%v: see the check mutations", err)
		}
	}
	now := b.now(object)
	if now == nil {
		return
	}
	if drifts := b.drifts(now); len(drifts) > 0 {
		b.step("change %s of %s by hand", drifts[0].path, title(object))
		if _, err := b.tryPatch(object, drifts[0].patchType, drifts[0].patch); err != nil {
			b.step("%v", err) // the operator has just deleted or changed it
		}
	}
	b.pass(settled)
	if err := b.settle(time.Now().Add(b.config.Limits.Converge.Duration)); err != nil {
		b.unable("%v: see the check converge", err)
	}
}

func takenNameIsLeftAlone(b *Bench) {
	sample := b.settles("taken")[0]
	owned := b.owned(sample)
	b.replicas[0].Stop()
	b.remove(sample, metav1.DeletePropagationBackground)
	for _, object := range owned {
		b.remove(object, metav1.DeletePropagationBackground)
	}
	err := b.within(b.config.Limits.Converge.Duration, func() error {
		if b.now(sample) != nil {
			b.forceDelete(sample)
			return errors.New("the sample isn't gone")
		}
		return b.areGone(owned...)
	})
	if err != nil {
		b.unable("%v", err)
	}
	b.pass(settled) // the kubelet's last delete of a Pod names no UID, and could meet the new one
	theirs := b.takeNames(owned)
	b.pass(settled) // the scheduler changes new Pods
	for i := range theirs {
		if theirs[i] = b.now(theirs[i]); theirs[i] == nil {
			b.unable("an object that the judge has created is gone, although the operator wasn't running")
		}
	}
	b.step("somebody else's objects have the names now: create the sample again")
	b.start()
	began := time.Now()
	b.create(b.sample("taken"))
	failed := b.catchesUp("free")
	for _, before := range theirs {
		now := b.now(before)
		switch {
		case now == nil:
			b.find(Error, b.evidence(began, before), "somebody else's %s is deleted", before.GetKind())
		case len(now.GetOwnerReferences()) > len(before.GetOwnerReferences()):
			b.find(Error, b.evidence(began, before), "somebody else's %s gets an owner reference, and would be deleted together with that owner", before.GetKind())
		case asJSON(now.Object["spec"]) != asJSON(before.Object["spec"]) || asJSON(now.Object["data"]) != asJSON(before.Object["data"]):
			b.find(Error, b.evidence(began, before), "somebody else's %s is changed", before.GetKind())
		}
	}
	if failed != nil && len(b.result.Findings) == 0 {
		b.unable("a sample whose name is free doesn't become ready either: %v", failed)
	}
}

// takeNames creates objects of somebody else with the names of these, which are being deleted.
func (b *Bench) takeNames(owned []*unstructured.Unstructured) (theirs []*unstructured.Unstructured) {
	for _, object := range owned {
		copied := b.theirs(object)
		err := b.within(b.config.Limits.Converge.Duration, func() error {
			created, err := b.api(copied).Create(b.Context(), copied, metav1.CreateOptions{FieldManager: "somebody"})
			if err == nil {
				b.made[created.GetUID()] = true
				theirs = append(theirs, created)
			}
			return err
		})
		if err != nil {
			b.unable("%s can't be created by hand: %v", title(object), err)
		}
	}
	return theirs
}

// theirs returns an object with the same name that nobody's controller has made.
func (b *Bench) theirs(object *unstructured.Unstructured) *unstructured.Unstructured {
	object = object.DeepCopy()
	name := object.GetName()
	delete(object.Object, "status")
	object.Object["metadata"] = map[string]any{"name": name, "namespace": b.namespace, "labels": map[string]any{"owner": "somebody"}}
	for _, assigned := range []string{"clusterIP", "clusterIPs", "nodeName"} {
		unstructured.RemoveNestedField(object.Object, "spec", assigned)
	}
	return object
}

func (b *Bench) forceDelete(object *unstructured.Unstructured) {
	_, err := b.api(object).Patch(b.Context(), object.GetName(), types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	b.must(ignoreNotFound(err))
}

// conflictsLoseNothing changes owned objects while the operator's watches are late, and makes it
// write at the same time.
func conflictsLoseNothing(b *Bench) {
	sample := b.settles("conflict")[0]
	owned := b.owned(sample)
	fault := b.replicas[0].proxy.Delay(2 * time.Second)
	b.step("events reach the operator 2s late")
	began := time.Now()
	const rounds = 3
	for round := range rounds {
		for _, object := range owned {
			b.patch(object, fmt.Sprintf(`{"metadata":{"annotations":{"judge.example.com/round-%d":"yes"}}}`, round))
		}
		if len(b.mutations) > 0 {
			m := b.mutations[round%len(b.mutations)]
			b.patch(sample, string(m.Patch))
		}
		b.pass(700 * time.Millisecond)
	}
	b.pass(2 * time.Second)
	fault.Stop()
	b.awaits(sample)
	for _, object := range owned {
		for round := range rounds {
			if disappears(b.history.of(object.GetUID()), fmt.Sprintf("judge.example.com/round-%d", round)) {
				b.find(Error, b.evidence(began, object), "an annotation that somebody else added to a %s while the operator's events were late is lost", object.GetKind())
				break
			}
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

// An operator loops if it sends more than loop requests per second. On a slow machine it gets fewer
// answers, so it also loops if it never pauses for this long. One that retries with a backoff does.
const (
	loop  = 10
	pause = time.Second / 2
)

// longestPause returns the longest time between two of these things: the start, the answer to a
// request, and the end. The requests are in the order of their answers.
func longestPause(start time.Time, requests []audit.Request, end time.Time) (longest time.Duration) {
	for _, request := range requests {
		longest = max(longest, request.Answered.Sub(start))
		start = request.Answered
	}
	return max(longest, end.Sub(start))
}

func badInputIsRefused(b *Bench) {
	accepted := 0
	for i, bad := range b.config.BadInput {
		name := fmt.Sprintf("bad-%d", i)
		if i == 0 {
			b.start()
		}
		sample := b.create(b.sample(name))
		b.awaits(sample)
		before, used := b.owned(sample), b.usage(b.replicas[0])
		began := time.Now()
		b.step("patch %s: %s", title(sample), bad.Patch)
		_, err := b.tryPatch(sample, types.MergePatchType, bad.Patch)
		if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) {
			continue // the API server or a webhook refuses it, which is best
		}
		b.must(err)
		accepted++
		_ = b.within(b.config.Limits.Quiet.Duration/2, func() error { // it may need no request for that
			if len(b.since(began, func(audit.Request) bool { return true })) == 0 {
				return errors.New("the operator hasn't noticed the bad input")
			}
			return nil
		})
		noticed := time.Now()
		b.pass(b.config.Limits.Quiet.Duration / 2)
		ended := time.Now()
		watched := ended.Sub(noticed)
		requests := b.since(noticed, func(audit.Request) bool { return true })
		if float64(len(requests)) > loop*watched.Seconds() || longestPause(noticed, requests, ended) < min(pause, watched/4) {
			b.find(Error, seen(requests), "the bad input %q makes the operator send %d requests in %v", bad.Name, len(requests), watched.Round(time.Second))
		}
		if crashes := b.crashes(); len(crashes) == 0 {
			if cpu := b.usage(b.replicas[0]).cpu - used.cpu; cpu > time.Since(began)/2 {
				b.find(Error, []Evidence{{At: time.Now(), Text: fmt.Sprintf("%v of CPU time in %v", cpu.Round(time.Millisecond), watched.Round(time.Millisecond))}},
					"the bad input %q keeps a processor busy", bad.Name)
			}
		}
		for _, object := range before {
			now := b.now(object)
			if now == nil || asJSON(now.Object["spec"]) != asJSON(object.Object["spec"]) {
				b.find(Error, b.evidence(began, object), "the bad input %q changes or deletes a %s", bad.Name, object.GetKind())
			}
		}
		b.foundCrashes()
	}
	if accepted == 0 {
		b.step("the API server refuses all of badInput, so the operator never sees it")
	}
}
