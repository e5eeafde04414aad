// What controller-runtime's fake client does as a server does, and what it doesn't: its default answers surprise.

package main

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

func TestTheFakeAndTheStatus(t *testing.T) {
	for sentence, test := range map[string]struct {
		subresource bool
		write       func(context.Context, client.Client, *v1alpha1.Foo) error
		wantError   bool
		want        int64 // the observedGeneration that is stored
	}{
		"as a server has it, a status is written by its subresource":    {true, writeStatus, false, 1},
		"as a server has it, an update of the object leaves the status": {true, writeObject, false, 0},
		"by default, there is no status subresource":                    {false, writeStatus, true, 0},
		"by default, an update of the object writes the status too":     {false, writeObject, false, 1},
	} {
		t.Run(sentence, func(t *testing.T) {
			types, err := newScheme()
			must(t, err)
			builder := fake.NewClientBuilder().WithScheme(types).WithObjects(fooIn("default", "a"))
			if test.subresource {
				builder = builder.WithStatusSubresource(&v1alpha1.Foo{})
			}
			api, foo := builder.Build(), &v1alpha1.Foo{}
			key := client.ObjectKey{Namespace: "default", Name: "a"}
			must(t, api.Get(t.Context(), key, foo))
			foo.Status.ObservedGeneration = 1

			err = test.write(t.Context(), api, foo)
			if apierrors.IsNotFound(err) != test.wantError || !test.wantError && err != nil {
				t.Errorf("the write: %v", err)
			}
			must(t, api.Get(t.Context(), key, foo))
			t.Logf("error: %v; stored: observedGeneration %d", err, foo.Status.ObservedGeneration)
			if foo.Status.ObservedGeneration != test.want {
				t.Errorf("stored is observedGeneration %d, want %d", foo.Status.ObservedGeneration, test.want)
			}
		})
	}
}

func writeStatus(ctx context.Context, api client.Client, foo *v1alpha1.Foo) error {
	return api.Status().Update(ctx, foo)
}

func writeObject(ctx context.Context, api client.Client, foo *v1alpha1.Foo) error {
	return api.Update(ctx, foo)
}
