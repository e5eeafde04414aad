// Leader election, with client-go's own elector and client, in testing/synctest bubbles. The API
// server is a RoundTripper with one Lease.

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/klog/v2"
)

var testElection = leaderElection{enabled: true, namespace: "foo-system", LeaderElectionConfig: leaderelection.LeaderElectionConfig{
	LeaseDuration: 15 * time.Second,
	RenewDeadline: 8 * time.Second,
	RetryPeriod:   2 * time.Second,
}}

// With these durations, two replicas could work at the same time.
func TestDurationsThatAreTooTight(t *testing.T) {
	for sentence, test := range map[string]struct {
		leaseDuration, renewDeadline time.Duration
		want                         string
	}{
		"client-go's defaults": {15 * time.Second, 10 * time.Second, "--leader-election-lease-duration 15s: must be more than the retry period (2s) and 1.5 times the renew deadline (10s) together"},
		"exactly at the limit": {14 * time.Second, 8 * time.Second, "--leader-election-lease-duration 14s: must be more than the retry period (2s) and 1.5 times the renew deadline (8s) together"},
	} {
		t.Run(sentence, func(t *testing.T) {
			tight := testElection
			tight.LeaseDuration, tight.RenewDeadline = test.leaseDuration, test.renewDeadline
			err := tight.run(t.Context(), &rest.Config{}, func(context.Context, context.Context) { t.Error("work was called") })
			if err == nil || err.Error() != test.want {
				t.Errorf("got the error %v, want %q", err, test.want)
			}
		})
	}
}

func TestWithoutLeaderElectionTheWorkStartsAtOnce(t *testing.T) {
	worked := false
	err := leaderElection{}.run(t.Context(), nil, func(context.Context, context.Context) { worked = true })
	if err != nil || !worked {
		t.Errorf("work was called: %v, and run returned the error %v; want true, and none", worked, err)
	}
}

func TestOneReplicaLeadsAndTheOtherTakesOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &leaseServer{}
		first := startCandidate(t, server)
		second := startCandidate(t, server)
		time.Sleep(time.Minute)
		if !first.working.Load() || second.working.Load() {
			t.Errorf("after a minute, the first replica works: %v, the second one: %v; want true and false", first.working.Load(), second.working.Load())
		}

		first.stop()
		if holder := server.holder(); holder != "" {
			t.Errorf("%q holds the lease, want nobody: the first replica has stopped", holder)
		}
		time.Sleep(3 * testElection.RetryPeriod) // a replica tries again after one to 2.2 of them, at random
		if !second.working.Load() {
			t.Error("the second replica doesn't work, although the first one has released the lease")
		}
		second.stop()

		for name, candidate := range map[string]*candidate{"first": first, "second": second} {
			if candidate.err != nil {
				t.Errorf("the %s replica returned the error %v", name, candidate.err)
			}
		}
	})
}

// A replica holds its lease until its work is done, because the other one must not start earlier.
func TestTheLeaseIsReleasedAfterTheWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &leaseServer{}
		first := startCandidate(t, server)
		first.finishing = time.Minute // much longer than a lease lasts without renewals
		second := startCandidate(t, server)

		shutdown := time.Now()
		first.stop()

		if took := time.Since(shutdown); took < first.finishing {
			t.Errorf("run returned after %v, but the work takes %v to finish", took, first.finishing)
		}
		if first.holderAfterWork == "" || second.working.Load() {
			t.Errorf("when the first replica's work was done, %q held the lease, and the second replica worked: %v; want the first, and false", first.holderAfterWork, second.working.Load())
		}
		second.stop()
	})
}

// A leader that can't renew its lease must stop before the lease expires, because then another
// replica starts.
func TestALostLeaseStopsTheWork(t *testing.T) {
	for sentence, test := range map[string]struct {
		fault    func(*leaseServer)
		shutdown bool // a shutdown has started before, and the work isn't done yet
	}{
		"all requests fail":                          {fault: func(s *leaseServer) { s.failing.Store(true) }},
		"no request is answered":                     {fault: func(s *leaseServer) { s.hanging.Store(true) }},
		"renewals fail, but the release succeeds":    {fault: func(s *leaseServer) { s.onlyReleases.Store(true) }},
		"all requests fail during the shutdown":      {fault: func(s *leaseServer) { s.failing.Store(true) }, shutdown: true},
		"no request is answered during the shutdown": {fault: func(s *leaseServer) { s.hanging.Store(true) }, shutdown: true},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &leaseServer{}
				leader := startCandidate(t, server)
				leader.finishing = time.Hour
				server.onRelease = func() {
					if leader.working.Load() {
						t.Error("the lease was released before the work had stopped")
					}
				}
				time.Sleep(time.Minute)
				if test.shutdown {
					go leader.stop()
					time.Sleep(time.Minute)
				}

				test.fault(server)
				failed := time.Now()
				<-leader.ended

				if took := time.Since(failed); took > testElection.LeaseDuration {
					t.Errorf("the work stopped %v after the lease could no longer be renewed, want at most the lease duration, %v", took, testElection.LeaseDuration)
				}
				if !leader.lost {
					t.Error("leading didn't end while the work was running, want it to end when the lease is lost")
				}
				if !errors.Is(leader.err, errLostLease) {
					t.Errorf("run returned the error %v, want %q", leader.err, errLostLease)
				}
			})
		})
	}
}

