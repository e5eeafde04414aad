//go:build check || solution

// The helpers of the tests: a cluster with one or two TDSets, the program, and a clock. Each test
// runs in a testing/synctest bubble, where time passes only while every goroutine waits. So a day
// takes no time, and every instant is exact.

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
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
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"sigs.k8s.io/yaml"
)

var kinds = map[string]schema.GroupVersionKind{
	"tdsets":      groupVersion.WithKind("TDSet"),
	"deployments": appsv1.SchemeGroupVersion.WithKind("Deployment"),
}

const name, namespace = "tdset-hello-world", "temp" // as in manifests/tdset.yaml

const another = "another" // the name of the second TDSet, if there are two

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
		config := &rest.Config{Host: "http://localhost", Transport: c.api}
		config.ContentType = "application/json" // this server understands nothing else
		var err error
		if c.program, err = newController(t.Context(), config, "", c.clock); err != nil {
			t.Fatal(err)
		}
		c.program.recorder = &record.FakeRecorder{} // it records nothing
		test(c)
	})
}

// wrote records each write of the program, and its time.
func (c *cluster) wrote(verb string, object *unstructured.Unstructured) {
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
	stored := &unstructured.Unstructured{}
	convert(c.T, object, &stored.Object)
	stored.SetGroupVersionKind(kinds[resource])
	c.locked(func() { c.api.store(id{resource, object.GetNamespace(), object.GetName()}, stored) })
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

// putAnother creates a second TDSet. Only its name and its windows differ from the manifest.
func (c *cluster) putAnother(windows ...Scheduling) {
	c.Helper()
	tdset := example(c.T)
	tdset.Name, tdset.Spec.SchedulingConfig = another, windows
	c.put(tdset, "tdsets")
}

// putUnrelated creates a Deployment whose name no TDSet has.
func (c *cluster) putUnrelated() {
	c.Helper()
	deployment := desiredDeployment(example(c.T), 1)
	deployment.Name, deployment.OwnerReferences = "unrelated", nil
	c.put(deployment, "deployments")
}

// changeDeployment changes the Deployment, as a user could.
func (c *cluster) changeDeployment(change func(*appsv1.Deployment)) {
	c.Helper()
	deployment := c.deployment()
	if deployment == nil {
		c.Fatalf("at %s there is no Deployment", c.clock)
	}
	change(deployment)
	c.put(deployment, "deployments")
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
// 500, but open watches still report changes, such as those that meanwhile makes.
func (c *cluster) failing(from, to string, meanwhile ...func()) {
	c.until(from)
	c.locked(func() { c.api.down = true })
	for _, happen := range meanwhile {
		happen()
	}
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

// tdset and deployment return an object as it is now, or nil if there is none.
func (c *cluster) tdset() *TDSet                  { return read[TDSet](c, "tdsets", name) }
func (c *cluster) deployment() *appsv1.Deployment { return c.deploymentOf(name) }

// deploymentOf returns the Deployment of the TDSet with that name.
func (c *cluster) deploymentOf(name string) *appsv1.Deployment {
	return read[appsv1.Deployment](c, "deployments", name)
}

func read[T any](c *cluster, resource, name string) *T {
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
	if deployment := c.deployment(); deployment == nil {
		c.Errorf("at %s there is no Deployment, want one with %d replicas", c.clock, want)
	} else if got := replicasOf(deployment); got != want {
		c.Errorf("at %s the Deployment has %d replicas, want %d", c.clock, got, want)
	}
}

// wantReplicasOfBoth checks the same for both TDSets.
func (c *cluster) wantReplicasOfBoth(want, wantAnother int32) {
	c.Helper()
	c.wantReplicas(want)
	if deployment := c.deploymentOf(another); deployment == nil {
		c.Errorf("at %s the second TDSet has no Deployment, want one with %d replicas", c.clock, wantAnother)
	} else if got := replicasOf(deployment); got != wantAnother {
		c.Errorf("at %s the second TDSet's Deployment has %d replicas, want %d", c.clock, got, wantAnother)
	}
}

// wantImage checks which image the Deployment has.
func (c *cluster) wantImage(want string) {
	c.Helper()
	if deployment := c.deployment(); deployment == nil {
		c.Errorf("at %s there is no Deployment, want one with the image %s", c.clock, want)
	} else if got := deployment.Spec.Template.Spec.Containers[0].Image; got != want {
		c.Errorf("the Deployment's image is %s, want %s", got, want)
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
	total  int
}

// A controller that makes this many calls of Now, at one instant or in a whole test, is in an
// endless loop.
const tooMany, tooManyInTotal = 200, 5000

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
	if c.total++; c.total == tooManyInTotal {
		c.t.Errorf("by %s: got %d calls of c.clock.Now, although there is little to do: is there an endless loop?", c, tooManyInTotal)
	}
	if c.atLast >= tooMany || c.total >= tooManyInTotal {
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
