//go:build check || solution

// The test of your tests. They must accept the Sync that keeps its promises, and report an error
// for each of the others.
//
// As given, there is one test, which accepts them all. `workshop test` checks these failures:
//
// fails: TestTests/they report a Sync that creates a Deployment without an owner
// says: which test would notice that it creates a Deployment without an owner?
//
// fails: TestTests/they report a Sync that gives up when somebody else has scaled
// says: which test would notice that it gives up when somebody else has scaled?
//
// fails: TestTests/they report a Sync that takes over other people's Deployments
// says: which test would notice that it takes over other people's Deployments?
//
// fails: TestTests/they report a Sync that removes other people's labels
// says: which test would notice that it removes other people's labels?
//
// fails: TestTests/they report a Sync that writes even if nothing has changed
// says: which test would notice that it writes even if nothing has changed?

package tests

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	samplecontrollerv1alpha1 "example.com/operators/04-codegen/pkg/apis/samplecontroller/v1alpha1"
)

func TestTests(t *testing.T) {
	t.Run("they accept the Sync that keeps its promises", func(t *testing.T) {
		for _, reported := range run(t, right) {
			t.Errorf("they report: %s", reported)
		}
	})
	for _, bug := range wrong {
		t.Run("they report a Sync that "+bug, func(t *testing.T) {
			if len(run(t, with(bug))) == 0 {
				t.Errorf("all tests pass; which test would notice that it %s?", bug)
			}
		})
	}
}

// run runs all tests on sync, and returns what they report.
func run(t *testing.T, sync Sync) (reported []string) {
	for _, test := range Tests {
		foo := &samplecontrollerv1alpha1.Foo{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "web"},
			Spec:       samplecontrollerv1alpha1.FooSpec{DeploymentName: "web", Replicas: new(int32(2))},
		}
		r := &recorder{ctx: t.Context()}
		ended := make(chan struct{})
		go func() { // because Fatalf ends its goroutine
			defer close(ended)
			test(r, fake.NewClientset(), foo, sync)
		}()
		<-ended
		reported = append(reported, r.reported...)
	}
	return reported
}

// recorder is a T that remembers the errors.
type recorder struct {
	ctx      context.Context
	reported []string
}

func (r *recorder) Context() context.Context { return r.ctx }

func (r *recorder) Errorf(format string, args ...any) {
	r.reported = append(r.reported, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}
