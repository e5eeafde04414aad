package acceptance

// The tests name the fields of schedule.rs/v1, which most programs have. This file rewrites them for
// programs whose API is v2.

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// inVersion returns the same TDSet in the program's version.
func (s *scenario) inVersion(object *unstructured.Unstructured) *unstructured.Unstructured {
	if s.apiVersion != "v2" || object.GetAPIVersion() != "schedule.rs/v1" {
		return object
	}
	object = object.DeepCopy()
	object.SetAPIVersion("schedule.rs/v2")
	if spec, isMap := object.Object["spec"].(map[string]any); isMap {
		toV2(spec)
	}
	return object
}

// patchInVersion returns the same merge patch in the program's version.
func (s *scenario) patchInVersion(patch string) []byte {
	s.Helper()
	if s.apiVersion != "v2" {
		return []byte(patch)
	}
	var object map[string]any
	s.must(json.Unmarshal([]byte(patch), &object))
	if spec, isMap := object["spec"].(map[string]any); isMap {
		toV2(spec)
	}
	content, err := json.Marshal(object)
	s.must(err)
	return content
}

// toV2 rewrites a spec of v1, which may be incomplete or invalid.
func toV2(spec map[string]any) {
	for old, name := range map[string]string{
		"schedulingConfig": "windows", "defaultReplica": "defaultReplicas", "intervalMint": "intervalMinutes",
	} {
		if value, found := spec[old]; found {
			delete(spec, old)
			spec[name] = value
		}
	}
	windows, _ := spec["windows"].([]any)
	for i, window := range windows {
		hours := window.(map[string]any)
		start, end := whole(hours["startTime"]), whole(hours["endTime"])
		windows[i] = map[string]any{
			"name":     fmt.Sprintf("%d-%d", start, end),
			"start":    fmt.Sprintf("%02d:00", start),
			"end":      fmt.Sprintf("%02d:00", end),
			"replicas": hours["replica"],
		}
	}
}

// whole reads a number from YAML, JSON or Go.
func whole(number any) int64 {
	if number, isFloat := number.(float64); isFloat {
		return int64(number)
	}
	return number.(int64)
}
