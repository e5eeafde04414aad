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

// Judge returns nil if the reconciler that build returns is right, else an error that says what is wrong with it. It is right if
// this holds in the end, whichever way it gets there:
//   - The Foo asks for the replicas that its user has asked for last. Its Deployment is there, and has as many. The Foo's
//     status.observedGeneration is its generation.
//   - It is so too if the server fails once to create the Deployment, or refuses a write of the status once, by a conflict; and if a
//     user scales the Foo while it is at work.
//   - Then it writes nothing more.
//   - A Foo that is being deleted gets no Deployment. A Foo that is gone is no error.
//
// A reconciler is called again after an error, after a RequeueAfter, and after an event: whatever changes in the cluster is one, its
// own writes too. After anything else it isn't.
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
	foo   *samplecontrollerv1alpha1.Foo // nil: it is gone
	funcs interceptor.Funcs             // they answer in the server's place, or ask it
}

func scenarios() map[string]scenario {
	// YOUR WORK: in this scenario, nothing ever goes wrong.
	return map[string]scenario{
		"all is well": {foo: NewFoo()},
	}
}

// judge says what is wrong in this scenario.
func (s scenario) judge(ctx context.Context, build Build) error {
	var objects []client.Object
	if s.foo != nil {
		objects = append(objects, s.foo)
	}
	server := newServer(objects...)
	r := build(interceptor.NewClient(server, s.funcs))

	// YOUR WORK: this makes one call and checks its error, which proves nothing that Judge promises.
	if _, err := r.Reconcile(ctx, key); err != nil {
		return fmt.Errorf("it returned the error %w", err)
	}
	return nil
}

// newServer returns a fake API server that has these objects, and does to Foos what a real one with their CRD does.
func newServer(objects ...client.Object) client.WithWatch {
	// YOUR WORK: this server doesn't know the CRD.
	return fake.NewClientBuilder().WithScheme(newScheme()).WithObjects(objects...).Build()
}
