// Leader election, with client-go's own elector and client, in bubbles of testing/synctest. Their
// API server is a RoundTripper that keeps one Lease.

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

// With such numbers, two replicas could work at the same time.
func TestNumbersThatAreTooTight(t *testing.T) {
	for sentence, test := range map[string]struct {
		leaseDuration, renewDeadline time.Duration
		want                         string
	}{
		"client-go's usual": {15 * time.Second, 10 * time.Second, "--leader-election-lease-duration 15s: must be more than the retry period (2s) and 1.5 times the renew deadline (10s) together"},
		"one that is equal": {14 * time.Second, 8 * time.Second, "--leader-election-lease-duration 14s: must be more than the retry period (2s) and 1.5 times the renew deadline (8s) together"},
	} {
		t.Run(sentence, func(t *testing.T) {
			tight := testElection
			tight.LeaseDuration, tight.RenewDeadline = test.leaseDuration, test.renewDeadline
			err := tight.run(t.Context(), &rest.Config{}, func(context.Context, context.Context) { t.Error("it works") })
			if err == nil || err.Error() != test.want {
				t.Errorf("got the error %v, want %q", err, test.want)
			}
		})
	}
}

func TestWithoutElectionItWorksAtOnce(t *testing.T) {
	worked := false
	err := leaderElection{}.run(t.Context(), nil, func(context.Context, context.Context) { worked = true })
	if err != nil || !worked {
		t.Errorf("it worked: %v, and got the error %v", worked, err)
	}
}

func TestOneLeadsAndTheOtherTakesOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &leaseServer{}
		first := startCandidate(t, server)
		second := startCandidate(t, server)
		time.Sleep(time.Minute)
		if !first.working.Load() || second.working.Load() {
			t.Errorf("after a minute: the first works: %v; the second works: %v; want the first alone", first.working.Load(), second.working.Load())
		}

		first.stop()
		if holder := server.holder(); holder != "" {
			t.Errorf("%q holds the lease, want nobody, because it was released", holder)
		}
		time.Sleep(3 * testElection.RetryPeriod) // a candidate looks after one to 2.2 of them, by chance
		if !second.working.Load() {
			t.Error("the second doesn't work, though the first has released the lease")
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
func TestTheLeaseIsReleasedAfterTheWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &leaseServer{}
		first := startCandidate(t, server)
		first.finishing = time.Minute // far longer than a lease lasts unless it is renewed
		second := startCandidate(t, server)

		stopped := time.Now()
		first.stop()

		if took := time.Since(stopped); took < first.finishing {
			t.Errorf("run returned after %v, and the work takes %v to finish", took, first.finishing)
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
		cut       func(*leaseServer)
		finishing bool // it has been told to stop, and is finishing what was under way
	}{
		"the lease's updates fail":                          {cut: func(s *leaseServer) { s.failing.Store(true) }},
		"the connection is frozen":                          {cut: func(s *leaseServer) { s.frozen.Store(true) }},
		"its renewals fail, and its release doesn't":        {cut: func(s *leaseServer) { s.onlyReleases.Store(true) }},
		"it is lost while the work is finished":             {cut: func(s *leaseServer) { s.failing.Store(true) }, finishing: true},
		"the connection freezes while the work is finished": {cut: func(s *leaseServer) { s.frozen.Store(true) }, finishing: true},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &leaseServer{}
				leader := startCandidate(t, server)
				leader.finishing = time.Hour
				server.onRelease = func() {
					if leader.working.Load() {
						t.Error("the lease was released before the work had ended")
					}
				}
				time.Sleep(time.Minute)
				if test.finishing {
					go leader.stop()
					time.Sleep(time.Minute)
				}

				test.cut(server)
				cut := time.Now()
				<-leader.ended

				if took := time.Since(cut); took > testElection.LeaseDuration {
					t.Errorf("the work ended %v after the lease could no longer be renewed, and it is good for %v", took, testElection.LeaseDuration)
				}
				if !leader.lost {
					t.Error("the work wasn't told that the lease is lost")
				}
				if !errors.Is(leader.err, errLostLease) {
					t.Errorf("run returned %v, want that the lease is lost", leader.err)
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
				server := &leaseServer{}
				leader := startCandidate(t, server)
				waiting := startCandidate(t, server)
				server.frozen.Store(frozen)

				stopped := time.Now()
				waiting.stop()

				if took := time.Since(stopped); took != 0 || waiting.err != nil || waiting.worked {
					t.Errorf("it ended after %v, with the error %v, and it worked: %v; want at once, none, and false", took, waiting.err, waiting.worked)
				}
				server.frozen.Store(false)
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
		server := &leaseServer{}
		server.noNamespace.Store(true)
		candidate := startCandidate(t, server)
		time.Sleep(time.Minute)
		if candidate.working.Load() {
			t.Error("it works, and has no lease")
		}
		server.noNamespace.Store(false)
		time.Sleep(3 * testElection.RetryPeriod)
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
	stop      func() // returns when run has returned
	working   atomic.Bool
	ended     chan struct{}

	// Known once ended is closed.
	err            error  // what run has returned
	worked         bool   // at all
	lost           bool   // the work was told that the lease is lost
	holderAtTheEnd string // of the lease, when the work was finished
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
				time.Sleep(time.Millisecond) // by the bubble's clock: work takes a moment to stop
			case <-time.After(c.finishing):
				c.holderAtTheEnd = server.holder()
			}
		})
	}()
	synctest.Wait() // it leads, or waits to lead
	return c
}

// leaseServer is an API server with one Lease, whose requests can be made to fail, or never to be
// answered.
type leaseServer struct {
	failing, frozen, onlyReleases, noNamespace atomic.Bool
	onRelease                                  func()

	mu      sync.Mutex
	lease   *coordinationv1.Lease
	version int
}

func (s *leaseServer) RoundTrip(request *http.Request) (*http.Response, error) {
	if s.frozen.Load() {
		<-request.Context().Done()
		return nil, request.Context().Err()
	}
	if s.failing.Load() {
		return nil, errors.New("the connection is cut")
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
		return refuse(apierrors.NewConflict(resource, "foo-controller", errors.New("it has changed")))
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
