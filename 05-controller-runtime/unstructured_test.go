// The reads without Go types: what comes out is the same, and what goes wrong is said.

package main

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

// Fields whose JSON isn't what Go has: times, quantities, numbers or strings, numbers of any size.
func withAllSortsOfFields(deployment *appsv1.Deployment) {
	deployment.CreationTimestamp = earlier
	deployment.Generation = 1 << 40
	deployment.Spec.Strategy.RollingUpdate = &appsv1.RollingUpdateDeployment{
		MaxSurge: new(intstr.FromString("25%")), MaxUnavailable: new(intstr.FromInt32(1)),
	}
	deployment.Spec.Template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"memory": resource.MustParse("64Mi")}
	deployment.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, LastUpdateTime: now}}
}

func TestUntypedReadsReadTheSame(t *testing.T) {
	foo := aFoo("example", "web", 3, func(foo *v1alpha1.Foo) {
		foo.Status = desiredStatus(foo, deploymentOf(foo, available(3)), earlier)
	})
	another := aFoo("another", "db", 1, func(foo *v1alpha1.Foo) { foo.Spec.Replicas = nil })
	c := newCluster(t, foo, another,
		deploymentOf(foo, available(3), annotated, withSidecars), deploymentOf(another, withAllSortsOfFields))
	c.informed()

	for _, stored := range []*v1alpha1.Foo{foo, another} {
		used := &v1alpha1.Foo{Status: foo.Status, Spec: foo.Spec} // by a read before
		compareReads(t, c.Client, &v1alpha1.Foo{}, used, func(reads client.Client, into *v1alpha1.Foo) error {
			return reads.Get(t.Context(), keyOf(stored), into)
		})
	}
	for _, name := range []string{"web", "db"} {
		compareReads(t, c.Client, &appsv1.Deployment{}, deploymentOf(foo, annotated), func(reads client.Client, into *appsv1.Deployment) error {
			return reads.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: name}, into)
		})
	}
	for _, options := range [][]client.ListOption{
		nil,
		{client.InNamespace("default"), client.MatchingFields{byDeploymentName: "web"}},
		{client.InNamespace("nowhere")},
	} {
		used := &v1alpha1.FooList{Items: []v1alpha1.Foo{*foo, *foo, *foo}}
		compareReads(t, c.Client, &v1alpha1.FooList{}, used, func(reads client.Client, into *v1alpha1.FooList) error {
			return reads.List(t.Context(), into, options...)
		})
	}
	compareReads(t, c.Client, &appsv1.DeploymentList{}, &appsv1.DeploymentList{}, func(reads client.Client, into *appsv1.DeploymentList) error {
		return reads.List(t.Context(), into)
	})
}

// compareReads reads the same twice: as reads has it, and by way of an untypedClient.
func compareReads[T runtime.Object](t *testing.T, reads client.Client, into, untypedInto T, read func(client.Client, T) error) {
	t.Helper()
	must(t, read(reads, into))
	must(t, read(untypedClient{reads}, untypedInto))
	sayingTheirKind := cmpopts.IgnoreTypes(metav1.TypeMeta{}) // which only a map has to
	if diff := cmp.Diff(into, untypedInto, sayingTheirKind); diff != "" {
		t.Errorf("what is read without types is another (-typed +untyped):\n%s", diff)
	}
}

func TestUntypedReadsFail(t *testing.T) {
	key := client.ObjectKey{Namespace: "default", Name: "example"}
	get := func(reads client.Client) error { return reads.Get(t.Context(), key, &v1alpha1.Foo{}) }
	list := func(reads client.Client) error { return reads.List(t.Context(), &v1alpha1.FooList{}) }
	getStranger := func(reads client.Client) error { return reads.Get(t.Context(), key, &stranger{}) }
	listStrangers := func(reads client.Client) error { return reads.List(t.Context(), &strangers{}) }
	listByNoIndex := func(reads client.Client) error {
		return reads.List(t.Context(), &v1alpha1.FooList{}, client.MatchingFields{"spec.replicas": "3"})
	}
	isAny := func(err error) bool { return err != nil }
	for sentence, test := range map[string]struct {
		refuse string
		err    error
		read   func(client.Client) error
		want   func(error) bool
	}{
		"there is no such object":           {"", nil, get, apierrors.IsNotFound},
		"a get fails":                       {"get foos", errDiskFull, get, apierrors.IsInternalError},
		"a list fails":                      {"list foos", errDiskFull, list, apierrors.IsInternalError},
		"a get of what has no kind here":    {"", nil, getStranger, runtime.IsNotRegisteredError},
		"a list of what has no kind here":   {"", nil, listStrangers, runtime.IsNotRegisteredError},
		"a list by an index that isn't one": {"", nil, listByNoIndex, isAny},
	} {
		t.Run(sentence, func(t *testing.T) {
			c := newCluster(t)
			c.informed()
			c.refuseNext(test.refuse, test.err)

			if err := test.read(untypedClient{c.Client}); !test.want(err) {
				t.Errorf("got the error %v, want another", err)
			}
		})
	}
}

// An object that isn't as its Go type has it is an error, as it is with types, where the JSON can't be decoded.
func TestAnUntypedReadOfTheWrongShapeFails(t *testing.T) {
	wrong := map[string]any{"metadata": map[string]any{"name": "example"}, "spec": map[string]any{"replicas": "three"}}
	cache := interceptor.NewClient(newFake(t).Build(), interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
			into.(*unstructured.Unstructured).Object = wrong
			return nil
		},
		List: func(_ context.Context, _ client.WithWatch, into client.ObjectList, _ ...client.ListOption) error {
			into.(*unstructured.UnstructuredList).Items = []unstructured.Unstructured{{Object: wrong}}
			return nil
		},
	})

	if err := (untypedClient{cache}).Get(t.Context(), client.ObjectKey{Name: "example"}, &v1alpha1.Foo{}); err == nil {
		t.Error("a get: no error")
	}
	if err := (untypedClient{cache}).List(t.Context(), &v1alpha1.FooList{}); err == nil {
		t.Error("a list: no error")
	}
}

// readUntyped has the controller read as it does with --unstructured.
func (c *cluster) readUntyped() { c.Client = untypedClient{c.Client} }

// untypedOf returns object without its Go type.
func untypedOf(t *testing.T, object client.Object) client.Object {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	must(t, err)
	return &unstructured.Unstructured{Object: content}
}

// namesOf returns the names of what is in a list.
func namesOf(t *testing.T, list client.ObjectList) (names []string) {
	t.Helper()
	must(t, meta.EachListItem(list, func(item runtime.Object) error {
		names = append(names, item.(client.Object).GetName())
		return nil
	}))
	slices.Sort(names)
	return names
}

// stranger is of a type that the scheme doesn't know.
type stranger struct{ v1alpha1.Foo }

func (s *stranger) DeepCopyObject() runtime.Object { return &stranger{*s.DeepCopy()} }

type strangers struct{ metav1.List }

func (s *strangers) DeepCopyObject() runtime.Object { return &strangers{*s.DeepCopy()} }
