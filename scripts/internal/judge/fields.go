package judge

// The fields of an object that the operator has set, and changes of them.

import (
	"encoding/base64"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"example.com/operators/scripts/internal/audit"
)

// leaf is a scalar in an object. Its path has the keys of maps and the indices of lists.
type leaf struct {
	path  []any
	value any
}

// leaves returns all scalars of a value that is at this path, the highest first.
func leaves(value any, path ...any) (all []leaf) {
	below := func(value any, step any) { all = append(all, leaves(value, append(slices.Clone(path), step)...)...) }
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			below(value[key], key)
		}
	case []any:
		for i, item := range value {
			below(item, i)
		}
	case nil:
	default:
		all = append(all, leaf{path, value})
	}
	slices.SortStableFunc(all, func(a, b leaf) int { return len(a.path) - len(b.path) })
	return all
}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// String returns the path as CEL has it: spec.containers[0].image.
func (l leaf) String() (text string) {
	for _, step := range l.path {
		if key, isKey := step.(string); !isKey {
			text += fmt.Sprintf("[%d]", step)
		} else if identifier.MatchString(key) {
			text += "." + key
		} else {
			text += fmt.Sprintf("[%q]", key)
		}
	}
	return strings.TrimPrefix(text, ".")
}

// pointer returns the path as a JSON patch has it: /spec/containers/0/image.
func (l leaf) pointer() (text string) {
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	for _, step := range l.path {
		text += "/" + escape.Replace(fmt.Sprint(step))
	}
	return text
}

// in returns the value at this path in an object, or nil.
func (l leaf) in(object *unstructured.Unstructured) any {
	for _, other := range leaves(object.Object) {
		if slices.Equal(other.path, l.path) {
			return other.value
		}
	}
	return nil
}

// drift is a change of one field.
type drift struct {
	leaf
	was, becomes any
	patch        string // JSON patch
}

// mostDrifts is how many fields of an object the judge changes.
const mostDrifts = 3

// drifts returns changes of some of the fields that the operator has set: those highest in the object,
// but only one of each map, such as a label, the replicas and an image. The API server accepts each of
// them.
func (s *scenario) drifts(object *unstructured.Unstructured) (drifts []drift) {
	changed := map[string]bool{}
	for _, field := range leaves(s.wanted(object)) {
		parent := leaf{path: field.path[:len(field.path)-1]}.pointer()
		if len(drifts) == mostDrifts || changed[parent] || !isContent(field) {
			continue
		}
		if d, ok := s.driftOf(object, field); ok {
			drifts = append(drifts, d)
			changed[parent] = true
		}
	}
	return drifts
}

// wanted returns the object as the operator has sent it first.
func (s *scenario) wanted(object *unstructured.Unstructured) (fields map[string]any) {
	for _, write := range s.requests() {
		isFirst := (write.Verb == "create" || write.Verb == "patch") && write.Code < 300
		if !isFirst || strings.Contains(write.Resource, "/") || s.distance(write, object) > 0 {
			continue
		}
		if yaml.Unmarshal([]byte(audit.Readable(write.Body)), &fields) == nil {
			return fields
		}
	}
	return nil
}

// changes returns the fields of an object's content that differ, sorted, such as spec.replicas.
func changes(before, after *unstructured.Unstructured) (texts []string) {
	for _, field := range slices.Concat(leaves(before.Object), leaves(after.Object)) {
		if isContent(field) && fmt.Sprint(field.in(before)) != fmt.Sprint(field.in(after)) {
			texts = append(texts, field.String())
		}
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

// isContent reports whether a field is part of what the object is for.
func isContent(field leaf) bool {
	switch field.path[0] {
	case "metadata":
		return len(field.path) > 2 && field.path[1] == "labels"
	case "status", "apiVersion", "kind":
		return false
	}
	return true
}

// driftOf returns a change of that field that the API server accepts.
func (s *scenario) driftOf(object *unstructured.Unstructured, field leaf) (d drift, ok bool) {
	was := field.in(object)
	dryRun := metav1.PatchOptions{FieldManager: manager, DryRun: []string{metav1.DryRunAll}}
	candidates := others(was)
	if text, isText := was.(string); isText && object.GetKind() == "Secret" && field.path[0] == "data" {
		candidates = []any{base64.StdEncoding.EncodeToString([]byte(text))}
	}
	for _, other := range candidates {
		d = drift{field, was, other, asJSON([]map[string]any{
			{"op": "test", "path": field.pointer(), "value": was},
			{"op": "replace", "path": field.pointer(), "value": other},
		})}
		result, err := s.api(object).Patch(s.ctx, object.GetName(), types.JSONPatchType, []byte(d.patch), dryRun)
		if err == nil && fmt.Sprint(field.in(result)) == fmt.Sprint(other) {
			return d, true
		} // otherwise it is immutable, or invalid
	}
	return d, false
}

// others returns values that differ from this one. It returns none if it isn't a scalar.
func others(was any) []any {
	switch was := was.(type) {
	case int64:
		return []any{was + 1, was - 1}
	case float64:
		return []any{was + 1}
	case bool:
		return []any{!was}
	case string:
		return []any{was + "-2"}
	}
	return nil
}
