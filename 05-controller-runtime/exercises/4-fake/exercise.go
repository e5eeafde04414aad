//go:build !solution

// Package judge is about tests with controller-runtime's fake client, and whether they can fail.
package judge

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

// Judge returns nil if the reconciler that build returns is right, or else an error that says what
// is wrong with it. It is right if all of this is true in the end, no matter how it gets there:
//   - The Foo's spec still has the replicas that its user asked for last. Its Deployment exists,
//     and has the same number. The Foo's status.observedGeneration is its generation.
//   - This is also true if the server once fails to create the Deployment, if it once refuses a
//     write of the status with a conflict, and if a user scales the Foo while the reconciler is at
//     work.
//   - After that, the reconciler writes nothing more.
//   - A Foo that is being deleted gets no Deployment. A Foo that is gone causes no error.
//
// A reconciler is called again after an error, after a RequeueAfter, and after an event. Every
// change in the cluster is an event, even if the reconciler itself caused it. It isn't called again
// for any other reason.
func Judge(ctx context.Context, build Build) error {
	var found []error
	for sentence, s := range scenarios() {
		if err := s.judge(ctx, build); err != nil {
			found = append(found, fmt.Errorf("%s: %w", sentence, err))
		}
	}
	return errors.Join(found...)
}

// scenario is one way that things may go.
type scenario struct {
	foo   *samplecontrollerv1alpha1.Foo // nil: the Foo is gone
	funcs interceptor.Funcs             // answer in place of the server, or ask it
}

func scenarios() map[string]scenario {
	// YOUR WORK: in this scenario, nothing ever goes wrong.
	return map[string]scenario{
		"all is well": {foo: NewFoo()},
	}
}

// judge returns an error if the reconciler does anything wrong in this scenario.
func (s scenario) judge(ctx context.Context, build Build) error {
	var objects []client.Object
	if s.foo != nil {
		objects = append(objects, s.foo)
	}
	server := newServer(objects...)
	r := build(interceptor.NewClient(server, s.funcs))

	// YOUR WORK: this makes one call and checks its error, which proves none of Judge's promises.
	if _, err := r.Reconcile(ctx, key); err != nil {
		return fmt.Errorf("Reconcile returned the error %w", err)
	}
	return nil
}

// newServer returns a fake API server that has these objects, and treats Foos like a real server
// that has their CRD.
func newServer(objects ...client.Object) client.WithWatch {
	// YOUR WORK: this server doesn't know the CRD.
	return fake.NewClientBuilder().WithScheme(newScheme()).WithObjects(objects...).Build()
}
