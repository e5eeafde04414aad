// Refusals. They must not delay a transition, hide another error or be hidden by one, or exceed the
// size of an event. And they must not go unnoticed if the API server reverts an apply.

package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// A returned error discards RequeueAfter. So just before a transition, a refusal isn't returned.
func TestARefusalBeforeATransition(t *testing.T) {
	for sentence, test := range map[string]struct {
		now     time.Time
		want    time.Duration
		wantErr bool
	}{
		"hours before the transition":           {at(12, 0), 0, true},
		"more than a minute before it":          {at(16, 58), 0, true},
		"half a minute before it":               {at(16, 59).Add(30 * time.Second), 30 * time.Second, false},
		"exactly the longest backoff before it": {at(16, 59), time.Minute, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			tdset := aTDSet(known, withService(80))
			c := newCluster(t, tdset, deploymentOf(tdset))
			c.clock.now = test.now
			c.refuseNext("apply services", errNotNow)

			result, err := c.sync()

			if (err != nil) != test.wantErr || result.RequeueAfter != test.want {
				t.Errorf("requeued after %v with the error %v, want %v", result.RequeueAfter, err, test.want)
			}
			if c.degraded() != reasonRefused {
				t.Errorf("the status is %q, want Refused", c.status())
			}
		})
	}
}

// In a namespace that is being deleted, nothing can be created. That is no error, because the TDSet
// will be deleted too.
func TestATerminatingNamespace(t *testing.T) {
	c := newCluster(t, aTDSet(known))
	c.refuseNext("apply deployments", errTerminating)

	result, err := c.sync()

	if err != nil || !result.IsZero() || len(c.recorded()) > 0 || c.status() != "" {
		t.Errorf("got %+v, the error %v and the status %q, want none", result, err, c.status())
	}
}

// An admission policy reverts each write. The request succeeds, but the object doesn't change, so
// there is no event. If the controller didn't compare the resourceVersions, it would never write
// the status.
func TestARevertedWrite(t *testing.T) {
	tdset := aTDSet(known, withService(80))
	for sentence, given := range map[string][]client.Object{
		"the Deployment's image": {deploymentOf(tdset, running("nginx:0.9"), withPods(5)), serviceOf(tdset)},
		"the Service's selector": {deploymentOf(tdset, withPods(5)), serviceOf(tdset, selecting("other"))},
		"the Service's ports":    {deploymentOf(tdset, withPods(5)), serviceOf(tdset, withPort(9090))},
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
					return c.server.Get(c.t.Context(), web, object) // the answer has the old object
				},
			})

			_, err := c.sync()

			if !errors.Is(err, errOverruled) || c.degraded() != reasonRefused {
				t.Errorf("got the error %v and the status %q, want Refused", err, c.status())
			}
			if got := c.recorded(); len(got) != 1 || !strings.HasPrefix(got[0], "Warning Refused ") {
				t.Errorf("got the events %q", got)
			}
		})
	}
}

// A refusal may have a different message each time. It is still retried with backoff, and the
// status has the last message.
func TestARefusalWithChangingMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, aTDSet())
		refusal := &reworded{StatusError: errNotNow}
		c.refuseAll("apply deployments", refusal)
		start := c.beginAt("UTC", "2026-01-15 12:00:00")
		c.run(c.TDSetReconciler)

		c.waitUntil(start.Add(time.Hour))

		attempts := refusal.words.Load()
		if attempts < 60 || attempts > 80 {
			t.Errorf("got %d attempts in an hour, want about one a minute, and more at first", attempts)
		}
		if got, want := degradedOf(c.tdset()).Message, fmt.Sprintf("create the Deployment: no, request %d", attempts); got != want {
			t.Errorf("the status is %q, want %q", got, want)
		}
	})
}

// reworded is a refusal whose message changes each time, up to a thousand times. Otherwise, a loop
// without a pause would never end in a synctest bubble.
type reworded struct {
	*apierrors.StatusError
	words atomic.Int32
}

func (r *reworded) Error() string { return fmt.Sprintf("no, request %d", min(r.words.Add(1), 1000)) }

// An event that is too long would be lost without an error.
func TestALongRefusal(t *testing.T) {
	c := newCluster(t, aTDSet(known))
	c.refuseNext("apply deployments", apierrors.NewForbidden(tdsets, "web", errors.New(strings.Repeat("nein, ä! ", 1000))))

	_, err := c.sync()

	recorded := c.recorded()
	if !apierrors.IsForbidden(err) || len(recorded) != 1 || len(recorded[0]) > len("Warning Refused ")+maxMessage || !utf8.ValidString(recorded[0]) {
		t.Errorf("got the error %v and the events %q, want one short event", err, recorded)
	}
}
