// Server-side apply on a real API server: what the controller's writes change, and what they leave
// alone. The controller has no cache here, because the tests call its methods directly. Chapter 04
// tests more of how the server answers.

package main

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"example.com/operators/05-controller-runtime/test/testenv"
)

// The list of conditions is a map with type as its key, so each condition has an owner of its own.
func TestConditionsHaveOwners(t *testing.T) {
	c, foo := testenv.New(t), aFoo("example", "web", 2)
	create(t, c, foo)
	blessed := `{"status":{"conditions":[
		{"type":"Blessed","status":"True","reason":"ByThePriest","message":"amen","lastTransitionTime":"2026-01-01T12:00:00Z"}]}}`
	must(t, c.Status().Patch(t.Context(), foo, client.RawPatch(types.MergePatchType, []byte(blessed)), somebody))

	must(t, withoutCache(c, func() {}).syncStatus(t.Context(), foo, deploymentOf(foo), nil))

	must(t, c.Get(t.Context(), client.ObjectKeyFromObject(foo), foo))
	for condition, want := range map[string]client.FieldOwner{"Blessed": somebody, "Ready": fieldOwner} {
		if diff := cmp.Diff([]string{string(want)}, ownersOf(foo, "f:status", "f:conditions", `k:{"type":"`+condition+`"}`)); diff != "" {
			t.Errorf("owners of the condition %s (-want +got):\n%s", condition, diff)
		}
	}
}

// Somebody else's Deployment takes the name after the controller has read, and before it applies.
// The apply is refused, and the next call leaves their Deployment alone.
func TestNameTakenBeforeTheApply(t *testing.T) {
	for sentence, test := range map[string]struct {
		given   []func(*appsv1.Deployment) // a Deployment that the controller has to update, or none
		refused func(error) bool
	}{
		// The apply doesn't force, so it can't change their values.
		"there was no Deployment": {nil, apierrors.IsConflict},
		// The apply forces, but it names the UID of the Deployment that was read.
		"there was ours": {[]func(*appsv1.Deployment){scaledTo(1)}, apierrors.IsInvalid},
	} {
		t.Run(sentence, func(t *testing.T) {
			c, foo := testenv.New(t), aFoo("example", "web", 2)
			create(t, c, foo)
			ours, theirs := deploymentOf(foo, test.given...), deploymentOf(foo, unowned, scaledTo(7))
			if test.given != nil {
				create(t, c, ours)
			}
			applies := 0
			r := withoutCache(c, func() {
				if applies++; applies == 1 {
					must(t, client.IgnoreNotFound(c.Delete(t.Context(), ours)))
					create(t, c, theirs)
				}
			})

			if _, err := r.syncDeployment(t.Context(), foo); !test.refused(err) {
				t.Errorf("the apply returned the error %v, want a refusal", err)
			}
			web, err := r.syncDeployment(t.Context(), foo)

			must(t, err)
			if applies != 1 {
				t.Errorf("%d applies, want 1", applies)
			}
			if diff := cmp.Diff(theirs, web); diff != "" {
				t.Errorf("their Deployment has changed (-before +after):\n%s", diff)
			}
		})
	}
}

// The server's defaults and other managers' fields are no reason to apply again. And if the
// controller does apply the same values again, the server stores no new version.
func TestNoNeedlessApply(t *testing.T) {
	c, foo := testenv.New(t), aFoo("example", "web", 2)
	create(t, c, foo)
	applies := 0
	r := withoutCache(c, func() { applies++ })
	_, err := r.syncDeployment(t.Context(), foo)
	must(t, err)
	web := &appsv1.Deployment{ObjectMeta: c.Meta("web")}
	annotation := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"team":"blue"}}}`))
	must(t, c.Patch(t.Context(), web, annotation, somebody))

	settled, err := r.syncDeployment(t.Context(), foo)

	must(t, err)
	if settled == nil || applies != 1 {
		t.Fatalf("%d applies, want 1", applies)
	}
	must(t, c.Apply(t.Context(), desiredDeployment(foo).WithUID(settled.UID), fieldOwner, client.ForceOwnership))
	must(t, c.Get(t.Context(), client.ObjectKeyFromObject(web), web))
	if diff := cmp.Diff(settled, web); diff != "" {
		t.Errorf("an apply of the same values has changed the Deployment (-before +after):\n%s", diff)
	}
}

// withoutCache returns a controller that reads from the server. It calls do before each apply of a
// Deployment.
func withoutCache(c testenv.Cluster, do func()) *FooReconciler {
	api := interceptor.NewClient(c.WithWatch, interceptor.Funcs{
		Apply: func(ctx context.Context, server client.WithWatch, desired runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			do()
			return server.Apply(ctx, desired, options...)
		},
	})
	return &FooReconciler{Client: api, APIReader: api, Recorder: events.NewFakeRecorder(100)}
}

// ownersOf returns the field managers who own a field of object. Its path is written as
// managedFields has it: "f:spec", "f:replicas".
func ownersOf(object metav1.Object, path ...string) (owners []string) {
	for _, entry := range object.GetManagedFields() {
		var owned map[string]any
		if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &owned); err != nil {
			panic(err)
		}
		if _, found, _ := unstructured.NestedFieldNoCopy(owned, path...); found {
			owners = append(owners, entry.Manager)
		}
	}
	return owners
}
