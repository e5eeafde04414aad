// What a refusal must not do: make a boundary late, hide behind another error, be longer than an
// event may be, or go unseen, where something in the API server changes back what was applied.

package controller

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// What returns an error is requeued with backoff, and without a time. So just before a
// boundary a refusal is no error.
func TestARefusalBeforeABoundary(t *testing.T) {
	for sentence, test := range map[string]struct {
		now     time.Time
		want    time.Duration
		wantErr bool
	}{
		"hours before it, the queue tries again":          {at(12, 0), 0, true},
		"more than a minute before it too":                {at(16, 58), 0, true},
		"in the last minute it comes at the boundary":     {at(16, 59).Add(30 * time.Second), 30 * time.Second, false},
		"the longest pause before it, it comes there too": {at(16, 59), time.Minute, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			tdset := aTDSet(known, withService(80))
			c := newCluster(t, tdset, deploymentOf(tdset))
			c.clock.now = test.now
			c.refuseNext("apply services", errNotNow)

			result, err := c.sync()

			if (err != nil) != test.wantErr || result.RequeueAfter != test.want {
				t.Errorf("it is requeued after %v, with the error %v, want %v", result.RequeueAfter, err, test.want)
			}
			if c.degraded() != reasonRefused {
				t.Errorf("the status says %q", c.says())
			}
		})
	}
}

func TestSortErrors(t *testing.T) {
	for sentence, test := range map[string]struct {
		errs                    []error
		wantRefused, wantFailed bool
	}{
		"nothing is wrong":                  {[]error{nil, nil}, false, false},
		"a refusal":                         {[]error{errNotNow, nil}, true, false},
		"a failure":                         {[]error{nil, errDiskFull}, false, true},
		"a failure isn't hidden by refusal": {[]error{errNotNow, errDiskFull}, true, true},
		"nor the other way round":           {[]error{errDiskFull, errNotNow}, true, true},
		"what was changed back":             {[]error{errOverruled}, true, false},
		"a namespace that is going":         {[]error{errNamespaceGoing}, false, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			if refused, failed := sortErrors(test.errs...); (refused != nil) != test.wantRefused || (failed != nil) != test.wantFailed {
				t.Errorf("refused: %v, failed: %v", refused, failed)
			}
		})
	}
}

var errNamespaceGoing = &apierrors.StatusError{ErrStatus: metav1.Status{
	Status: metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: "it is being terminated",
	Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}},
}}

// A namespace that is being deleted takes nothing new. That needs nobody's attention: the TDSet is
// going too.
func TestANamespaceThatIsGoing(t *testing.T) {
	c := newCluster(t, aTDSet(known))
	c.refuseNext("apply deployments", errNamespaceGoing)

	for range 2 {
		if _, err := c.sync(); err != nil || len(c.recorded()) > 0 || c.says() != "" {
			t.Errorf("got the error %v; the status says %q", err, c.says())
		}
	}
	if attempts := len(c.written()); attempts != 1 {
		t.Errorf("%d writes, want the refused one only", attempts)
	}
}

// An admission policy puts back what is written: the request succeeds, the object is as before, and
// no event comes. Without a look at its resourceVersion the status would never be written.
func TestWhatIsPutBackAtOnce(t *testing.T) {
	tdset := aTDSet(known, withService(80))
	for sentence, given := range map[string][]client.Object{
		"the Deployment's image":  {deploymentOf(tdset, running("nginx:0.9"), withPods(5)), serviceOf(tdset)},
		"the Service's selection": {deploymentOf(tdset, withPods(5)), serviceOf(tdset, selecting("other"))},
		"the Service's ports":     {deploymentOf(tdset, withPods(5)), serviceOf(tdset, withPort(9090))},
	} {
		t.Run(sentence, func(t *testing.T) {
			c := newCluster(t, append(given, tdset)...)
			c.Client = interceptor.NewClient(c.Client.(client.WithWatch), interceptor.Funcs{
				Apply: func(_ context.Context, _ client.WithWatch, desired runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
					switch desired := desired.(type) {
					case *appsv1ac.DeploymentApplyConfiguration:
						desired.WithResourceVersion(c.deployment().ResourceVersion)
					case *corev1ac.ServiceApplyConfiguration:
						desired.WithResourceVersion(c.service().ResourceVersion)
					}
					return nil
				},
				Patch: func(_ context.Context, _ client.WithWatch, object client.Object, _ client.Patch, _ ...client.PatchOption) error {
					return c.server.Get(c.t.Context(), web, object) // it is the answer
				},
			})

			_, err := c.sync()

			if !errors.Is(err, errOverruled) || c.degraded() != reasonRefused {
				t.Errorf("error: %v; the status says %q", err, c.says())
			}
			if got := c.recorded(); len(got) != 1 || !strings.HasPrefix(got[0], "Warning Refused ") {
				t.Errorf("users were told %q", got)
			}
		})
	}
}

// What the API server says may differ each time. It is tried again by the queue's pauses all the
// same, and the status has its last message.
func TestARefusalThatIsWordedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, aTDSet())
		refusal := &reworded{StatusError: errNotNow}
		c.refuseAll("apply deployments", refusal)
		start := c.beginAt("UTC", "2026-01-15 12:00:00")
		c.run(c.TDSetReconciler)

		c.waitUntil(start.Add(time.Hour))

		attempts := refusal.words.Load()
		if attempts < 60 || attempts > 80 {
			t.Errorf("in an hour, it was tried %d times, want about once a minute, and more often at first", attempts)
		}
		if got, want := degradedOf(c.tdset()).Message, fmt.Sprintf("create the Deployment: no, request %d", attempts); got != want {
			t.Errorf("the status says %q, want %q", got, want)
		}
	})
}

// reworded is a refusal that is in other words each time, up to a thousand times: in a bubble, what
// goes round without a pause would never end.
type reworded struct {
	*apierrors.StatusError
	words atomic.Int32
}

func (r *reworded) Error() string { return fmt.Sprintf("no, request %d", min(r.words.Add(1), 1000)) }

// An event that is too long is lost, and nobody hears of it.
func TestALongRefusal(t *testing.T) {
	c := newCluster(t, aTDSet(known))
	c.refuseNext("apply deployments", apierrors.NewForbidden(tdsetsResource, "web", errors.New(strings.Repeat("no, ", 1000))))

	_, err := c.sync()

	recorded := c.recorded()
	if !apierrors.IsForbidden(err) || len(recorded) != 1 || len(recorded[0]) != len("Warning Refused ")+maxMessage {
		t.Errorf("got the error %v, and users were told %q", err, recorded)
	}
}

func TestShorten(t *testing.T) {
	for sentence, test := range map[string]struct{ message, want string }{
		"what is short stays":               {"no", "no"},
		"what just fits too":                {strings.Repeat("x", maxMessage), strings.Repeat("x", maxMessage)},
		"what is longer is cut":             {strings.Repeat("x", maxMessage+1), strings.Repeat("x", maxMessage-3) + "…"},
		"a letter of two bytes isn't split": {"x" + strings.Repeat("ä", maxMessage), "x" + strings.Repeat("ä", (maxMessage-4)/2) + "…"},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := shorten(test.message); got != test.want {
				t.Errorf("got %d bytes, want %d", len(got), len(test.want))
			}
		})
	}
}
