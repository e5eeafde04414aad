// Leader election, with client-go's own elector on the fake clientset's Leases, in bubbles of
// testing/synctest. (The fake clientset knows no conflicts, so it can't show that two who grab at a
// Lease at once don't both get it: integration_test.go has a real server.)

package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	typedcoordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"
)

var testElection = leaderElection{
	namespace:     "foo-system",
	leaseDuration: 15 * time.Second,
	renewDeadline: 8 * time.Second,
	retryPeriod:   2 * time.Second,
}

// With such numbers, two replicas could work at the same time: see leaderElection.
func TestNumbersThatAreTooTight(t *testing.T) {
	for sentence, test := range map[string]struct {
		leaseDuration, renewDeadline, retryPeriod time.Duration
		want                                      string // "": none
	}{
		"this chapter's":    {leaseDuration: 15 * time.Second, renewDeadline: 8 * time.Second, retryPeriod: 2 * time.Second},
		"client-go's usual": {15 * time.Second, 10 * time.Second, 2 * time.Second, "--leader-election-lease-duration 15s: must be more than the retry period (2s) and 1.5 times the renew deadline (10s) together"},
		"one that is equal": {14 * time.Second, 8 * time.Second, 2 * time.Second, "--leader-election-lease-duration 14s: must be more than the retry period (2s) and 1.5 times the renew deadline (8s) together"},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := leaderElection{"foo-system", test.leaseDuration, test.renewDeadline, test.retryPeriod}.newClient(&rest.Config{})
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("got the error %q, want %q", got, test.want)
			}
		})
	}
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

// A leader that can't renew its lease must stop before the lease runs out, since then another
// begins.
func TestALostLeaseEndsTheWork(t *testing.T) {
	for sentence, test := range map[string]struct {
		cut       func(*lossyKube)
		finishing bool // it has been told to stop, and is finishing what was under way
	}{
		"the lease's updates fail":                          {cut: func(k *lossyKube) { k.failing.Store(true) }},
		"the connection is frozen":                          {cut: func(k *lossyKube) { k.frozen.Store(true) }},
		"its renewals fail, and its release doesn't":        {cut: func(k *lossyKube) { k.onlyReleases.Store(true) }},
		"it is lost while the work is finished":             {cut: func(k *lossyKube) { k.failing.Store(true) }, finishing: true},
		"the connection freezes while the work is finished": {cut: func(k *lossyKube) { k.frozen.Store(true) }, finishing: true},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kube := &lossyKube{Interface: fake.NewSimpleClientset()}
				leader := startCandidate(t, kube)
				leader.finishing = time.Hour
				kube.onRelease = func() {
					if leader.working.Load() {
						t.Error("the lease was released before the work had ended")
					}
				}
				time.Sleep(time.Minute)
				if test.finishing {
					go leader.stop()
					time.Sleep(time.Minute)
				}

				test.cut(kube)
				cut := time.Now()
				<-leader.ended

				if took := time.Since(cut); took > testElection.leaseDuration {
					t.Errorf("the work ended %v after the lease could no longer be renewed, and it is good for %v", took, testElection.leaseDuration)
				}
				if !leader.lost {
					t.Error("the work wasn't told that the lease is lost")
				}
				if !errors.Is(leader.err, errLostLease) {
					t.Errorf("lead returned %v, want that the lease is lost", leader.err)
				}
			})
		})
	}
}

// Told to stop before it ever led, it ends at once, whatever has become of the server, and has done
// nothing.
func TestStoppingWhileWaitingToLead(t *testing.T) {
	for sentence, frozen := range map[string]bool{"the server answers": false, "the connection is frozen": true} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kube := &lossyKube{Interface: fake.NewSimpleClientset()}
				leader := startCandidate(t, kube)
				waiting := startCandidate(t, kube)
				kube.frozen.Store(frozen)

				stopped := time.Now()
				waiting.stop()

				if took := time.Since(stopped); took != 0 || waiting.err != nil || waiting.worked {
					t.Errorf("it ended after %v, with the error %v, and it worked: %v; want at once, none, and false", took, waiting.err, waiting.worked)
				}
				kube.frozen.Store(false)
				leader.stop()
			})
		})
	}
}

