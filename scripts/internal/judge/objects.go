package judge

// The objects of a bench: what the judge creates and changes, and what the operator owns.

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// of are the objects of that resource in this namespace.
func (b *Bench) of(resource schema.GroupVersionResource) dynamic.ResourceInterface {
	return b.dynamic.Resource(resource).Namespace(b.namespace)
}

// api returns the API of the object's resource in this namespace.
func (b *Bench) api(object *unstructured.Unstructured) dynamic.ResourceInterface {
	return b.of(b.mapping(object).Resource)
}

func (b *Bench) mapping(object *unstructured.Unstructured) *meta.RESTMapping {
	mapping, err := b.mapper.RESTMapping(object.GroupVersionKind().GroupKind(), object.GroupVersionKind().Version)
	b.must(err)
	return mapping
}

// sample returns the first sample with another name, which isn't created yet.
func (b *Bench) sample(name string) *unstructured.Unstructured { return b.renamed(b.samples[0], name) }

func (b *Bench) renamed(sample *unstructured.Unstructured, name string) *unstructured.Unstructured {
	sample = sample.DeepCopy()
	sample.SetName(name)
	sample.SetNamespace(b.namespace)
	for _, field := range b.config.Unique {
		b.must(unstructured.SetNestedField(sample.Object, name, strings.Split(field, ".")...))
	}
	return sample
}

// create creates an object of the judge's.
func (b *Bench) create(object *unstructured.Unstructured) *unstructured.Unstructured {
	b.step("create %s", title(object))
	created, err := b.api(object).Create(b.Context(), object, metav1.CreateOptions{FieldManager: manager})
	b.must(err)
	b.made[created.GetUID()] = true
	b.seen(created)
	return created
}

// patch changes an object by a JSON merge patch.
func (b *Bench) patch(object *unstructured.Unstructured, patch string) *unstructured.Unstructured {
	b.step("patch %s: %s", title(object), patch)
	patched, err := b.tryPatch(object, types.MergePatchType, []byte(patch))
	b.must(err)
	return patched
}

// tryPatch changes an object, and waits until the history has the change.
func (b *Bench) tryPatch(object *unstructured.Unstructured, kind types.PatchType, patch []byte) (*unstructured.Unstructured, error) {
	patched, err := b.api(object).Patch(b.Context(), object.GetName(), kind, patch, metav1.PatchOptions{FieldManager: manager})
	if err == nil {
		b.seen(patched)
	}
	return patched, err
}

// seen waits until the history has this version of an object. Otherwise, a check could take the
// version before it for the result of a change.
func (b *Bench) seen(object *unstructured.Unstructured) {
	b.must(b.within(b.config.Limits.Converge.Duration, func() error {
		if !b.history.has(object) {
			return fmt.Errorf("the judge's watch hasn't shown %s, resourceVersion %s", title(object), object.GetResourceVersion())
		}
		return nil
	}))
}

// remove deletes an object.
func (b *Bench) remove(object *unstructured.Unstructured, how metav1.DeletionPropagation) {
	b.step("delete %s (%s)", title(object), how)
	err := b.api(object).Delete(b.Context(), object.GetName(), metav1.DeleteOptions{PropagationPolicy: &how})
	b.must(ignoreNotFound(err))
}

// now returns an object as it is, or nil if it is gone.
func (b *Bench) now(object *unstructured.Unstructured) *unstructured.Unstructured {
	found := b.history.objects(func(other *unstructured.Unstructured) bool { return other.GetUID() == object.GetUID() })
	if len(found) == 0 {
		return nil
	}
	return found[0]
}

// areGone returns nil if none of the objects exists.
func (b *Bench) areGone(objects ...*unstructured.Unstructured) error {
	for _, object := range objects {
		if b.now(object) != nil {
			return fmt.Errorf("%s is still there", title(object))
		}
	}
	return nil
}

// owned returns the objects that the operator has created for a sample: those that are controlled
// by it, and, if there is only one sample, also those without any controller. Objects of other
// controllers, such as a Deployment's ReplicaSet, aren't its own.
func (b *Bench) owned(sample *unstructured.Unstructured) []*unstructured.Unstructured {
	return b.history.objects(func(object *unstructured.Unstructured) bool {
		if b.made[object.GetUID()] || !b.isOwnedKind(object) || isTheClusters(object) {
			return false
		}
		controller := metav1.GetControllerOf(object)
		if controller == nil {
			return b.samplesHere() == 1 || refersTo(object, sample)
		}
		return controller.UID == sample.GetUID()
	})
}

// nowOrReplaced is now, or if the object is gone, the owned object that has replaced it. Not every
// field of an object can be changed back, so the operator may replace the object, such as a Pod.
func (b *Bench) nowOrReplaced(sample, object *unstructured.Unstructured) *unstructured.Unstructured {
	if now := b.now(object); now != nil {
		return now
	}
	for _, other := range b.owned(sample) {
		if other.GetKind() == object.GetKind() && other.GetName() == object.GetName() {
			return other
		}
	}
	return nil
}

// isTheClusters reports whether Kubernetes itself creates that object in each namespace.
func isTheClusters(object *unstructured.Unstructured) bool {
	return object.GetKind() == "ConfigMap" && object.GetName() == "kube-root-ca.crt" ||
		object.GetKind() == "ServiceAccount" && object.GetName() == "default"
}

func (b *Bench) samplesHere() (count int) {
	return len(b.history.objects(func(object *unstructured.Unstructured) bool {
		return object.GetKind() == b.samples[0].GetKind() && object.GroupVersionKind().Group == b.samples[0].GroupVersionKind().Group
	}))
}

func (b *Bench) isOwnedKind(object *unstructured.Unstructured) bool {
	return slices.ContainsFunc(b.config.Owns, func(kind metav1.TypeMeta) bool {
		return kind.Kind == object.GetKind() && kind.GroupVersionKind().Group == object.GroupVersionKind().Group
	})
}

func refersTo(object, owner *unstructured.Unstructured) bool {
	return slices.ContainsFunc(object.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == owner.GetUID() })
}
