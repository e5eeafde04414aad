// The controller on a real API server, which has things that the fake clientset doesn't: a Lease
// that counts, Events, Pods and conflicts. Chapter 01 tests which Foos the CRD rejects.

package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
)

const example = `
apiVersion: samplecontroller.k8s.io/v1alpha1
kind: Foo
metadata: {name: example}
spec: {deploymentName: web, replicas: 2}
`

func TestIntegrationAFooBecomesReady(t *testing.T) {
	c := newRealCluster(t)
	stop := c.start()
	c.create(example)
	c.eventually("the Foo becomes ready", c.isReady(2))
	c.eventually("one Event is recorded, once", func(ctx context.Context) bool {
		events, err := c.kube.CoreV1().Events(c.namespace).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.kind=Foo,reason=Synced"})
		return err == nil && len(events.Items) == 1 && events.Items[0].Count == 1
	})
	stop()
}

// On shutdown, the leader finishes its work, and a replica that has never led exits at once. Two
// cases are tested by the contract: a second replica waits (F7), and the lease is lost (F6c).
func TestIntegrationAShutdownWaitsForTheLeadersWork(t *testing.T) {
	c := newRealCluster(t)
	config, err := loadConfig(os.Getenv("TEST_KUBECONFIG"))
	must(t, err)
	run := func(work func(context.Context)) (stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- runAsLeader(ctx, config, c.namespace, work) }()
		return func() {
			cancel()
			must(t, <-ended)
		}
	}
	started, finished := make(chan struct{}), false
	stopLeader := run(func(ctx context.Context) {
		close(started)
		<-ctx.Done()
		c.create(example) // work that takes longer than the return of runAsLeader
		finished = true
	})
	<-started
	stopOther := run(func(context.Context) { t.Error("two replicas work at once") })

	stopOther()
	stopLeader()

	if !finished {
		t.Error("runAsLeader returned before the work had ended")
	}
}

// If the Lease's namespace is missing, the program logs that and waits.
func TestIntegrationTheNamespaceOfTheLeaseIsMissing(t *testing.T) {
	newRealCluster(t)
	config, err := loadConfig(os.Getenv("TEST_KUBECONFIG"))
	must(t, err)
	var log bytes.Buffer
	defer klog.CaptureState().Restore()
	klog.LogToStderr(false)
	klog.SetOutput(&log)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()

	must(t, runAsLeader(ctx, config, "missing", func(context.Context) { t.Error("the replica works without a lease") }))

	klog.Flush()
	if want := "Error initially creating lease lock"; !strings.Contains(log.String(), want) {
		t.Errorf("the log doesn't contain %q:\n%s", want, &log)
	}
}

// A real server refuses writes whose assumptions no longer hold. The fake clientset accepts them,
// so chapter 02's write_test.go tests only what is sent.
func TestIntegrationStaleWritesAreRefused(t *testing.T) {
	c := newRealCluster(t)
	c.create(example)
	foo, err := c.foo(t.Context())
	must(t, err)
	must(t, errorOf(c.createDeployment(t.Context(), desiredDeployment(foo))))
	stale, err := c.deployment(t.Context(), "web")
	must(t, err)
	c.changeByHand("web", `{"metadata":{"annotations":{"team":"blue"}}}`)
	c.change(`{"replicas":5}`)
	another := stale.DeepCopy()
	another.UID = "another"

	for name, err := range map[string]error{
		"an update of a Deployment that somebody has annotated since": errorOf(c.updateDeployment(t.Context(), stale, desiredDeployment(foo))),
		"a status of a Foo that has been scaled since":                c.updateFooStatus(t.Context(), foo, desiredStatus(foo, stale, nil, now)),
		"the deletion of a Deployment with another UID":               c.deleteDeployment(t.Context(), another),
	} {
		if !apierrors.IsConflict(err) {
			t.Errorf("%s: got the error %v, want a conflict", name, err)
		}
	}
	if _, err := c.createDeployment(t.Context(), desiredDeployment(foo)); !apierrors.IsAlreadyExists(err) {
		t.Errorf("a second Deployment with the same name: got the error %v, want AlreadyExists", err)
	}
	web, err := c.deployment(t.Context(), "web")
	if err != nil || web.Annotations["team"] != "blue" {
		t.Errorf("somebody else's annotation is lost: the annotations are %v, the error is %v", web.Annotations, err)
	}
}