// A Lease whose namespace isn't there is said, and waited for: permissions and namespace may come
// after the program.
func TestALeaseWithoutItsNamespaceIsWaitedFor(t *testing.T) {
	var log bytes.Buffer
	defer klog.CaptureState().Restore()
	klog.LogToStderr(false)
	klog.SetOutput(&log)
	synctest.Test(t, func(t *testing.T) {
		kube := fake.NewSimpleClientset()
		var there atomic.Bool
		kube.PrependReactor("create", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
			return !there.Load(), nil, apierrors.NewNotFound(corev1.Resource("namespaces"), testElection.namespace)
		})
		candidate := startCandidate(t, kube)
		time.Sleep(time.Minute)
		if candidate.working.Load() {
			t.Error("it works, and has no lease")
		}
		there.Store(true)
		time.Sleep(3 * testElection.retryPeriod)
		if !candidate.working.Load() {
			t.Error("it doesn't work, though it can have the lease now")
		}
		candidate.stop()
	})
	klog.Flush()
	if want := "Error initially creating lease lock"; !strings.Contains(log.String(), want) {
		t.Errorf("%q is not in the log:\n%s", want, &log)
	}
}

// candidate is a copy of the program whose work is to wait until it is told to stop, and then a
// little longer.
type candidate struct {
	finishing time.Duration
	stop      func() // returns when lead has returned
	working   atomic.Bool
	ended     chan struct{}

	// Known once ended is closed.
	err            error  // what lead has returned
	worked         bool   // at all
	lost           bool   // the work was told that the lease is lost
	holderAtTheEnd string // of the lease, when the work was finished
}

func startCandidate(t *testing.T, kube kubernetes.Interface) *candidate {
	ctx, cancel := context.WithCancel(t.Context())
	c := &candidate{ended: make(chan struct{})}
	c.stop = func() {
		cancel()
		<-c.ended
	}
	go func() {
		defer close(c.ended)
		c.err = testElection.lead(ctx, kube, func(ctx, leading context.Context) {
			c.worked = true
			c.working.Store(true)
			defer c.working.Store(false)
			<-ctx.Done()
			select {
			case <-leading.Done():
				c.lost = true
				time.Sleep(time.Millisecond) // by the bubble's clock: work takes a moment to stop
			case <-time.After(c.finishing):
				c.holderAtTheEnd = holderOf(t, kube)
			}
		})
	}()
	synctest.Wait() // it leads, or waits to lead
	return c
}

func holderOf(t *testing.T, kube kubernetes.Interface) string {
	lease, err := kube.CoordinationV1().Leases(testElection.namespace).Get(context.Background(), leaseName, metav1.GetOptions{})
	if err != nil {
		t.Error(err)
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// lossyKube is a client whose requests for Leases can be made to fail, or never to be answered.
type lossyKube struct {
	kubernetes.Interface
	failing, frozen, onlyReleases atomic.Bool
	onRelease                     func()
}

func (k *lossyKube) CoordinationV1() typedcoordinationv1.CoordinationV1Interface {
	return lossyGroup{k.Interface.CoordinationV1(), k}
}

type lossyGroup struct {
	typedcoordinationv1.CoordinationV1Interface
	kube *lossyKube
}

func (g lossyGroup) Leases(namespace string) typedcoordinationv1.LeaseInterface {
	return lossyLeases{g.CoordinationV1Interface.Leases(namespace), g.kube}
}

type lossyLeases struct {
	typedcoordinationv1.LeaseInterface
	kube *lossyKube
}

func (l lossyLeases) Get(ctx context.Context, name string, options metav1.GetOptions) (*coordinationv1.Lease, error) {
	if err := l.kube.loss(ctx); err != nil {
		return nil, err
	}
	return l.LeaseInterface.Get(ctx, name, options)
}

func (l lossyLeases) Update(ctx context.Context, lease *coordinationv1.Lease, options metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	if err := l.kube.loss(ctx); err != nil {
		return nil, err
	}
	if *lease.Spec.HolderIdentity == "" {
		if l.kube.onRelease != nil {
			l.kube.onRelease()
		}
	} else if l.kube.onlyReleases.Load() {
		return nil, errors.New("the lease can't be renewed")
	}
	return l.LeaseInterface.Update(ctx, lease, options)
}

func (k *lossyKube) loss(ctx context.Context) error {
	if k.frozen.Load() {
		ctx, cancel := context.WithTimeout(ctx, testElection.renewDeadline/2) // as newClient sets it
		defer cancel()
		<-ctx.Done()
		return ctx.Err()
	}
	if k.failing.Load() {
		return errors.New("the connection is cut")
	}
	return nil
}
