// This chapter's limit: a write that failed is not sent again until something else happens. Chapter
// 03 fixes it.

package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"
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
			verb:  "update", on: "deployments/web",
			wantWrites: []string{"update deployments/web"},
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
			verb:  "delete", on: "deployments/web",
			wantWrites: []string{"delete deployments/web"},
			want:       []string{"new: 3 × nginx:latest", "web: 3 × nginx:latest"},
			wantLater:  []string{"new: 3 × nginx:latest"},
		},
		"the status is not written": {
			given: []metav1.Object{foo, deploymentOf(foo)},
			verb:  "update", on: "foos/example/status",
			wantWrites: []string{"update foos/example/status"},
			want:       []string{"web: 3 × nginx:latest"},
			wantLater:  []string{"web: 3 × nginx:latest"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, test.given...)
			c.beforeNext(test.verb, test.on, func() *apierrors.StatusError {
				return apierrors.NewInternalError(errors.New("the disk is full"))
			})

			c.handleFoo(t.Context(), foo)

			if diff := cmp.Diff(test.wantWrites, c.written()); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.want, c.deployments(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("Deployments (-want +got):\n%s", diff)
			}

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

// The log calls an event lost only if it is. If somebody else wrote first, their write causes an
// event, which enqueues the Foo again.
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
			c.beforeNext("create", "deployments", func() *apierrors.StatusError { return test.answer })

			c.handleFoo(t.Context(), foo)

			klog.Flush()
			if got := strings.Contains(log.String(), "Lost an event"); got != test.want {
				t.Errorf("called lost: %v, want %v. The log:\n%s", got, test.want, &log)
			}
		})
	}
}
