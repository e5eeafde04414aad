//go:build check || solution

// The helpers of the tests: a cluster with one TDSet, the program, and a clock. Each test runs in a
// testing/synctest bubble, where time passes only while every goroutine waits. So a day takes no
// time, and every instant is exact.

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"sigs.k8s.io/yaml"
)

var kinds = map[string]schema.GroupVersionKind{
	"tdsets":      groupVersion.WithKind("TDSet"),
	"deployments": appsv1.SchemeGroupVersion.WithKind("Deployment"),
}

const name, namespace = "tdset-hello-world", "temp" // as in manifests/tdset.yaml

// midnight is when each test begins.
var midnight = time.Date(2026, time.March, 2, 0, 0, 0, 0, time.UTC)

// cluster is what a test acts on.
type cluster struct {
	*testing.T
	program *controller
	run     func(*controller, context.Context)
	api     *fakeAPI
	clock   *testClock

	mu     sync.Mutex
	scaled []string // each write of a Deployment
	status []string // each write of a status
}

// inACluster runs a test at midnight, in an empty cluster, with a program that hasn't started yet.
func inACluster(t *testing.T, run func(*controller, context.Context), test func(c *cluster)) {
	klog.SetLogger(klog.Logger{}) // so that the program's log doesn't hide what failed
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{T: t, run: run, api: newFakeAPI(), clock: &testClock{t: t}}
		c.clock.by = time.Until(midnight)
		c.api.onWrite = c.wrote
		c.program = newProgram(t, c.api, "", c.clock)
		test(c)
	})
}

// newProgram returns a controller of the TDSets in namespace, with clients of that server.
func newProgram(t *testing.T, api http.RoundTripper, namespace string, clock *testClock) *controller {
	t.Helper()
	config := &rest.Config{Host: "http://localhost", Transport: api}
	config.ContentType = "application/json" // this server understands nothing else
	program, err := newController(t.Context(), config, namespace, clock)
	if program != nil && program.queue != nil {
		t.Cleanup(program.queue.ShutDown) // for a test that doesn't run it
	}
	if err != nil {
		t.Fatalf("newController: %v", err)
	}
	for _, part := range []struct {
		name  string
		empty bool
	}{
		{"tdsets", program.tdsets == nil},
		{"kube", program.kube == nil},
		{"clock", program.clock == nil},
		{"tdsetInformer", program.tdsetInformer == nil},
		{"tdsetsLister", program.tdsetsLister == nil},
		{"deploymentInformer", program.deploymentInformer == nil},
		{"deploymentsLister", program.deploymentsLister == nil},
		{"queue", program.queue == nil},
	} {
		if part.empty {
			t.Fatalf("newController: the controller has no %s", part.name)
		}
	}
	program.recorder = &record.FakeRecorder{} // it records nothing
	return program
}

// wrote records each write of the program, and its time.
func (c *cluster) wrote(object *unstructured.Unstructured) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if object.GetKind() == "Deployment" {
		var d appsv1.Deployment
		convert(c.T, object, &d)
		c.scaled = append(c.scaled, fmt.Sprintf("%s: %d", c.clock, replicasOf(&d)))
		return
	}
	c.status = append(c.status, c.clock.String())
}

// running starts the program, waits until it has nothing left to do, calls meanwhile, and stops the
// program.
func (c *cluster) running(meanwhile func()) {
	c.Helper()
	ctx, cancel := context.WithCancel(c.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.run(c.program, ctx)
	}()
	time.Sleep(time.Second) // informers check every 100 ms whether their caches have synced
	synctest.Wait()
	meanwhile()
	cancel()
	synctest.Wait()
	select {
	case <-ended:
	default:
		c.Error("run hasn't returned after its context was cancelled")
	}
}

// until lets time pass until that time of day, such as "09:00" or "09:00:30". If it has passed
// already, that is on the next day. When until returns, the program has nothing left to do.
func (c *cluster) until(clock string) {
	c.Helper()
	at, err := time.Parse(time.TimeOnly, (clock + ":00")[:len(time.TimeOnly)])
	if err != nil {
		c.Fatal(err)
	}
	now := c.clock.shiftedClock.Now().UTC()
	wait := at.Sub(time.Date(0, 1, 1, now.Hour(), now.Minute(), now.Second(), now.Nanosecond(), time.UTC))
	if wait <= 0 {
		wait += 24 * time.Hour
	}
	time.Sleep(wait)
	synctest.Wait()
}

