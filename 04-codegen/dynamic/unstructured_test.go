// What you lose without Go types: the compiler, the zero values, one type for each number, and
// memory. The page more/dynamic.md refers to these tests.

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

func TestWithoutTypes(t *testing.T) {
	for sentence, test := range map[string]struct {
		load string // default: 1
		do   func(object map[string]any) any
		want string
	}{
		"a misspelled field is a missing field, and no error": {
			do: func(object map[string]any) any {
				replicas, found, err := unstructured.NestedInt64(object, "spec", "replica")
				return fmt.Sprint(replicas, " ", found, " ", err)
			},
			want: "0 false <nil>",
		},
		"a whole number is an int64": {
			do:   typeOfLoad,
			want: "int64",
		},
		"the same field with a fraction is a float64": {
			load: "1.5",
			do:   typeOfLoad,
			want: "float64",
		},
		"so NestedFloat64 fails for a whole number": {
			do: func(object map[string]any) any {
				_, _, err := unstructured.NestedFloat64(object, "spec", "load")
				return err
			},
			want: ".spec.load accessor error: 1 is of the type int64, expected float64",
		},
		"NestedNumberAsFloat64 accepts both": {
			do: func(object map[string]any) any {
				load, _, err := unstructured.NestedNumberAsFloat64(object, "spec", "load")
				return fmt.Sprint(load, " ", err)
			},
			want: "1 <nil>",
		},
		"an int panics": {
			do: func(object map[string]any) (panicked any) {
				defer func() { panicked = recover() }()
				return unstructured.SetNestedField(object, 3, "spec", "replicas")
			},
			want: "cannot deep copy int",
		},
		"a missing map is created when a field in it is set": {
			do: func(object map[string]any) any {
				must(t, unstructured.SetNestedField(object, "blue", "metadata", "labels", "team"))
				return object["metadata"]
			},
			want: "map[labels:map[team:blue]]",
		},
		"with a Go type, the missing map panics": {
			do: func(map[string]any) (panicked any) {
				defer func() { panicked = recover() }()
				var deployment appsv1.Deployment
				deployment.Labels["team"] = "blue"
				return nil
			},
			want: "assignment to entry in nil map",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			// The dynamic client decodes objects with this package.
			var object map[string]any
			must(t, utiljson.Unmarshal([]byte(`{"spec":{"load":`+cmp.Or(test.load, "1")+`}}`), &object))
			if got := fmt.Sprint(test.do(object)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func typeOfLoad(object map[string]any) any {
	load, _, _ := unstructured.NestedFieldNoCopy(object, "spec", "load")
	return fmt.Sprintf("%T", load)
}

// An informer's cache has one decoded object for each object on the server. A struct has its
// fields' names in the program, once. A map has them in each object.
func TestMemoryOfACache(t *testing.T) {
	manifest, err := os.ReadFile("../testdata/deployment.yaml")
	must(t, err)
	text, err := yaml.YAMLToJSON(manifest)
	must(t, err)

	typed := heapOf(t, func() any {
		deployment := &appsv1.Deployment{}
		must(t, json.Unmarshal(text, deployment))
		return deployment
	})
	maps := heapOf(t, func() any {
		object := &unstructured.Unstructured{}
		must(t, object.UnmarshalJSON(text))
		return object
	})

	t.Logf("a Deployment of %d bytes of JSON takes %d bytes as a struct, and %d as a map", len(text), typed, maps)
	if maps < typed {
		t.Errorf("a map takes less memory (%d bytes) than a struct (%d bytes)", maps, typed)
	}
}

// heapOf returns the bytes that an object needs on the heap, from 1,000 of them.
func heapOf(t *testing.T, newObject func() any) uint64 {
	t.Helper()
	const count = 1000
	objects := make([]any, count)
	before := heap()
	for i := range objects {
		objects[i] = newObject()
	}
	after := heap()
	runtime.KeepAlive(objects)
	return (after - before) / count
}

// heap returns the size of all objects that are still in use.
func heap() uint64 {
	runtime.GC()
	runtime.GC() // the first one may only have queued finalizers
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
