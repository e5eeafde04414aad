// The controller on a real API server, which has things that fakes don't: a Lease that counts,
// Events, Pods and conflicts.

package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
)

// The whole program, from its flags to its exit.
func TestIntegrationAFooBecomesReady(t *testing.T) {
	c := newRealCluster(t)
	stop := c.start()
	c.create(aFoo("example", "web", 2))
	c.eventually("the Foo becomes ready", func(context.Context) bool {
		status := c.foo().Status
		return status.AvailableReplicas == 2 && meta.IsStatusConditionTrue(status.Conditions, "Ready")
	})
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
		c.create(aFoo("example", "web", 2)) // work that takes longer than the return of runAsLeader
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

// A real server refuses writes whose assumptions no longer hold. The fake clientset accepts them.
func TestIntegrationStaleWritesAreRefused(t *testing.T) {
	c := newRealCluster(t)
	foo := c.create(aFoo("example", "web", 2))
	stale, err := c.createDeployment(t.Context(), desiredDeployment(foo))
	must(t, err)
	_, err = c.kube.AppsV1().Deployments(c.namespace).Patch(t.Context(), "web", types.MergePatchType, []byte(`{"metadata":{"annotations":{"team":"blue"}}}`), metav1.PatchOptions{})
	must(t, err)
	_, err = c.users.Patch(t.Context(), "example", types.MergePatchType, []byte(`{"spec":{"replicas":5}}`), metav1.PatchOptions{})
	must(t, err)
	another := stale.DeepCopy()
	another.UID = "another"

	_, updateErr := c.updateDeployment(t.Context(), stale, desiredDeployment(foo))
	for sentence, err := range map[string]error{
		"an update of a Deployment that somebody has annotated since": updateErr,
		"a status of a Foo that has been scaled since":                c.updateFooStatus(t.Context(), foo, desiredStatus(foo, stale, nil, metav1.Now())),
		"the deletion of a Deployment with another UID":               c.deleteDeployment(t.Context(), another),
	} {
		if !apierrors.IsConflict(err) {
			t.Errorf("%s: got the error %v, want a conflict", sentence, err)
		}
	}
	if _, err := c.createDeployment(t.Context(), desiredDeployment(foo)); !apierrors.IsAlreadyExists(err) {
		t.Errorf("a second Deployment with the same name: got the error %v, want AlreadyExists", err)
	}
	if annotations := c.deployment("web").Annotations; annotations["team"] != "blue" {
		t.Errorf("somebody else's annotation is lost: the annotations are %v", annotations)
	}
	for range 2 { // the second time, it is gone already, as it should be
		must(t, c.deleteDeployment(t.Context(), stale))
	}
}
