// This chapter's limit: a write that failed is not sent again until something else happens, or a resync comes. Chapter 03
// mends it.

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

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"example.com/operators/02-informers/pkg/apis/samplecontroller/v1alpha1"
)

func TestNothingIsRetried(t *testing.T) {
	foo, renamed := aFoo("example", "web", 3), aFoo("example", "new", 3)
	for name, test := range map[string]struct {
		given      []metav1.Object
		verb, on   string   // the write that is answered 500
		wantWrites []string // of the event: the failed one is the last
		want       []string // Deployments after it
		wantLater  []string // and after another event, and those that its writes cause
	}{
		"a Deployment is not created": {
			given: []metav1.Object{foo},
			verb:  "create", on: "deployments",
			wantWrites: []string{"create deployments"},
			wantLater:  []string{"web: 3 × nginx:latest"},
		},
		"a Deployment is not updated": {
			given: []metav1.Object{foo, deploymentOf(foo, scaledTo(1))},
			verb:  "update", on: "deployments",
			wantWrites: []string{"update deployments"},
			want:       []string{"web: 1 × nginx:latest"},
			wantLater:  []string{"web: 3 × nginx:latest"},
		},
		"the new Deployment of a rename is not created: the old one stays": {
			given: []metav1.Object{renamed, deploymentOf(foo)},
			verb:  "create", on: "deployments",
			wantWrites: []string{"create deployments"},
			want:       []string{"web: 3 × nginx:latest"},
			wantLater:  []string{"new: 3 × nginx:latest"},
		},
		"the old Deployment of a rename is not deleted": {
			given: []metav1.Object{renamed, deploymentOf(foo), deploymentOf(renamed)},
			verb:  "delete", on: "deployments",
			wantWrites: []string{"delete deployments"},
			want:       []string{"new: 3 × nginx:latest", "web: 3 × nginx:latest"},
			wantLater:  []string{"new: 3 × nginx:latest"},
		},
		"the status is not written": {
			given: []metav1.Object{foo, deploymentOf(foo)},
			verb:  "update", on: "foos/status",
			wantWrites: []string{"update foos/status"},
			want:       []string{"web: 3 × nginx:latest"},
			wantLater:  []string{"web: 3 × nginx:latest"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, test.given...)
			c.refuseNext(test.verb, test.on, apierrors.NewInternalError(errors.New("the disk is full")))

			c.informed()
			c.handleFoo(t.Context(), foo)

			if diff := cmp.Diff(test.wantWrites, c.written()); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.want, c.deployments(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("Deployments (-want +got):\n%s", diff)
			}

			c.informed()
			c.handleFoo(t.Context(), foo)
			c.settle("example")

			if diff := cmp.Diff(test.wantLater, c.deployments()); diff != "" {
				t.Errorf("Deployments after another event (-want +got):\n%s", diff)
			}
			if got := c.ready("example"); got != "Progressing" {
				t.Errorf("Ready has the reason %q after another event", got)
			}
		})
	}
}

// A resync calls the handlers with all that is in the cache. It mends what was lost, when it comes.
func TestAResyncMends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const every = 10 * time.Minute
		c := newResyncingCluster(t, every, aFoo("example", "web", 3))
		c.refuseNext("create", "deployments", apierrors.NewInternalError(errors.New("the disk is full")))
		stop := c.start()
		defer stop()

		time.Sleep(every - time.Minute)
		if got := c.deployments(); len(got) != 0 {
			t.Errorf("Deployments before a resync: %q, want none", got)
		}

		time.Sleep(2 * time.Minute)
		if diff := cmp.Diff([]string{"web: 3 × nginx:latest"}, c.deployments()); diff != "" {
			t.Errorf("Deployments after a resync (-want +got):\n%s", diff)
		}
	})
}

// A resync looks at each Foo once, not once more for its Deployment.
func TestAResyncLooksAtEachFooOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const every = 10 * time.Minute
		foo := aFoo("example", "web", 3)
		c := newResyncingCluster(t, every, foo, deploymentOf(foo, available(3)))
		var looks atomic.Int32
		c.fakeFoos.onUpdate = func(context.Context, *v1alpha1.Foo) error {
			looks.Add(1)
			return apierrors.NewInternalError(errors.New("the disk is full"))
		}
		stop := c.start()
		defer stop()

		atStart := looks.Load() // for the Foo, and for its Deployment
		time.Sleep(every)
		synctest.Wait()
		if got := looks.Load() - atStart; got != 1 {
			t.Errorf("%d looks at the Foo by one resync, want 1", got)
		}
	})
}

// The log calls an event lost only if it is. Whoever wrote first has caused an event, and that brings us back.
func TestOnlyALostEventIsCalledLost(t *testing.T) {
	foo := aFoo("example", "web", 3)
	for name, test := range map[string]struct {
		answer *apierrors.StatusError
		want   bool
	}{
		"the server failed":              {apierrors.NewInternalError(errors.New("the disk is full")), true},
		"somebody else wrote first":      {apierrors.NewConflict(schema.GroupResource{}, "web", errors.New("it has changed")), false},
		"somebody else took the name":    {apierrors.NewAlreadyExists(schema.GroupResource{}, "web"), false},
		"the server takes no such thing": {apierrors.NewBadRequest("no"), true},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			defer klog.CaptureState().Restore()
			klog.LogToStderr(false)
			klog.SetOutput(&log)
			c := newCluster(t, foo)
			c.refuseNext("create", "deployments", test.answer)

			c.informed()
			c.handleFoo(t.Context(), foo)

			klog.Flush()
			if got := strings.Contains(log.String(), "Lost an event"); got != test.want {
				t.Errorf("called lost: %v, want %v. The log:\n%s", got, test.want, &log)
			}
		})
	}
}
