// Leader election, with client-go's own elector on the fake clientset's Leases, in bubbles of testing/synctest. (The fake clientset
// knows no conflicts, so it can't show that two who grab at a Lease at once don't both get it: integration_test.go has a
// real server.)

package main

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

var testElection = leaderElection{
	namespace:     "foo-system",
	leaseDuration: 15 * time.Second,
	renewDeadline: 10 * time.Second,
	retryPeriod:   2 * time.Second,
}

func TestOneLeadsAndTheOtherTakesOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kube := fake.NewSimpleClientset()
		first := startCandidate(t, kube)
		second := startCandidate(t, kube)
		time.Sleep(time.Minute)
		if !first.working.Load() || second.working.Load() {
			t.Errorf("after a minute: the first works: %v; the second works: %v; want the first alone", first.working.Load(), second.working.Load())
		}

		first.stop()
		if holder := holderOf(t, kube); holder != "" {
			t.Errorf("%q holds the lease, want nobody: it is given back", holder)
		}
		time.Sleep(3 * testElection.retryPeriod) // a candidate looks after one to 2.2 of them, by chance
		if !second.working.Load() {
			t.Error("the second doesn't work, though the first has given the lease back")
		}
		second.stop()

		for name, candidate := range map[string]*candidate{"first": first, "second": second} {
			if candidate.err != nil {
				t.Errorf("the %s ended with the error %v", name, candidate.err)
			}
		}
	})
}

// The lease is held until the work is done: the other must not begin before.
func TestTheWorkIsFinishedBeforeTheLeaseIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kube := fake.NewSimpleClientset()
		first := startCandidate(t, kube)
		first.finishing = time.Minute // far longer than a lease lasts unless it is renewed
		second := startCandidate(t, kube)

		stopped := time.Now()
		first.stop()

		if took := time.Since(stopped); took < first.finishing {
			t.Errorf("lead returned after %v, and the work takes %v to finish", took, first.finishing)
		}
		if first.holderAtTheEnd == "" || second.working.Load() {
			t.Errorf("when the first had finished, %q held the lease, and the second worked: %v", first.holderAtTheEnd, second.working.Load())
		}
		second.stop()
	})
}

// A leader that can't renew its lease must stop before the lease runs out, since then another begins.
func TestALostLeaseEndsTheWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kube := fake.NewSimpleClientset()
		var cut atomic.Bool
		kube.PrependReactor("update", "leases", func(clienttesting.Action) (handled bool, answer runtime.Object, err error) {
			return cut.Load(), nil, errors.New("the connection is cut")
		})
		leader := startCandidate(t, kube)
		time.Sleep(time.Minute)

		cut.Store(true)
		lost := time.Now()
		<-leader.ended

		if took := time.Since(lost); took > testElection.leaseDuration {
			t.Errorf("the work ended %v after the lease could no longer be renewed, and it is good for %v", took, testElection.leaseDuration)
		}
		if !errors.Is(leader.cause, errLostLease) {
			t.Errorf("the work ended because of %v, want the lost lease", leader.cause)
		}
		if !errors.Is(leader.err, errLostLease) {
			t.Errorf("lead returned %v, want that the lease is lost", leader.err)
		}
	})
}

// Told to stop before it ever led, it ends, and has done nothing.
func TestStoppingWhileWaitingToLead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kube := fake.NewSimpleClientset()
		leader := startCandidate(t, kube)
		waiting := startCandidate(t, kube)

		stopped := time.Now()
		waiting.stop()

		if took := time.Since(stopped); took != 0 || waiting.err != nil || waiting.cause != nil {
			t.Errorf("it ended after %v, with the error %v; its work ended because of %v, want that there was none", took, waiting.err, waiting.cause)
		}
		leader.stop()
	})
}

// candidate is a copy of the program whose work is to wait until its context ends, and then a little longer.
type candidate struct {
	finishing time.Duration
	stop      func() // returns when lead has returned
	working   atomic.Bool
	ended     chan struct{}

	// Known once ended is closed.
	err            error  // what lead has returned
	cause          error  // why the work's context ended; nil if there was no work
	holderAtTheEnd string // of the lease, when the work was finished
}

func startCandidate(t *testing.T, kube *fake.Clientset) *candidate {
	ctx, cancel := context.WithCancel(t.Context())
	c := &candidate{ended: make(chan struct{})}
	c.stop = func() {
		cancel()
		<-c.ended
	}
	go func() {
		defer close(c.ended)
		c.err = testElection.lead(ctx, kube, func(ctx context.Context) {
			c.working.Store(true)
			defer c.working.Store(false)
			<-ctx.Done()
			c.cause = context.Cause(ctx)
			time.Sleep(c.finishing)
			c.holderAtTheEnd = holderOf(t, kube)
		})
	}()
	synctest.Wait() // it leads, or waits to lead
	return c
}

func holderOf(t *testing.T, kube *fake.Clientset) string {
	lease, err := kube.Tracker().Get(coordinationv1.SchemeGroupVersion.WithResource("leases"), testElection.namespace, leaseName, metav1.GetOptions{})
	if err != nil {
		t.Error(err)
		return ""
	}
	return *lease.(*coordinationv1.Lease).Spec.HolderIdentity
}
