// This chapter's limit: a failed write isn't retried until another event arrives. Chapter 03 fixes
// that.

package main

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/klog/v2"
)

// A Foo was renamed from web to new, and one of the three writes fails.
func TestIntegrationAFailedWriteIsLost(t *testing.T) {
	for sentence, test := range map[string]struct {
		write     string // which gets this answer
		code      int
		want      []string // the Deployments after the event
		wantReady string   // the reason; "" if there is no such condition
		wantLost  bool     // whether the log says so
	}{
		"the create fails: the former Deployment stays": {
			write: "POST deployments", code: http.StatusInternalServerError,
			want: []string{"web: 1 × nginx:latest"}, wantReady: "Failed", wantLost: true,
		},
		"the delete fails: the Foo has two Deployments": {
			write: "DELETE deployments/web", code: http.StatusInternalServerError,
			want: []string{"new: 1 × nginx:latest", "web: 1 × nginx:latest"}, wantReady: "Failed", wantLost: true,
		},
		"the update of the status fails: users don't learn of the new Deployment": {
			write: "PUT foos/example/status", code: http.StatusInternalServerError,
			want: []string{"new: 1 × nginx:latest"}, wantLost: true,
		},
		"a conflict: somebody else's write causes the next event, so nothing is lost": {
			write: "POST deployments", code: http.StatusConflict,
			want: []string{"web: 1 × nginx:latest"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			var log bytes.Buffer
			defer klog.CaptureState().Restore()
			klog.LogToStderr(false)
			klog.SetOutput(&log)
			c, foo := newRealCluster(t), aFoo("example", "new", 1)
			c.create(foo)
			c.create(deploymentOf(foo, named("web")))
			c.beforeNext(test.write, func() *http.Response { return answer(test.code) })

			c.handleFoo(t.Context(), foo)

			if diff := cmp.Diff(test.want, c.deployments()); diff != "" {
				t.Errorf("Deployments (-want +got):\n%s", diff)
			}
			if got := c.ready(); got != test.wantReady {
				t.Errorf("Ready has the reason %q, want %q", got, test.wantReady)
			}
			klog.Flush()
			if got := strings.Contains(log.String(), "Lost an event"); got != test.wantLost {
				t.Errorf("the log reports a lost event: %v, want %v. The log:\n%s", got, test.wantLost, &log)
			}
			c.eventually("further events make up for it", func(context.Context) bool {
				c.handleFoo(t.Context(), foo)
				return slices.Equal(c.deployments(), []string{"new: 1 × nginx:latest"}) && c.ready() != "Failed"
			})
		})
	}
}
