// How the CRD is compared with the Go types: with their kinds and tags, and with what only their
// comments promise.

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

// crd is what is compared of a CustomResourceDefinition.
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

// property is what is compared of a schema.
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

// differencesOf returns what a CRD says otherwise than the Go types and their comments.
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
	if differences := compared("", foo, reflect.TypeFor[samplecontrollerv1alpha1.Foo]()); len(differences) > 0 {
		return differences
	}
	return unkept(foo)
}

// compared compares a property with the Go type that it is decoded into. It knows the kinds of type
// that a Foo has.
func compared(path string, inCRD property, inGo reflect.Type) (differences []string) {
	if inGo.Kind() == reflect.Pointer {
		inGo = inGo.Elem()
	}
	is, want := strings.TrimSpace(inCRD.Type+" "+inCRD.Format), openAPI(inGo)
	switch {
	case is != want:
		return []string{fmt.Sprintf("%s: %s in the CRD, %s in the types", path, is, want)}
	case is == "array":
		return compared(path+"[]", ptr.Deref(inCRD.Items, property{}), inGo.Elem())
	case is != "object" || inGo == reflect.TypeFor[metav1.ObjectMeta](): // the API server knows metadata without us
		return nil
	}
	fields := fieldsOf(inGo)
	names := slices.Concat(slices.Collect(maps.Keys(fields)), slices.Collect(maps.Keys(inCRD.Properties)))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		path := strings.TrimPrefix(path+"."+name, ".")
		field, isField := fields[name]
		property, isProperty := inCRD.Properties[name]
		required, written := slices.Contains(inCRD.Required, name), !strings.Contains(field.Tag.Get("json"), "omitempty")
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
			differences = append(differences, compared(path, property, field.Type)...)
		}
	}
	return differences
}

// writtenThoughOptional is the field that needs no omitempty: 0 is worth writing, and where nothing
// is written it is meant.
const writtenThoughOptional = "status.availableReplicas"

// openAPI returns the OpenAPI type and format of what a Go type is in JSON.
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

// unkept returns what the types promise in their comments, Go having no words for it, and the CRD
// doesn't keep.
func unkept(foo property) (promises []string) {
	name, replicas := foo.Properties["spec"].Properties["deploymentName"], foo.Properties["spec"].Properties["replicas"]
	for _, value := range []string{"web", "a", "web-1", strings.Repeat("a", 63), "", "Web", "-web", "web-", "a.b", strings.Repeat("a", 64)} {
		allowed := regexp.MustCompile(name.Pattern).MatchString(value) && len(value) <= ptr.Deref(name.MaxLength, math.MaxInt)
		if promised := len(validation.IsDNS1123Label(value)) == 0; allowed != promised {
			promises = append(promises, fmt.Sprintf("spec.deploymentName: %q is allowed: %v, a DNS-1123 label: %v", value, allowed, promised))
		}
	}
	for value := range int32(12) {
		allowed := value >= ptr.Deref(replicas.Minimum, math.MinInt32) && value <= ptr.Deref(replicas.Maximum, math.MaxInt32)
		if promised := value >= 1 && value <= 10; allowed != promised {
			promises = append(promises, fmt.Sprintf("spec.replicas: %d is allowed: %v, promised: %v", value, allowed, promised))
		}
	}
	if want := *desiredDeployment(&samplecontrollerv1alpha1.Foo{}).Spec.Replicas; ptr.Deref(replicas.Default, 0) != want {
		promises = append(promises, fmt.Sprintf("spec.replicas: the default isn't %d, as the controller has it", want))
	}
	if conditions := foo.Properties["status"].Properties["conditions"]; conditions.ListType != "map" || !slices.Equal(conditions.ListMapKeys, []string{"type"}) {
		promises = append(promises, "status.conditions: no map by type")
	}
	return promises
}
