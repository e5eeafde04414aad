// What becomes of what the manager is doing when it is told to stop.

package main

import (
	"net/http"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Shutdown abandons the work in progress: its context is cancelled, and with it the pending request. (Chapter 04 lets it finish.) The
// rest is done after the next start.
func TestWorkUnderWayIsGivenUp(t *testing.T) {
	c := newBareCluster(t)
	begun := make(chan struct{})
	var first sync.Once
	c.traffic.hold = func(write exchange, request *http.Request) {
		if write.verb == "patch" && write.resource == "deployments" {
			first.Do(func() {
				close(begun)
				<-request.Context().Done()
			})
		}
	}
	stop := c.start()
	c.create(example)
	<-begun

	if err := stop(); err != nil {
		t.Errorf("it ended with the error %v", err)
	}

	if _, err := c.deployment(t.Context(), "web"); !apierrors.IsNotFound(err) {
		t.Errorf("got the error %v, want that there is no Deployment", err)
	}
	c.start()
	c.eventually("it is made by the next one", c.says("Progressing"))
}
