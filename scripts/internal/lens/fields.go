package lens

// Who owns which field of an object.

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// fieldsOf returns the fields of an object, by the field manager that owns them. It reads them from
// managedFields. They are sorted, and look like spec.replicas.
func fieldsOf(object *unstructured.Unstructured) map[string][]string {
	fields := map[string][]string{}
	for _, entry := range object.GetManagedFields() {
		var set fieldpath.Set
		if entry.FieldsV1 == nil || set.FromJSON(entry.FieldsV1.GetRawReader()) != nil {
			continue
		}
		manager := entry.Manager + " (" + string(entry.Operation) + ")"
		set.Leaves().Iterate(func(path fieldpath.Path) {
			fields[manager] = append(fields[manager], strings.TrimPrefix(path.String(), "."))
		})
		slices.Sort(fields[manager])
		fields[manager] = slices.Compact(fields[manager])
	}
	return fields
}
