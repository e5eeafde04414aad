// What happens to an Event that the API server rejects. The recorder is client-go's own, with the
// fake clientset, in a testing/synctest bubble.

package main

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// client-go retries an Event if the API server can't be reached. If the server rejects it, as in
// fault F4, the Event is lost: the status has the same message, and that is what programs should
// read.
func TestARejectedEventIsLost(t *testing.T) {
	for sentence, test := range map[string]struct {
		failure      error
		wantAttempts int32
	}{
		"the server rejects it":       {apierrors.NewInternalError(errors.New("the disk is full")), 1},
		"the server can't be reached": {errors.New("connection refused"), 2},
		"the server accepts it":       {nil, 1},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var attempts atomic.Int32
				kube := fake.NewSimpleClientset()
				kube.PrependReactor("create", "events", func(clienttesting.Action) (handled bool, answer runtime.Object, err error) {
					return attempts.Add(1) == 1 && test.failure != nil, nil, test.failure
				})
				ctx, stop := context.WithCancel(t.Context())
				c, err := newController(ctx, fakeFoos{}, kube, "", 0)
				if err != nil {
					t.Fatal(err)
				}
				c.recorder.Event(aFoo("example", "web", 1), corev1.EventTypeNormal, "Synced", "1 of 1 replicas are available")
				time.Sleep(time.Hour) // in the bubble's time, so it takes none
				stop()
				c.queue.ShutDown()

				if got := attempts.Load(); got != test.wantAttempts {
					t.Errorf("got %d attempts, want %d", got, test.wantAttempts)
				}
			})
		})
	}
}
