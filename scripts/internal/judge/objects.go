package judge

// The objects of a scenario: what the judge creates and changes, and what the operator owns.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"example.com/operators/scripts/internal/operator"
)

// api returns the API of the object's resource in its namespace, which is the scenario's by default.
func (s *scenario) api(object *unstructured.Unstructured) dynamic.ResourceInterface {
	mapping := s.mapping(object)
	if !hasNamespace(mapping) {
		return s.dynamic.Resource(mapping.Resource)
	}
	return s.dynamic.Resource(mapping.Resource).Namespace(cmp.Or(object.GetNamespace(), s.namespace))
}

func (s *scenario) mapping(object *unstructured.Unstructured) *meta.RESTMapping {
	mapping, err := s.mappingOf(object.GroupVersionKind())
	s.must(err)
	return mapping
}

// sample returns the first sample with another name, which isn't created yet. While the operator's
// webhooks aren't called, it already has the spec that they would give it.
func (s *scenario) sample(name string) *unstructured.Unstructured {
	sample := s.samples[0].DeepCopy()
	if defaulted := s.defaulted.Load(); defaulted != nil && s.installedAt == "" {
		var object unstructured.Unstructured
		s.must(object.UnmarshalJSON([]byte(*defaulted)))
		sample.Object["spec"] = object.Object["spec"]
	}
	return s.renamed(sample, name)
}

// renamed returns a copy of a sample in the scenario's namespace, which replaces {namespace} in it. A
// sample that has no namespace gets a name that no other scenario uses.
func (s *scenario) renamed(original *unstructured.Unstructured, name string) *unstructured.Unstructured {
	content := strings.ReplaceAll(asJSON(original.Object), "{namespace}", s.namespace)
	sample := &unstructured.Unstructured{}
	s.must(sample.UnmarshalJSON([]byte(content)))
	if s.isClusterScoped {
		prefix := s.namespace + "-"
		name = prefix + strings.TrimPrefix(name, prefix)
		name = name[:min(len(name), len(longName))]
	} else {
		sample.SetNamespace(s.namespace)
	}
	sample.SetName(name)
	for _, field := range s.config.Unique {
		s.must(unstructured.SetNestedField(sample.Object, name, strings.Split(field, ".")...))
	}
	return sample
}

// create creates an object of the judge's.
func (s *scenario) create(object *unstructured.Unstructured) *unstructured.Unstructured {
	began := time.Now()
	created, err := s.api(object).Create(s.ctx, object, metav1.CreateOptions{FieldManager: manager})
	s.must(err)
	s.wrote(began, "create "+title(object), created, created.GetResourceVersion())
	if s.installedAt != "" && object.GroupVersionKind() == s.samples[0].GroupVersionKind() {
		anywhere := strings.ReplaceAll(asJSON(created.Object), s.namespace, "{namespace}")
		s.defaulted.CompareAndSwap(nil, &anywhere)
	}
	s.made[created.GetUID()] = true
	s.awaitSeen(created)
	return created
}

// wouldBe returns an object as the API server would store it.
func (s *scenario) wouldBe(object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	dryRun := metav1.CreateOptions{FieldManager: manager, DryRun: []string{metav1.DryRunAll}}
	return s.api(object).Create(s.ctx, object, dryRun)
}

// patch changes an object by a JSON merge patch.
func (s *scenario) patch(object *unstructured.Unstructured, patch string) *unstructured.Unstructured {
	patched, err := s.tryPatch(object, types.MergePatchType, patch)
	s.must(err)
	return patched
}

// tryPatch changes an object, and waits until the history has the change.
func (s *scenario) tryPatch(
	object *unstructured.Unstructured, kind types.PatchType, patch string,
) (*unstructured.Unstructured, error) {
	began, options := time.Now(), metav1.PatchOptions{FieldManager: manager}
	patched, err := s.api(object).Patch(s.ctx, object.GetName(), kind, []byte(patch), options)
	if err != nil {
		s.step("patch %s: %s: %v", title(object), patch, err)
		return nil, err
	}
	s.wrote(began, fmt.Sprintf("patch %s: %s", title(object), patch), patched, patched.GetResourceVersion())
	s.awaitSeen(patched)
	return patched, nil
}

// annotate adds an annotation of somebody else to an object.
func (s *scenario) annotate(object *unstructured.Unstructured, key string) {
	s.patch(object, asJSON(map[string]any{"metadata": map[string]any{"annotations": map[string]any{key: "yes"}}}))
}

// setFinalizers replaces the finalizers of an object that may be gone by now.
func (s *scenario) setFinalizers(object *unstructured.Unstructured, finalizers []string) {
	patch := asJSON(map[string]any{"metadata": map[string]any{"finalizers": finalizers}})
	name, options := object.GetName(), metav1.PatchOptions{}
	_, err := s.api(object).Patch(s.ctx, name, types.MergePatchType, []byte(patch), options)
	s.must(operator.IgnoreNotFound(err))
}

// hold lets a finalizer keep an object after its deletion, until release.
func (s *scenario) hold(object *unstructured.Unstructured) {
	s.step("a finalizer holds %s", title(object))
	s.setFinalizers(object, append(s.history.now(object).GetFinalizers(), foreignFinalizer))
}

func (s *scenario) release(object *unstructured.Unstructured) {
	if now := s.history.now(object); now != nil {
		s.step("let the deletion of %s go on", title(object))
		isOurs := func(finalizer string) bool { return finalizer == foreignFinalizer }
		s.setFinalizers(now, slices.DeleteFunc(now.GetFinalizers(), isOurs))
	}
}