// If a replica is shut down before it leads, it stops at once, even if the server doesn't answer.
// It has never worked.
func TestAShutdownBeforeAReplicaLeads(t *testing.T) {
	for sentence, hanging := range map[string]bool{"the server answers": false, "no request is answered": true} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &leaseServer{}
				leader := startCandidate(t, server)
				waiting := startCandidate(t, server)
				server.hanging.Store(hanging)

				shutdown := time.Now()
				waiting.stop()

				if took := time.Since(shutdown); took != 0 || waiting.err != nil || waiting.worked {
					t.Errorf("run returned after %v with the error %v, and work was called: %v; want at once, none, and false", took, waiting.err, waiting.worked)
				}
				server.hanging.Store(false)
				leader.stop()
			})
		})
	}
}

// If the Lease's namespace is missing, the program logs that and waits. The namespace may be
// created after the program has started, and so may the permissions.
func TestTheNamespaceOfTheLeaseIsMissing(t *testing.T) {
	var log bytes.Buffer
	defer klog.CaptureState().Restore()
	klog.LogToStderr(false)
	klog.SetOutput(&log)
	synctest.Test(t, func(t *testing.T) {
		server := &leaseServer{}
		server.noNamespace.Store(true)
		candidate := startCandidate(t, server)
		time.Sleep(time.Minute)
		if candidate.working.Load() {
			t.Error("the replica works without a lease")
		}
		server.noNamespace.Store(false)
		time.Sleep(3 * testElection.RetryPeriod)
		if !candidate.working.Load() {
			t.Error("the replica doesn't work, although it can get the lease now")
		}
		candidate.stop()
	})
	klog.Flush()
	if want := "Error initially creating lease lock"; !strings.Contains(log.String(), want) {
		t.Errorf("the log doesn't contain %q:\n%s", want, &log)
	}
}

// candidate is a replica of the program. Its work waits for the shutdown, and then needs some time
// to finish.
type candidate struct {
	finishing time.Duration // how long the work continues after the shutdown
	stop      func()        // returns when run has returned
	working   atomic.Bool
	ended     chan struct{}

	// Set before ended is closed.
	err             error  // the error that run has returned
	worked          bool   // work was called
	lost            bool   // leading ended while the work was running
	holderAfterWork string // who held the lease when the work was done
}

func startCandidate(t *testing.T, server *leaseServer) *candidate {
	ctx, cancel := context.WithCancel(t.Context())
	c := &candidate{ended: make(chan struct{})}
	c.stop = func() {
		cancel()
		<-c.ended
	}
	go func() {
		defer close(c.ended)
		c.err = testElection.run(ctx, &rest.Config{Transport: server}, func(ctx, leading context.Context) {
			c.worked = true
			c.working.Store(true)
			defer c.working.Store(false)
			<-ctx.Done()
			select {
			case <-leading.Done():
				c.lost = true
				time.Sleep(time.Millisecond) // in the bubble's time: work takes a moment to stop
			case <-time.After(c.finishing):
				c.holderAfterWork = server.holder()
			}
		})
	}()
	synctest.Wait() // it leads, or waits to lead
	return c
}

// leaseServer is an API server with one Lease. A test can make its requests fail or hang.
type leaseServer struct {
	failing, hanging, onlyReleases, noNamespace atomic.Bool
	onRelease                                   func()

	mu      sync.Mutex
	lease   *coordinationv1.Lease
	version int
}

func (s *leaseServer) RoundTrip(request *http.Request) (*http.Response, error) {
	if s.hanging.Load() {
		<-request.Context().Done()
		return nil, request.Context().Err()
	}
	if s.failing.Load() {
		return nil, errors.New("connection refused")
	}
	var sent coordinationv1.Lease
	if request.Body != nil {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return nil, err
		}
		if _, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, &sent); err != nil {
			return nil, err
		}
	}
	status, answer := s.answer(request.Method, &sent)
	body, err := json.Marshal(answer)
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body))}, err
}

func (s *leaseServer) answer(method string, sent *coordinationv1.Lease) (int, runtime.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	resource := schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}
	refuse := func(err *apierrors.StatusError) (int, runtime.Object) { return int(err.ErrStatus.Code), &err.ErrStatus }
	switch {
	case method == http.MethodPost && s.noNamespace.Load():
		return refuse(apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, testElection.namespace))
	case method != http.MethodPost && s.lease == nil:
		return refuse(apierrors.NewNotFound(resource, "foo-controller"))
	case method == http.MethodGet:
		return http.StatusOK, s.lease
	case method == http.MethodPost && s.lease != nil:
		return refuse(apierrors.NewAlreadyExists(resource, "foo-controller"))
	case method == http.MethodPut && sent.ResourceVersion != s.lease.ResourceVersion:
		return refuse(apierrors.NewConflict(resource, "foo-controller", errors.New("the object has been modified")))
	case method == http.MethodPut && *sent.Spec.HolderIdentity == "" && s.onRelease != nil:
		s.onRelease()
	case method == http.MethodPut && *sent.Spec.HolderIdentity != "" && s.onlyReleases.Load():
		return refuse(apierrors.NewInternalError(errors.New("the lease can't be renewed")))
	}
	s.version++
	sent.TypeMeta = metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"}
	sent.ResourceVersion = strconv.Itoa(s.version)
	s.lease = sent
	return http.StatusOK, sent
}

// holder returns who holds the Lease, or "" if nobody does.
func (s *leaseServer) holder() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.lease.Spec.HolderIdentity
}