// put creates or replaces an object.
func (c *cluster) put(object metav1.Object, resource string) {
	c.locked(func() { c.update(object, resource) })
}

// putUnseen does the same, but no watch reports it.
func (c *cluster) putUnseen(object metav1.Object, resource string) {
	c.locked(func() {
		c.update(object, resource)
		c.api.forget(resource)
	})
}

func (c *cluster) update(object metav1.Object, resource string) {
	stored := &unstructured.Unstructured{}
	convert(c.T, object, stored)
	c.api.update(id{resource, object.GetNamespace(), object.GetName()}, stored)
}

// putTDSet changes the TDSet. If there is none yet, it creates the one in the manifest, with these
// changes.
func (c *cluster) putTDSet(changes ...func(*TDSet)) {
	c.Helper()
	tdset := c.tdset()
	if tdset == nil {
		tdset = example(c.T)
	}
	for _, change := range changes {
		change(tdset)
	}
	c.put(tdset, "tdsets")
}

// changeDeployment changes the Deployment, as a user could.
func (c *cluster) changeDeployment(change func(*appsv1.Deployment)) {
	c.Helper()
	deployment := c.deployment()
	change(deployment)
	c.put(deployment, "deployments")
}

// othersDeployment returns a Deployment with the TDSet's name that doesn't belong to the TDSet.
func (c *cluster) othersDeployment(replicas int32) *appsv1.Deployment {
	c.Helper()
	deployment := &appsv1.Deployment{}
	convert(c.T, desiredDeployment(example(c.T), replicas), deployment)
	deployment.OwnerReferences = nil
	return deployment
}

// remove deletes the TDSet or the Deployment.
func (c *cluster) remove(resource string) {
	c.locked(func() { c.api.remove(id{resource, namespace, name}) })
}

// removeUnseen deletes the TDSet or the Deployment, but no watch reports it.
func (c *cluster) removeUnseen(resource string) {
	c.locked(func() {
		c.api.remove(id{resource, namespace, name})
		c.api.forget(resource)
	})
}

// failing lets time pass until the time of day in to. Between from and to, every request gets a
// 500.
func (c *cluster) failing(from, to string) {
	c.until(from)
	c.locked(func() { c.api.down = true })
	c.until(to)
	c.locked(func() { c.api.down = false })
}

// locked calls do with the server locked, and then waits until the program has nothing left to do.
func (c *cluster) locked(do func()) {
	c.api.mu.Lock()
	do()
	c.api.mu.Unlock()
	synctest.Wait()
}

// tdset returns the TDSet as it is now, or nil if there is none.
func (c *cluster) tdset() *TDSet { return read[TDSet](c, "tdsets") }

// deployment returns the Deployment that is in the cluster now. If there is none, the test fails.
func (c *cluster) deployment() *appsv1.Deployment {
	c.Helper()
	deployment := read[appsv1.Deployment](c, "deployments")
	if deployment == nil {
		c.Fatalf("at %s there is no Deployment", c.clock)
	}
	return deployment
}

// read returns an object of the fake server, or nil.
func read[T any](c *cluster, resource string) *T {
	c.api.mu.Lock()
	defer c.api.mu.Unlock()
	stored := c.api.objects[id{resource, namespace, name}]
	if stored == nil {
		return nil
	}
	into := new(T)
	convert(c.T, stored, into)
	return into
}

// wantReplicas checks how many replicas the Deployment has.
func (c *cluster) wantReplicas(want int32) {
	c.Helper()
	if deployment := read[appsv1.Deployment](c, "deployments"); deployment == nil {
		c.Errorf("at %s there is no Deployment, want one with %d replicas", c.clock, want)
	} else if got := replicasOf(deployment); got != want {
		c.Errorf("at %s the Deployment has %d replicas, want %d", c.clock, got, want)
	}
}

// wantScaled checks each write of the Deployment, by time and replicas, such as "09:00:00: 5".
func (c *cluster) wantScaled(want ...string) {
	c.Helper()
	if !slices.Equal(c.scaled, want) {
		c.Errorf("the writes of the Deployment are %q,\nwant                             %q", c.scaled, want)
	}
}

