package judge

// The objects of a scenario: what the judge creates and changes, and what the operator owns.

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
func (s *scenario) of(resource schema.GroupVersionResource) dynamic.ResourceInterface {
	return s.dynamic.Resource(resource).Namespace(s.namespace)
}

// api returns the API of the object's resource in this namespace.
func (s *scenario) api(object *unstructured.Unstructured) dynamic.ResourceInterface {
	return s.of(s.mapping(object).Resource)
}

func (s *scenario) mapping(object *unstructured.Unstructured) *meta.RESTMapping {
	mapping, err := s.mapper.RESTMapping(object.GroupVersionKind().GroupKind(), object.GroupVersionKind().Version)
	s.must(err)
	return mapping
}

// sample returns the first sample with another name, which isn't created yet.
func (s *scenario) sample(name string) *unstructured.Unstructured {
	return s.renamed(s.samples[0], name)
}

func (s *scenario) renamed(sample *unstructured.Unstructured, name string) *unstructured.Unstructured {
	sample = sample.DeepCopy()
	sample.SetName(name)
	sample.SetNamespace(s.namespace)
	for _, field := range s.config.Unique {
		s.must(unstructured.SetNestedField(sample.Object, name, strings.Split(field, ".")...))
	}
	return sample
}

// create creates an object of the judge's.
func (s *scenario) create(object *unstructured.Unstructured) *unstructured.Unstructured {
	s.step("create %s", title(object))
	created, err := s.api(object).Create(s.Context(), object, metav1.CreateOptions{FieldManager: manager})
	s.must(err)
	s.made[created.GetUID()] = true
	s.seen(created)
	return created
}

// patch changes an object by a JSON merge patch.
func (s *scenario) patch(object *unstructured.Unstructured, patch string) *unstructured.Unstructured {
	s.step("patch %s: %s", title(object), patch)
	patched, err := s.tryPatch(object, types.MergePatchType, []byte(patch))
	s.must(err)
	return patched
}

// tryPatch changes an object, and waits until the history has the change.
func (s *scenario) tryPatch(object *unstructured.Unstructured, kind types.PatchType, patch []byte) (*unstructured.Unstructured, error) {
	patched, err := s.api(object).Patch(s.Context(), object.GetName(), kind, patch, metav1.PatchOptions{FieldManager: manager})
	if err == nil {
		s.seen(patched)
	}
	return patched, err
}

// seen waits until the history has this version of an object. Otherwise, a check could take the
// version before it for the result of a change.
func (s *scenario) seen(object *unstructured.Unstructured) {
	s.must(s.within(s.config.Limits.Converge.Duration, func() error {
		if !s.history.has(object) {
			return fmt.Errorf("the judge's watch hasn't shown %s, resourceVersion %s", title(object), object.GetResourceVersion())
		}
		return nil
	}))
}

// remove deletes an object.
func (s *scenario) remove(object *unstructured.Unstructured, how metav1.DeletionPropagation) {
	s.step("delete %s (%s)", title(object), how)
	err := s.api(object).Delete(s.Context(), object.GetName(), metav1.DeleteOptions{PropagationPolicy: &how})
	s.must(ignoreNotFound(err))
}

// now returns an object as it is, or nil if it is gone.
func (s *scenario) now(object *unstructured.Unstructured) *unstructured.Unstructured {
	found := s.history.objects(func(other *unstructured.Unstructured) bool { return other.GetUID() == object.GetUID() })
	if len(found) == 0 {
		return nil
	}
	return found[0]
}

// areGone returns nil if none of the objects exists.
func (s *scenario) areGone(objects ...*unstructured.Unstructured) error {
	for _, object := range objects {
		if s.now(object) != nil {
			return fmt.Errorf("%s is still there", title(object))
		}
	}
	return nil
}

// owned returns the objects that the operator has created for a sample: those that are controlled
// by it, and, if there is only one sample, also those without any controller. Objects of other
// controllers, such as a Deployment's ReplicaSet, aren't its own.
func (s *scenario) owned(sample *unstructured.Unstructured) []*unstructured.Unstructured {
	return s.history.objects(func(object *unstructured.Unstructured) bool {
		if s.made[object.GetUID()] || !s.isOwnedKind(object) || isTheClusters(object) {
			return false
		}
		controller := metav1.GetControllerOf(object)
		if controller == nil {
			return s.samplesHere() == 1 || refersTo(object, sample)
		}
		return controller.UID == sample.GetUID()
	})
}

// nowOrReplaced is now, or if the object is gone, the owned object that has replaced it. Not every
// field of an object can be changed back, so the operator may replace the object, such as a Pod.
func (s *scenario) nowOrReplaced(sample, object *unstructured.Unstructured) *unstructured.Unstructured {
	if now := s.now(object); now != nil {
		return now
	}
	for _, other := range s.owned(sample) {
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

func (s *scenario) samplesHere() (count int) {
	return len(s.history.objects(func(object *unstructured.Unstructured) bool {
		return object.GetKind() == s.samples[0].GetKind() && object.GroupVersionKind().Group == s.samples[0].GroupVersionKind().Group
	}))
}

func (s *scenario) isOwnedKind(object *unstructured.Unstructured) bool {
	return slices.ContainsFunc(s.config.Owns, func(kind metav1.TypeMeta) bool {
		return kind.Kind == object.GetKind() && kind.GroupVersionKind().Group == object.GroupVersionKind().Group
	})
}

func refersTo(object, owner *unstructured.Unstructured) bool {
	return slices.ContainsFunc(object.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == owner.GetUID() })
}
