//go:build check || solution

// How the API server in memory handles an apply: which fields change, who owns them, and what is a
// conflict. Kubernetes' own library decides that, from the generated schemas of the types. The
// generated fake clientset uses the same library, but it doesn't check the UID and the
// resourceVersion that a write assumes.

package main

import (
	"errors"
	"fmt"
	"reflect"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/managedfields/managedfieldstest"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kubeac "k8s.io/client-go/applyconfigurations"
	kubescheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// somebody is the field manager of everything that the program hasn't applied.
const somebody = "somebody"

// apply puts the fields that were sent into the object, and makes their sender the owner. A UID or
// a resourceVersion among them must be the object's.
func (a *fakeAPI) apply(target id, toStatus bool, sent *unstructured.Unstructured, manager string, force bool) (any, *apierrors.StatusError) {
	old, resource := a.objects[target], schema.GroupResource{Resource: target.resource}
	switch {
	case toStatus != (target.resource == "tdsets"):
		return nil, apierrors.NewForbidden(resource, target.name, errors.New("rbac.yaml only allows the controller to patch deployments and tdsets/status"))
	case manager == "":
		required := field.ErrorList{field.Required(field.NewPath("fieldManager"), "is required for apply patch")}
		return nil, apierrors.NewInvalid(schema.GroupKind{Kind: "PatchOptions"}, "", required)
	case toStatus && old == nil:
		return nil, apierrors.NewNotFound(resource, target.name)
	case old == nil && sent.GetUID() != "":
		return nil, apierrors.NewConflict(resource, target.name, fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", sent.GetUID()))
	case old != nil && sent.GetUID() != "" && sent.GetUID() != old.GetUID():
		immutable := field.ErrorList{field.Invalid(field.NewPath("metadata", "uid"), sent.GetUID(), "field is immutable")}
		return nil, apierrors.NewInvalid(kinds[target.resource].GroupKind(), target.name, immutable)
	case old != nil && sent.GetResourceVersion() != "" && sent.GetResourceVersion() != old.GetResourceVersion():
		return nil, apierrors.NewConflict(resource, target.name, errors.New("the object has been modified"))
	}
	if toStatus { // everything else is ignored there
		sent.Object = map[string]any{"apiVersion": sent.GetAPIVersion(), "kind": sent.GetKind(), "metadata": map[string]any{}, "status": sent.Object["status"]}
	} else {
		delete(sent.Object, "status")
	}
	merged, err := fieldManagers()[target.resource].Apply(a.current(target), sent, manager, force)
	if refused := (*apierrors.StatusError)(nil); errors.As(err, &refused) {
		return nil, refused
	} else if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	result := merged.(*unstructured.Unstructured)
	result.SetNamespace(target.namespace)
	result.SetName(target.name)
	result = asStored(result)
	if reflect.DeepEqual(result, old) {
		return old, nil // an apply that changes nothing is no write
	}
	a.onWrite(result)
	return a.store(target, result), nil
}

// update replaces an object on behalf of somebody, who owns the fields that change.
func (a *fakeAPI) update(target id, object *unstructured.Unstructured) {
	updated := fieldManagers()[target.resource].UpdateNoErrors(a.current(target), object, somebody)
	a.store(target, asStored(updated.(*unstructured.Unstructured)))
}

// current returns a copy of an object for the field managers, or an empty object if there is none.
func (a *fakeAPI) current(target id) *unstructured.Unstructured {
	if object := a.objects[target]; object != nil {
		return object.DeepCopy()
	}
	empty := &unstructured.Unstructured{}
	empty.SetGroupVersionKind(kinds[target.resource])
	return empty
}

// fieldManagers returns, for each resource, the code that knows what an apply changes and who owns
// what, from the schemas of the types.
var fieldManagers = sync.OnceValue(func() map[string]*managedfields.FieldManager {
	return map[string]*managedfields.FieldManager{
		"tdsets":      managedfieldstest.NewFakeFieldManager(managedfields.NewSchemeTypeConverter(asCRD, parser), kinds["tdsets"]),
		"deployments": managedfieldstest.NewFakeFieldManager(kubeac.NewTypeConverter(kubescheme.Scheme), kinds["deployments"]),
	}
})

// asCRD registers TDSet the way an API server does: without a Go type, but with a name to look its
// schema up by.
var asCRD = func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypeWithName(kinds["tdsets"], &unstructured.Unstructured{})
	return scheme
}()

// parser knows that schema. It has to know that each condition is a field of its own, as in
// manifests/crd.yaml.
var parser = func() *typed.Parser {
	parser, err := typed.NewParser(`types:
- name: rs.schedule.v1.TDSet
  map:
    fields:
    - {name: status, type: {namedType: status}}
    elementType: {namedType: any}
- name: status
  map:
    fields:
    - {name: conditions, type: {list: {elementType: {namedType: any}, elementRelationship: associative, keys: [type]}}}
    elementType: {namedType: any}
- name: any
  scalar: untyped
  list: {elementType: {namedType: any}, elementRelationship: atomic}
  map: {elementType: {namedType: any}, elementRelationship: separable}
`)
	if err != nil {
		panic(err)
	}
	return parser
}()

// asStored returns an object as a server stores it, with the fields that its Go type always has.
func asStored(object *unstructured.Unstructured) *unstructured.Unstructured {
	var typed runtime.Object = &TDSet{}
	if object.GetKind() == "Deployment" {
		typed = &appsv1.Deployment{}
	}
	convert := runtime.DefaultUnstructuredConverter
	if err := convert.FromUnstructured(object.Object, typed); err != nil {
		panic(err)
	}
	stored, err := convert.ToUnstructured(typed)
	if err != nil {
		panic(err)
	}
	return &unstructured.Unstructured{Object: stored}
}
