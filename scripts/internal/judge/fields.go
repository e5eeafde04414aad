package judge

// The fields of an object that the operator owns, according to managedFields.

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
	"sigs.k8s.io/yaml"

	"example.com/operators/scripts/internal/audit"
)

// drift is a change of one field.
type drift struct {
	path         fieldpath.Path
	was, becomes any
	patchType    types.PatchType
	patch        []byte
}

// mostDrifts is how many fields of an object the judge changes.
const mostDrifts = 3

// drifts returns changes of some of the fields that the operator owns. The API server accepts each
// of them.
func (s *scenario) drifts(object *unstructured.Unstructured) (drifts []drift) {
	var paths []fieldpath.Path
	first := s.history.of(object.GetUID())[0].object // only the operator has written this one
	for _, entry := range first.GetManagedFields() {
		if entry.Subresource != "" || entry.FieldsV1 == nil {
			continue
		}
		var set fieldpath.Set
		if set.FromJSON(entry.FieldsV1.GetRawReader()) != nil {
			continue
		}
		set.Leaves().Iterate(func(path fieldpath.Path) {
			if isContent(path) {
				paths = append(paths, path.Copy())
			}
		})
	}
	// With an update, managedFields also names the operator for the API server's defaults. What it
	// wants is in the body of the write that created the object.
	wanted := s.wanted(object)
	paths = slices.DeleteFunc(paths, func(path fieldpath.Path) bool {
		_, _, found := locate(wanted, path)
		return !found
	})
	// The spec's own fields first, and then the deeper ones.
	slices.SortStableFunc(paths, func(a, b fieldpath.Path) int { return len(a) - len(b) })
	for _, path := range paths {
		if d, ok := s.drift(object, path); ok {
			drifts = append(drifts, d)
		}
		if len(drifts) == mostDrifts {
			break
		}
	}
	return drifts
}

// wanted returns the object as the operator has sent it first.
func (s *scenario) wanted(object *unstructured.Unstructured) (fields map[string]any) {
	for _, write := range s.requests() {
		if write.Name != object.GetName() || write.Code >= 300 || write.Verb != "create" && write.Verb != "patch" {
			continue
		}
		if mapping := s.mapping(object); write.Resource != mapping.Resource.Resource || write.Group != mapping.Resource.Group {
			continue
		}
		if yaml.Unmarshal([]byte(audit.Readable(write.Body)), &fields) == nil {
			return fields
		}
	}
	return nil
}

// isContent reports whether a field is part of what the object is for.
func isContent(path fieldpath.Path) bool {
	if len(path) < 2 || path[0].FieldName == nil {
		return false
	}
	switch *path[0].FieldName {
	case "metadata":
		return path[1].FieldName != nil && *path[1].FieldName == "labels" && len(path) > 2
	case "status", "apiVersion", "kind":
		return false
	}
	return true
}

// drift returns a change of that field that the API server accepts.
func (s *scenario) drift(object *unstructured.Unstructured, path fieldpath.Path) (drift, bool) {
	d := drift{path: path, patchType: types.JSONPatchType}
	pointer, was, found := locate(object.Object, path)
	if !found {
		return d, false
	}
	for _, other := range others(was) {
		patch, err := json.Marshal([]map[string]any{
			{"op": "test", "path": pointer, "value": was},
			{"op": "replace", "path": pointer, "value": other},
		})
		if err != nil {
			return d, false
		}
		result, err := s.api(object).Patch(s.Context(), object.GetName(), d.patchType, patch, metav1.PatchOptions{FieldManager: manager, DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			continue // it is immutable, or invalid
		}
		d.was, d.becomes, d.patch = was, other, patch
		if fmt.Sprint(d.valueIn(result)) == fmt.Sprint(other) {
			return d, true
		}
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

func (d drift) valueIn(object *unstructured.Unstructured) any {
	_, at, _ := locate(object.Object, d.path)
	return at
}

// locate returns a field's JSON pointer and value.
func locate(object any, path fieldpath.Path) (pointer string, at any, found bool) {
	at = object
	for _, element := range path {
		switch {
		case element.FieldName != nil:
			fields, isObject := at.(map[string]any)
			if at, found = fields[*element.FieldName]; !isObject || !found {
				return "", nil, false
			}
			pointer += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(*element.FieldName)
		case element.Key != nil:
			list, isList := at.([]any)
			i := slices.IndexFunc(list, func(item any) bool { return hasKey(item, *element.Key) })
			if !isList || i < 0 {
				return "", nil, false
			}
			at, pointer = list[i], fmt.Sprintf("%s/%d", pointer, i)
		case element.Index != nil:
			list, isList := at.([]any)
			if !isList || *element.Index >= len(list) {
				return "", nil, false
			}
			at, pointer = list[*element.Index], fmt.Sprintf("%s/%d", pointer, *element.Index)
		default:
			return "", nil, false // an element of a set
		}
	}
	return pointer, at, true
}

func hasKey(item any, key value.FieldList) bool {
	fields, isObject := item.(map[string]any)
	return isObject && !slices.ContainsFunc(key, func(field value.Field) bool {
		return fmt.Sprint(fields[field.Name]) != fmt.Sprint(field.Value.Unstructured())
	})
}