// wantNothingWritten checks that the controller has written nothing.
func (c *cluster) wantNothingWritten() {
	c.Helper()
	if len(c.scaled)+len(c.status) > 0 {
		c.Errorf("the writes are %q of the Deployment and %q of the status, want none", c.scaled, c.status)
	}
}

// wantNoCalls checks that the controller hasn't called clock.Now since calls was last called.
func (c *cluster) wantNoCalls(when string) {
	c.Helper()
	if calls := c.clock.calls(); calls > 0 {
		c.Errorf("%s: got %d calls of c.clock.Now, want none", when, calls)
	}
}

// wantReason checks the reason of the condition Ready.
func (c *cluster) wantReason(want string) {
	c.Helper()
	condition := meta.FindStatusCondition(c.tdset().Status.Conditions, conditionReady)
	if condition == nil {
		c.Errorf("there is no condition %s, want one with the reason %s", conditionReady, want)
	} else if condition.Reason != want {
		c.Errorf("the condition %s has the reason %s, want %s", conditionReady, condition.Reason, want)
	}
}

// wantOwner checks that a field has exactly one owner. The field's path is written as in
// managedFields.
func (c *cluster) wantOwner(object metav1.Object, want string, path ...string) {
	c.Helper()
	var owners []string
	for _, entry := range object.GetManagedFields() {
		owned := map[string]any{}
		convert(c.T, entry.FieldsV1, &owned)
		if _, found, _ := unstructured.NestedFieldNoCopy(owned, path...); found {
			owners = append(owners, entry.Manager)
		}
	}
	if !slices.Equal(owners, []string{want}) {
		c.Errorf("%s is owned by %q, want %q", strings.Join(path, " "), owners, want)
	}
}

// wantCached checks which TDSets and Deployments are in the informers' caches, as namespace/name.
func (c *cluster) wantCached(want ...string) {
	c.Helper()
	for resource, informer := range map[string]cache.SharedIndexInformer{
		"TDSets":      c.program.tdsetInformer,
		"Deployments": c.program.deploymentInformer,
	} {
		if got := informer.GetIndexer().ListKeys(); !slices.Equal(got, want) {
			c.Errorf("the informer of %s has %q, want %q", resource, got, want)
		}
	}
}

// available sets a status in which all replicas are available.
func available(d *appsv1.Deployment) {
	d.Status = appsv1.DeploymentStatus{
		ObservedGeneration: d.Generation,
		Replicas:           replicasOf(d),
		UpdatedReplicas:    replicasOf(d),
		AvailableReplicas:  replicasOf(d),
	}
}

// testClock differs from the bubble's clock, so a controller that uses the wrong one fails. It
// counts the calls of Now, because that is the first thing that syncHandler calls.
type testClock struct {
	shiftedClock
	t *testing.T

	mu     sync.Mutex
	count  int // calls of Now since calls was last called
	last   time.Time
	atLast int // calls at the instant last
}

// A controller that makes this many calls of Now at one instant is in an endless loop.
const tooMany = 200

func (c *testClock) Now() time.Time {
	now := c.shiftedClock.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count++
	c.atLast++
	if !now.Equal(c.last) {
		c.last, c.atLast = now, 1
	}
	if c.atLast == tooMany {
		c.t.Errorf("at %s: got %d calls of c.clock.Now at the same instant: is there an endless loop?", c, tooMany)
	}
	if c.atLast >= tooMany {
		runtime.Goexit() // ends the loop, but not the test
	}
	return now
}

// calls returns how often Now has been called since calls was last called.
func (c *testClock) calls() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	calls := c.count
	c.count = 0
	return calls
}

// String returns the time of day.
func (c *testClock) String() string { return c.shiftedClock.Now().UTC().Format("15:04:05.999") }

// example returns the TDSet in manifests/tdset.yaml. A field that the types don't have fails the
// test.
func example(t *testing.T) *TDSet {
	t.Helper()
	text, err := os.ReadFile("manifests/tdset.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tdset := &TDSet{}
	if err := yaml.UnmarshalStrict(text, tdset); err != nil {
		t.Fatal(err)
	}
	return tdset
}

// convert converts one Go type to another through JSON, as a request does.
func convert(t *testing.T, from, to any) {
	t.Helper()
	text, err := json.Marshal(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, to); err != nil {
		t.Fatal(err)
	}
}
