// What client-go needs for every type: deep copies, and a scheme that maps kinds to Go types. In
// chapter 04, this is generated.

package main

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// addToScheme adds this package's types to scheme.
func addToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(groupVersion, &TDSet{}, &TDSetList{})
	metav1.AddToGroupVersion(scheme, groupVersion)
	return nil
}

// DeepCopy returns a copy that shares nothing with t.
func (t *TDSet) DeepCopy() *TDSet {
	out := *t
	out.ObjectMeta = *t.ObjectMeta.DeepCopy()
	if t.Spec.Service != nil {
		out.Spec.Service = new(*t.Spec.Service)
	}
	out.Spec.SchedulingConfig = slices.Clone(t.Spec.SchedulingConfig)
	out.Status.Conditions = slices.Clone(t.Status.Conditions) // their fields are plain values
	return &out
}

// DeepCopyObject is DeepCopy for callers that don't know the type.
func (t *TDSet) DeepCopyObject() runtime.Object { return t.DeepCopy() }

// DeepCopyObject copies the list and every TDSet in it.
func (l *TDSetList) DeepCopyObject() runtime.Object {
	out := &TDSetList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy()}
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopy())
	}
	return out
}
