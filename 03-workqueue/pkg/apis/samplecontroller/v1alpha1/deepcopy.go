// Deep copies, which client-go asks of every type (runtime.Object). A field with a pointer, slice or map in it that is
// forgotten here is shared between copies: chapter 04 generates this file.

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
)

// DeepCopy returns a copy that shares nothing with f.
func (f *Foo) DeepCopy() *Foo {
	if f == nil {
		return nil
	}
	out := &Foo{
		TypeMeta:   f.TypeMeta,
		ObjectMeta: *f.ObjectMeta.DeepCopy(),
		Spec:       f.Spec,
		Status:     f.Status,
	}
	if f.Spec.Replicas != nil {
		out.Spec.Replicas = ptr.To(*f.Spec.Replicas)
	}
	if f.Status.Conditions != nil {
		out.Status.Conditions = make([]metav1.Condition, len(f.Status.Conditions))
		for i := range f.Status.Conditions {
			f.Status.Conditions[i].DeepCopyInto(&out.Status.Conditions[i])
		}
	}
	return out
}

// DeepCopyObject is DeepCopy for those who don't know the type.
func (f *Foo) DeepCopyObject() runtime.Object { return f.DeepCopy() }

// DeepCopyObject copies the list and every Foo in it.
func (l *FooList) DeepCopyObject() runtime.Object {
	out := &FooList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy()}
	if l.Items != nil {
		out.Items = make([]Foo, len(l.Items))
		for i := range l.Items {
			out.Items[i] = *l.Items[i].DeepCopy()
		}
	}
	return out
}
