// What becomes of what the manager is doing when it is told to stop.

package main

import (
	"net/http"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// The work under way is given up: its context ends, and with that the request that it waits for. (Chapter 04 lets it finish.) What it
// hasn't done is done after the next start.
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
