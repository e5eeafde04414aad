// A deep copy is the same, and shares nothing. Both are asked of every field, so one that is added to a type and forgotten in
// deepcopy.go fails here.

package v1alpha1

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/randfill"
)

func TestDeepCopy(t *testing.T) {
	for name, object := range map[string]runtime.Object{"a Foo": &Foo{}, "a list of Foos": &FooList{}} {
		t.Run(name, func(t *testing.T) {
			randfill.NewWithSeed(1).NilChance(0).NumElements(2, 2).Fill(object)

			got := object.DeepCopyObject()

			if diff := cmp.Diff(object, got); diff != "" {
				t.Errorf("copy (-original +copy):\n%s", diff)
			}
			for _, path := range shared(name, reflect.ValueOf(object), reflect.ValueOf(got)) {
				t.Errorf("original and copy share %s", path)
			}
		})
	}
}

func TestDeepCopyOfNothing(t *testing.T) {
	var foo *Foo
	if got := foo.DeepCopy(); got != nil {
		t.Errorf("a copy of nothing is %v", got)
	}
	if diff := cmp.Diff(&Foo{}, (&Foo{}).DeepCopy()); diff != "" {
		t.Errorf("a copy of an empty Foo (-original +copy):\n%s", diff)
	}
	if diff := cmp.Diff(&FooList{}, (&FooList{}).DeepCopyObject()); diff != "" {
		t.Errorf("a copy of an empty list (-original +copy):\n%s", diff)
	}
}

// shared returns the paths of the pointers, slices and maps in a that are the same in b.
func shared(path string, a, b reflect.Value) []string {
	var found []string
	switch a.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if !a.IsNil() && a.Pointer() == b.Pointer() {
			return []string{path}
		}
	}
	switch a.Kind() {
	case reflect.Pointer:
		return shared(path, a.Elem(), b.Elem())
	case reflect.Slice:
		for i := range a.Len() {
			found = append(found, shared(path+"[]", a.Index(i), b.Index(i))...)
		}
	case reflect.Struct:
		if a.Type() == reflect.TypeFor[time.Time]() {
			return nil // shares its time zone, which nobody changes
		}
		for i := range a.NumField() {
			found = append(found, shared(path+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i))...)
		}
	}
	return found
}