// awaitSeen waits until the history has this version of an object, or a newer one. Otherwise, a check
// could take the version before it for the result of a change.
func (s *scenario) awaitSeen(object *unstructured.Unstructured) {
	isNewEnough := func(v snapshot) bool {
		order, err := resourceversion.CompareResourceVersion(v.object.GetResourceVersion(), object.GetResourceVersion())
		return err == nil && order >= 0
	}
	s.must(s.soon(func() error {
		if !slices.ContainsFunc(s.history.of(object), isNewEnough) {
			return fmt.Errorf("the judge's watch hasn't shown %s, version %s", title(object), object.GetResourceVersion())
		}
		return nil
	}))
}

// remove deletes objects.
func (s *scenario) remove(how metav1.DeletionPropagation, objects ...*unstructured.Unstructured) {
	for _, object := range objects {
		began := time.Now()
		err := s.api(object).Delete(s.ctx, object.GetName(), metav1.DeleteOptions{PropagationPolicy: &how})
		s.must(operator.IgnoreNotFound(err))
		s.wrote(began, fmt.Sprintf("delete %s (%s)", title(object), how), object, "")
	}
}

// wrote records a write of the judge's, with the version in the answer, or "" after a deletion.
func (s *scenario) wrote(began time.Time, text string, object *unstructured.Unstructured, version string) {
	s.page.Wrote(began, text, s.mapping(object).Resource.Resource, object.GetNamespace(), object.GetName(), version)
}

// areGone returns nil if none of the objects exists.
func (s *scenario) areGone(objects ...*unstructured.Unstructured) error {
	for _, object := range objects {
		if s.history.now(object) != nil {
			return fmt.Errorf("%s is still there", title(object))
		}
	}
	return nil
}

// inEachNamespace is what Kubernetes and the judge create in each namespace.
var inEachNamespace = []string{
	"ConfigMap kube-root-ca.crt", "ServiceAccount default", "ServiceAccount " + operator.ServiceAccount,
}

// owned returns the objects that the operator has created for a sample: those that are controlled
// by it, and, if there is only one sample, also those without any controller. Objects of other
// controllers, such as a Deployment's ReplicaSet, aren't its own.
func (s *scenario) owned(sample *unstructured.Unstructured) []*unstructured.Unstructured {
	return s.history.objects(func(object *unstructured.Unstructured) bool { return s.owns(sample, object) })
}

func (s *scenario) owns(sample, object *unstructured.Unstructured) bool {
	isJudges := s.made[object.GetUID()] || s.isAnothers(object.GetNamespace())
	if isJudges || !s.isOwnedKind(object) || slices.Contains(inEachNamespace, title(object)) {
		return false
	}
	controller := metav1.GetControllerOf(object)
	if controller == nil {
		samples := s.history.objects(func(o *unstructured.Unstructured) bool {
			return o.GroupVersionKind().GroupKind() == sample.GroupVersionKind().GroupKind()
		})
		return len(samples) == 1 || refersTo(object, sample)
	}
	return controller.UID == sample.GetUID()
}

// created returns what the operator has created for a sample since then.
func (s *scenario) created(since time.Time, sample *unstructured.Unstructured) []snapshot {
	return slices.DeleteFunc(s.history.since(since), func(v snapshot) bool {
		return v.event != watch.Added || !s.owns(sample, v.object)
	})
}

// nowOrReplaced returns an object as it is now, or what has replaced it: not every field of an object,
// such as a Pod, can be changed back.
func (s *scenario) nowOrReplaced(sample, object *unstructured.Unstructured) *unstructured.Unstructured {
	if now := s.history.now(object); now != nil {
		return now
	}
	for _, other := range s.owned(sample) {
		if other.GetKind() == object.GetKind() && other.GetName() == object.GetName() {
			return other
		}
	}
	return nil
}

func (s *scenario) isOwnedKind(object *unstructured.Unstructured) bool {
	return slices.ContainsFunc(s.config.Owns, func(kind Kind) bool {
		return kind.gvk().GroupKind() == object.GroupVersionKind().GroupKind()
	})
}

func refersTo(object, owner *unstructured.Unstructured) bool {
	isOwner := func(r metav1.OwnerReference) bool { return r.UID == owner.GetUID() }
	return slices.ContainsFunc(object.GetOwnerReferences(), isOwner)
}

// counts returns how many objects of each kind a sample owns.
func (s *scenario) counts(sample *unstructured.Unstructured) map[string]int {
	counts := map[string]int{}
	for _, object := range s.owned(sample) {
		counts[object.GetKind()]++
	}
	return counts
}

// interfereOnce changes one field that the operator owns. The function that it returns returns nil
// when that is reverted.
func (s *scenario) interfereOnce(sample *unstructured.Unstructured) (reverted func() error) {
	for _, object := range s.owned(sample) {
		for _, d := range s.drifts(object) {
			if reverted := s.interfere(sample, object, d); reverted != nil {
				return reverted
			}
		}
	}
	return func() error { return nil }
}

// interfere changes a field of an object that the sample owns, and returns a function that returns
// nil when the operator has reverted that. It returns nil if the object has just changed.
func (s *scenario) interfere(sample, object *unstructured.Unstructured, d drift) (reverted func() error) {
	if _, err := s.tryPatch(object, types.JSONPatchType, d.patch); err != nil {
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

// undo changes a field back that the operator hasn't.
func (s *scenario) undo(object *unstructured.Unstructured, d drift) {
	patch := []map[string]any{{"op": "replace", "path": d.pointer(), "value": d.was}}
	_, _ = s.tryPatch(object, types.JSONPatchType, asJSON(patch)) // it may be gone
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
