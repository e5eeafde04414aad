// The queue retries a Foo only if syncHandler returns an error, so every failure must be returned.
// Chapters 01 and 03 test the rest.

package main

import (
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestSyncHandlerReturnsAFailedWrite(t *testing.T) {
	errDiskFull := errors.New("the disk is full")
	web, renamed := aFoo("example", "web", 3), aFoo("example", "new", 3)
	for sentence, test := range map[string]struct {
		given          []metav1.Object
		verb, resource string // of the write that fails
		want           string // how the error begins
	}{
		"the Deployment can't be created": {
			given: []metav1.Object{web},
			verb:  "patch", resource: "deployments",
			want: "create Deployment web: ",
		},
		"the Deployment can't be updated": {
			given: []metav1.Object{web, deploymentOf(web, scaledTo(1))},
			verb:  "patch", resource: "deployments",
			want: "update Deployment web: ",
		},
		"the former Deployment can't be deleted": {
			given: []metav1.Object{renamed, deploymentOf(web), deploymentOf(renamed)},
			verb:  "delete", resource: "deployments",
			want: "delete Deployment web: ",
		},
		"the status can't be updated": {
			given: []metav1.Object{web, deploymentOf(web, available(3))},
			verb:  "patch", resource: "foos/status",
			want: "update the status: ",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			c := newCluster(t, test.given...)
			c.refuseNext(test.verb, test.resource, errDiskFull)

			err := c.sync("example")

			if !errors.Is(err, errDiskFull) || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got the error %v, want one that begins with %q and wraps %q", err, test.want, errDiskFull)
			}
		})
	}
}
