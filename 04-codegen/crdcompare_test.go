// How the CRD is compared with the Go types: with their kinds and tags, and with the rules that are
// only in their comments.

package main

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	samplecontrollerv1alpha1 "example.com/operators/04-codegen/pkg/apis/samplecontroller/v1alpha1"
)

// crd has the fields of a CustomResourceDefinition that are compared.
type crd struct {
	Spec struct {
		Group    string
		Names    struct{ Kind, Plural string }
		Versions []struct {
			Name   string
			Schema struct{ OpenAPIV3Schema property }
		}
	}
}

// property has the fields of a schema that are compared.
type property struct {
	Type, Format              string
	Required                  []string
	Properties                map[string]property
	Items                     *property
	Pattern                   string
	MaxLength                 *int
	Minimum, Maximum, Default *int32
	ListType                  string   `json:"x-kubernetes-list-type"`
	ListMapKeys               []string `json:"x-kubernetes-list-map-keys"`
}

// differencesOf returns the differences between a CRD and the Go types with their comments.
func differencesOf(t *testing.T, text string) []string {
	t.Helper()
	var crd crd
	if err := yaml.Unmarshal([]byte(text), &crd); err != nil {
		t.Fatal(err)
	}
	version := crd.Spec.Versions[0]
	inCRD := fmt.Sprintf("%s/%s, %s (%s)", crd.Spec.Group, version.Name, crd.Spec.Names.Kind, crd.Spec.Names.Plural)
	inTypes := fmt.Sprintf("%s, %s (%s)", samplecontrollerv1alpha1.GroupVersion, fooKind.Kind, foosResource.Resource)
	if inCRD != inTypes {
		return []string{fmt.Sprintf("%s in the CRD, %s in the types", inCRD, inTypes)}
	}
	foo := version.Schema.OpenAPIV3Schema
	if differences := compare("", foo, reflect.TypeFor[samplecontrollerv1alpha1.Foo]()); len(differences) > 0 {
		return differences
	}
	return missingRules(foo)
}

// compare returns the differences between a property and the Go type that it is decoded into. It
// knows only the kinds of types that a Foo has.
func compare(path string, inCRD property, inGo reflect.Type) (differences []string) {
	if inGo.Kind() == reflect.Pointer {
		inGo = inGo.Elem()
	}
	is, want := strings.TrimSpace(inCRD.Type+" "+inCRD.Format), openAPI(inGo)
	switch {
	case is != want:
		return []string{fmt.Sprintf("%s: %s in the CRD, %s in the types", path, is, want)}
	case is == "array":
		return compare(path+"[]", ptr.Deref(inCRD.Items, property{}), inGo.Elem())
	case is != "object" || inGo == reflect.TypeFor[metav1.ObjectMeta](): // the API server defines metadata itself
		return nil
	}
	fields := fieldsOf(inGo)
	names := slices.Concat(slices.Collect(maps.Keys(fields)), slices.Collect(maps.Keys(inCRD.Properties)))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		path := strings.TrimPrefix(path+"."+name, ".")
		field, isField := fields[name]
		property, isProperty := inCRD.Properties[name]
		required, written := slices.Contains(inCRD.Required, name), !strings.Contains(field.Tag.Get("json"), ",omit") // omitempty or omitzero
		switch {
		case !isField:
			differences = append(differences, path+": in the CRD only")
		case !isProperty:
			differences = append(differences, path+": in the types only")
		case required && !written:
			differences = append(differences, path+": required in the CRD, omitempty in the types")
		case written && !required && path != writtenThoughOptional:
			differences = append(differences, path+": optional in the CRD, always written by the types")
		default:
			differences = append(differences, compare(path, property, field.Type)...)
		}
	}
	return differences
}

// writtenThoughOptional is optional in the CRD, but has no omitempty: a 0 is worth showing, and a
// missing field means 0.
const writtenThoughOptional = "status.availableReplicas"

// openAPI returns the OpenAPI type and format of a Go type's JSON.
func openAPI(goType reflect.Type) string {
	if goType == reflect.TypeFor[metav1.Time]() {
		return "string date-time"
	}
	switch goType.Kind() {
	case reflect.String:
		return "string"
	case reflect.Int32:
		return "integer int32"
	case reflect.Int64:
		return "integer int64"
	case reflect.Slice:
		return "array"
	case reflect.Struct:
		return "object"
	}
	return goType.String() + " (add it to this test)"
}

// fieldsOf returns a struct's fields by their names in JSON.
func fieldsOf(goType reflect.Type) map[string]reflect.StructField {
	fields := map[string]reflect.StructField{}
	for i := range goType.NumField() {
		field := goType.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if options == "inline" {
			maps.Copy(fields, fieldsOf(field.Type))
		} else {
			fields[name] = field
		}
	}
	return fields
}

// missingRules returns the differences between the CRD and the rules in the types' comments, which
// Go can't express.
func missingRules(foo property) (differences []string) {
	name, replicas := foo.Properties["spec"].Properties["deploymentName"], foo.Properties["spec"].Properties["replicas"]
	for _, value := range []string{"web", "a", "web-1", strings.Repeat("a", 63), "", "Web", "-web", "web-", "a.b", strings.Repeat("a", 64)} {
		allowed := regexp.MustCompile(name.Pattern).MatchString(value) && len(value) <= ptr.Deref(name.MaxLength, math.MaxInt)
		if isLabel := len(validation.IsDNS1123Label(value)) == 0; allowed != isLabel {
			differences = append(differences, fmt.Sprintf("spec.deploymentName: %q is allowed by the CRD: %v, a DNS-1123 label: %v", value, allowed, isLabel))
		}
	}
	for value := range int32(12) {
		allowed := value >= ptr.Deref(replicas.Minimum, math.MinInt32) && value <= ptr.Deref(replicas.Maximum, math.MaxInt32)
		if byTypes := value >= 1 && value <= 10; allowed != byTypes {
			differences = append(differences, fmt.Sprintf("spec.replicas: %d is allowed by the CRD: %v, by the types: %v", value, allowed, byTypes))
		}
	}
	if got, want := ptr.Deref(replicas.Default, 0), *desiredDeployment(&samplecontrollerv1alpha1.Foo{}).Spec.Replicas; got != want {
		differences = append(differences, fmt.Sprintf("spec.replicas: the default is %d in the CRD, %d in the controller", got, want))
	}
	if conditions := foo.Properties["status"].Properties["conditions"]; conditions.ListType != "map" || !slices.Equal(conditions.ListMapKeys, []string{"type"}) {
		differences = append(differences, "status.conditions: the CRD doesn't declare a map by type")
	}
	return differences
}
