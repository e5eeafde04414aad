//go:build check || solution

// The helpers of the tests: a cluster with one TDSet, the program with its manager, and a clock.
// Each test runs in a testing/synctest bubble, where time passes only while every goroutine waits.
// So a day takes no time, and every instant is exact.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
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
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"

	schedulev1 "example.com/operators/05-controller-runtime/exercises/5-tdset/pkg/apis/schedule/v1"
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
	program *controller // for tests that call its functions directly; it reads from the server
	api     *fakeAPI
	clock   *testClock

	mu     sync.Mutex
	scaled []string // each write of a Deployment
	status []string // each write of a status
}

// inACluster runs a test at midnight, in an empty cluster, with a program that hasn't started yet.
func inACluster(t *testing.T, test func(c *cluster)) {
	quiet()
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{T: t, api: newFakeAPI(), clock: &testClock{t: t}}
		c.clock.by = time.Until(midnight)
		c.api.onWrite = c.wrote
		settings := c.settings()
		direct, err := client.New(c.config(), client.Options{Scheme: settings.Scheme, Mapper: newMapper()})
		if err != nil {
			t.Fatal(err)
		}
		c.program = &controller{Client: direct, APIReader: direct, Recorder: &events.FakeRecorder{}, clock: c.clock}
		test(c)
	})
}

// quiet discards the program's log, which would only hide what the tests report.
func quiet() {
	klog.SetLogger(klog.Logger{})
	ctrl.SetLogger(klog.Background())
}

// config says how to reach the server.
func (c *cluster) config() *rest.Config {
	config := &rest.Config{Host: "http://localhost", Transport: c.api, QPS: -1}
	config.ContentType = "application/json" // this server understands nothing else
	return config
}

// settings returns the settings of the program's manager in a test.
func (c *cluster) settings() ctrl.Options {
	c.Helper()
	settings, err := managerOptions(options{})
	if err != nil {
		c.Fatal(err)
	}
	settings.Controller = ctrlconfig.Controller{SkipNameValidation: new(true)} // all tests use the same name
	settings.MapperProvider = func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return newMapper(), nil }
	return settings
}

// newMapper returns a mapper that knows each kind's resource without asking the server.
func newMapper() meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, kind := range kinds {
		mapper.Add(kind, meta.RESTScopeNamespace)
	}
	return mapper
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
	mgr, err := ctrl.NewManager(c.config(), c.settings())
	if err != nil {
		c.Fatal(err)
	}
	if err := setUp(mgr, c.clock); err != nil {
		c.Fatalf("setUp returned the error: %v", err)
	}
	ctx, cancel := context.WithCancel(c.Context()) // ends with the test at the latest
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	time.Sleep(time.Second) // informers check every 100 ms whether their caches have synced
	synctest.Wait()
	for types, list := range map[string]client.ObjectList{"TDSets": &schedulev1.TDSetList{}, "Deployments": &appsv1.DeploymentList{}} {
		if err := mgr.GetCache().List(ctx, list); err != nil {
			c.Fatalf("setUp doesn't watch %s, so Reconcile can't read them from the cache: %v", types, err)
		}
	}
	meanwhile()
	cancel()
	if err := <-ended; err != nil {
		c.Errorf("the manager stopped with an error: %v", err)
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
		c.Errorf("%s: got %d calls of r.clock.Now, want none", when, calls)
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
// counts the calls of Now, because that is the first thing that Reconcile calls.
type testClock struct {
	shiftedClock
	t *testing.T

	mu       sync.Mutex
	count    int // calls of Now since calls was last called
	minute   time.Time
	inMinute int // calls in this minute
}

// A controller that makes this many calls of Now in one minute is in an endless loop.
const tooMany = 500

func (c *testClock) Now() time.Time {
	now := c.shiftedClock.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count++
	if minute := now.Truncate(time.Minute); !minute.Equal(c.minute) {
		c.minute, c.inMinute = minute, 0
	}
	c.inMinute++
	if c.inMinute == tooMany {
		c.t.Errorf("at %s: got %d calls of r.clock.Now within a minute: is there an endless loop?", c, tooMany)
	}
	if c.inMinute >= tooMany {
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
	inJSON, err := yaml.ToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(inJSON))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(tdset); err != nil {
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
