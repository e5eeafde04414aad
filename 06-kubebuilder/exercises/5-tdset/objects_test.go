//go:build check || solution

// The tests' TDSets: the example, with changes.

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// change changes the spec of the example.
type change func(spec map[string]any)

// tdset returns the TDSet in manifests/tdset.yaml, as JSON decodes it, with changes.
func tdset(change change) map[string]any {
	text, err := os.ReadFile("manifests/tdset.yaml")
	if err != nil {
		panic(err)
	}
	inJSON, err := yaml.YAMLToJSON(text)
	if err != nil {
		panic(err)
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(inJSON); err != nil {
		panic(err)
	}
	if change != nil {
		change(object.Object["spec"].(map[string]any))
	}
	return object.Object
}

// named returns the example with a name of that length.
func named(length int) map[string]any {
	return with(tdset(nil), "metadata", "name", strings.Repeat("n", length))
}

// with returns a copy of an object with another value for a field of its spec or metadata.
func with(object map[string]any, part, key string, value any) map[string]any {
	object = runtime.DeepCopyJSON(object)
	object[part].(map[string]any)[key] = value
	return object
}

func all(changes ...change) change {
	return func(spec map[string]any) {
		for _, change := range changes {
			change(spec)
		}
	}
}

func set(value any, path ...string) change {
	if number, ok := value.(int); ok {
		value = int64(number)
	}
	return func(spec map[string]any) {
		if err := unstructured.SetNestedField(spec, value, path...); err != nil {
			panic(err)
		}
	}
}

func drop(path ...string) change {
	return func(spec map[string]any) { unstructured.RemoveNestedField(spec, path...) }
}

// inWindow changes a field of the first window, or removes it.
func inWindow(key string, value any) change {
	return func(spec map[string]any) {
		window := spec["schedulingConfig"].([]any)[0].(map[string]any)
		switch value := value.(type) {
		case nil:
			delete(window, key)
		case int:
			window[key] = int64(value)
		default:
			window[key] = value
		}
	}
}

// windows replaces the example's windows. They have the format that parse reads.
func windows(written ...string) change {
	return func(spec map[string]any) {
		list := []any{}
		for _, w := range parse(written...) {
			list = append(list, map[string]any{"startTime": int64(w.StartTime), "endTime": int64(w.EndTime), "replica": int64(w.Replica)})
		}
		spec["schedulingConfig"] = list
	}
}

// parse reads windows such as 9-17, and gives each one replica.
func parse(written ...string) (windows []Scheduling) {
	for _, text := range written {
		window := Scheduling{Replica: 1}
		if _, err := fmt.Sscanf(text, "%d-%d", &window.StartTime, &window.EndTime); err != nil {
			panic(err)
		}
		windows = append(windows, window)
	}
	return windows
}

// hours returns that many windows of one hour each.
func hours(number int) (written []string) {
	for hour := range number {
		written = append(written, fmt.Sprintf("%d-%d", hour, hour+1))
	}
	return written
}

func raw(t *testing.T, object map[string]any) runtime.RawExtension {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return runtime.RawExtension{Raw: text}
}
