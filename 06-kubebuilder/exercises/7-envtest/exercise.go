//go:build !solution

// Package envtests has tests that use envtest, which is a real API server and nothing else.
package envtests

import (
	"context"
	"errors"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// StartServer starts an API server that accepts Foos, and returns how to reach it. Its programs,
// kube-apiserver and etcd, are in the folder assets. stop shuts both down. If there is no CRD to
// install, StartServer returns an error.
func StartServer(assets string) (config *rest.Config, stop func() error, err error) {
	// YOUR WORK
	return nil, nil, errors.New("it isn't written yet")
}

// T is the part of *testing.T that your tests may use. It has no Fatalf, so return if a test can't
// go on after an error.
type T interface {
	Context() context.Context
	Errorf(format string, args ...any)
}

// Each test in Tests gets a client of that API server, a namespace of its own, and a reconciler to
// test. For a reconciler that keeps its promises, no test may report an error. For each reconciler
// that breaks one, at least one test must.
var Tests = []func(t T, c client.Client, namespace string, reconcile Reconcile){
	testCreate,
	// YOUR WORK: this single test accepts even the reconcilers that break a promise.
}

// testCreate checks that a new Foo gets its Deployment.
func testCreate(t T, c client.Client, namespace string, reconcile Reconcile) {
	foo := newFoo(namespace)
	if err := c.Create(t.Context(), foo); err != nil {
		t.Errorf("create the Foo: %v", err)
	}
	if err := reconcile(t.Context(), c, client.ObjectKeyFromObject(foo)); err != nil {
		t.Errorf("Reconcile returned the error: %v", err)
	}
	if deployment := deploymentOf(t, c, foo); deployment == nil || *deployment.Spec.Replicas != 2 {
		t.Errorf("the Deployment is %v, want one with 2 replicas", deployment)
	}
}
