// This chapter's limit: a failed write isn't retried until another event arrives. Chapter 03 fixes
// that.

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
		verb, on   string   // the write that fails with 500
		wantWrites []string // after the event
		want       []string // the Deployments after the event
		wantReady  string   // the reason
		wantLater  []string // the Deployments after another event, and the events that its writes cause
	}{
		"a create fails": {
			given: []metav1.Object{foo},
			verb:  "create", on: "deployments",
			wantWrites: []string{"create deployments", "update foos/example/status"},
			wantReady:  "Failed",
			wantLater:  []string{"web: 3 × nginx:latest"},
		},
		"an update fails": {
			given: []metav1.Object{foo, deploymentOf(foo, scaledTo(1))},
			verb:  "update", on: "deployments/web",
			wantWrites: []string{"update deployments/web", "update foos/example/status"},
			want:       []string{"web: 1 × nginx:latest"},
			wantReady:  "Failed",
			wantLater:  []string{"web: 3 × nginx:latest"},
		},
		"the create after a rename fails: the old Deployment stays": {
			given: []metav1.Object{renamed, deploymentOf(foo)},
			verb:  "create", on: "deployments",
			wantWrites: []string{"create deployments", "update foos/example/status"},
			want:       []string{"web: 3 × nginx:latest"},
			wantReady:  "Failed",
			wantLater:  []string{"new: 3 × nginx:latest"},
		},
		"the delete after a rename fails": {
			given: []metav1.Object{renamed, deploymentOf(foo), deploymentOf(renamed)},
			verb:  "delete", on: "deployments/web",
			wantWrites: []string{"delete deployments/web", "update foos/example/status"},
			want:       []string{"new: 3 × nginx:latest", "web: 3 × nginx:latest"},
			wantReady:  "Failed",
			wantLater:  []string{"new: 3 × nginx:latest"},
		},
		"a status update fails": {
			given: []metav1.Object{foo, deploymentOf(foo)},
			verb:  "update", on: "foos/example/status",
			wantWrites: []string{"update foos/example/status"},
			want:       []string{"web: 3 × nginx:latest"},
			wantReady:  "",
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
			if got := c.ready("example"); got != test.wantReady {
				t.Errorf("Ready has the reason %q, want %q", got, test.wantReady)
			}

			c.handleFoo(t.Context(), foo)
			c.settle("example")

			if diff := cmp.Diff(test.wantLater, c.deployments()); diff != "" {
				t.Errorf("Deployments after another event (-want +got):\n%s", diff)
			}
			if got := c.ready("example"); got != "Progressing" {
				t.Errorf("after another event, Ready has the reason %q, want Progressing", got)
			}
		})
	}
}

// The log reports a lost event only if there is one. If somebody else wrote first, their write
// causes another event.
func TestLogReportsOnlyLostEvents(t *testing.T) {
	foo := aFoo("example", "web", 3)
	for name, test := range map[string]struct {
		response *apierrors.StatusError
		want     bool
	}{
		"the server failed":              {apierrors.NewInternalError(errors.New("the disk is full")), true},
		"somebody else wrote first":      {apierrors.NewConflict(schema.GroupResource{}, "web", errors.New("it has changed")), false},
		"somebody else took the name":    {apierrors.NewAlreadyExists(schema.GroupResource{}, "web"), false},
		"the server refuses the request": {apierrors.NewBadRequest("no"), true},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			defer klog.CaptureState().Restore()
			klog.LogToStderr(false)
			klog.SetOutput(&log)
			c := newCluster(t, foo)
			c.beforeNext("create", "deployments", func() *apierrors.StatusError { return test.response })

			c.handleFoo(t.Context(), foo)

			klog.Flush()
			if got := strings.Contains(log.String(), "Lost an event"); got != test.want {
				t.Errorf("the log reports a lost event: %v, want %v. The log:\n%s", got, test.want, &log)
			}
		})
	}
}
