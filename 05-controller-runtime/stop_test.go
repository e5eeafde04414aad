// What a shutdown does to the work in progress.

package main

import (
	"net/http"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// A shutdown interrupts the work in progress, because it cancels the context of Reconcile, and with
// it the pending request. (Chapter 04 lets the work finish.) The next start does the rest.
func TestShutdownInterruptsWork(t *testing.T) {
	c := newBareCluster(t)
	started := make(chan struct{})
	var first sync.Once
	c.traffic.hold = func(write exchange, request *http.Request) {
		if write.verb == "patch" && write.resource == "deployments" {
			first.Do(func() {
				close(started)
				<-request.Context().Done()
			})
		}
	}
	stop := c.start()
	c.create(example)
	<-started

	if err := stop(); err != nil {
		t.Errorf("the manager stopped with the error %v, want none", err)
	}

	if _, err := c.deployment(t.Context(), "web"); !apierrors.IsNotFound(err) {
		t.Errorf("get Deployment web: got the error %v, want NotFound", err)
	}
	c.start()
	c.eventually("the next start creates the Deployment", c.hasReason("Progressing"))
}
