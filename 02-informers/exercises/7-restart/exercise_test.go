//go:build check || solution

// The tests of the operator. Most of them start it while some Foos and Deployments exist, and while
// the API server is slow to send one of the two kinds.
//
// As given, the operator writes too early. `workshop test` checks these failures:
//
// fails: TestRestart/the Deployments arrive after four seconds: nothing is written
// says: POST cart 409, POST reports-v2 201, POST stock 409
//
// fails: TestRestart/the Deployments arrive after ten minutes: nothing is written
// says: POST cart 409, POST reports-v2 201, POST stock 409
//
// fails: TestRestart/the server can't send the Deployments for five minutes: nothing is written
// says: POST cart 409, POST reports-v2 201, POST stock 409
//
// fails: TestRestart/a Foo that has kept its Deployment never gets a second one
// says: are [cart, reports, reports-v2, stock], want [cart, reports, stock]
//
// fails: TestRestart/the operator is stopped before the Deployments arrive: it writes nothing
// says: POST cart 409, POST reports-v2 201, POST stock 409

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	samplecontrollerv1alpha1 "example.com/operators/02-informers/pkg/apis/samplecontroller/v1alpha1"
)

var kinds = map[string]schema.GroupVersionKind{
	"foos":        samplecontrollerv1alpha1.GroupVersion.WithKind("Foo"),
	"deployments": appsv1.SchemeGroupVersion.WithKind("Deployment"),
}

func TestRestart(t *testing.T) {
	for sentence, test := range map[string]func(c *cluster){
		"the Deployments arrive after four seconds: nothing is written": func(c *cluster) {
			c.api.delay["deployments"] = 4 * time.Second
			c.start()
			time.Sleep(time.Minute)
			c.wantWrites()
		},
		"the Deployments arrive after ten minutes: nothing is written": func(c *cluster) {
			c.api.delay["deployments"] = 10 * time.Minute
			c.start()
			time.Sleep(time.Hour)
			c.wantWrites()
		},
		"the server can't send the Deployments for five minutes: nothing is written": func(c *cluster) {
			c.api.down["deployments"] = true
			c.start()
			time.Sleep(5 * time.Minute)
			c.locked(func() { c.api.down["deployments"] = false })
			time.Sleep(5 * time.Minute)
			c.wantWrites()
		},
		"a Foo that has kept its Deployment never gets a second one": func(c *cluster) {
			c.api.delay["deployments"] = 4 * time.Second
			c.start()
			time.Sleep(time.Second)
			c.wantDeployments("after a second", "cart", "reports", "stock")
			time.Sleep(time.Minute)
			c.wantDeployments("after a minute", "cart", "reports", "stock")
		},
		"the operator is stopped before the Deployments arrive: it writes nothing": func(c *cluster) {
			c.api.delay["deployments"] = 10 * time.Minute
			c.start()
			time.Sleep(time.Minute)
			c.stop()
			c.wantWrites()
		},
		"the Foos arrive after four seconds: nothing is written": func(c *cluster) {
			c.start()
			c.wantWrites()
		},
		"a Foo that was created before the start gets its Deployment": func(c *cluster) {
			c.putFoo("new", "new", 1)
			c.api.delay["deployments"] = 4 * time.Second
			c.start()
			time.Sleep(time.Minute)
			c.wantReplicas("new", 1)
		},
		"a Foo that was scaled before the start is scaled": func(c *cluster) {
			c.putFoo("cart", "cart", 5)
			c.api.delay["deployments"] = 4 * time.Second
			c.start()
			time.Sleep(time.Minute)
			c.wantReplicas("cart", 5)
		},
		"fifty Foos at the start: the operator reads them with two watches, and sends nothing else": func(c *cluster) {
			for i := range 50 {
				name := fmt.Sprint("foo-", i)
				c.putFoo(name, name, 1)
				c.putDeployment(name, name, 1)
			}
			c.start()
			if got := len(c.api.audit); got != 2 {
				c.Errorf("the operator has sent %d requests, want two watches: each other request is one that it sends for each Foo", got)
			}
		},
		"a new Foo gets its Deployment": func(c *cluster) {
			c.start()
			c.putFoo("new", "new", 2)
			c.wantWrites("POST new 201")
			c.wantReplicas("new", 2)
		},
		"a Foo that asks for another name keeps its Deployment": func(c *cluster) {
			c.start()
			c.putFoo("stock", "warehouse", 1)
			c.wantWrites()
		},
		"a Deployment that somebody scales is scaled back": func(c *cluster) {
			c.start()
			c.putDeployment("cart", "cart", 3)
			c.wantReplicas("cart", 1)
		},
		"a Deployment that somebody deletes is created again": func(c *cluster) {
			c.start()
			c.locked(func() { c.api.remove(id{"deployments", "cart"}) })
			c.wantWrites("POST cart 201")
		},
		"a Foo with two Deployments keeps the older one": func(c *cluster) {
			c.putDeployment("another", "stock", 1)
			c.start()
			c.wantDeployments("after the start", "cart", "reports", "stock")
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			klog.SetLogger(klog.Logger{}) // so that the program's log doesn't hide what failed
			defer klog.ClearLogger()
			utilruntime.ErrorHandlers = nil // they use the real clock to limit how often they log
			synctest.Test(t, func(t *testing.T) { test(newCluster(t)) })
		})
	}
}

// cluster is what a test acts on. It has three Foos with their Deployments. The Foo reports asked
// for another name later, and has kept its Deployment.
type cluster struct {
	*testing.T
	api  *fakeAPI
	stop func() // stops the operator, and waits until it has ended
}

func newCluster(t *testing.T) *cluster {
	c := &cluster{T: t, api: newFakeAPI()}
	for _, name := range []string{"cart", "reports", "stock"} {
		c.putFoo(name, name, 1)
		c.putDeployment(name, name, 1)
	}
	c.putFoo("reports", "reports-v2", 1)
	time.Sleep(24 * time.Hour)
	return c
}

// start starts the operator. If no delay was chosen, the Foos arrive four seconds after the
// Deployments, and start waits for both.
func (c *cluster) start() {
	config := &rest.Config{Host: "http://localhost", Transport: c.api, QPS: -1}
	config.ContentType = runtime.ContentTypeJSON // the server in memory doesn't understand protobuf
	controller, err := newController(config, "")
	if err != nil {
		c.Fatal(err)
	}
	ready := time.Duration(0)
	if len(c.api.delay)+len(c.api.down) == 0 {
		c.api.delay["foos"], ready = 4*time.Second, 10*time.Second
	}
	ctx, cancel := context.WithCancel(c.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); controller.run(ctx) }()
	c.stop = func() {
		cancel()
		select {
		case <-ended:
		case <-time.After(time.Minute):
			c.Fatal("the operator still runs a minute after it was told to stop")
		}
	}
	c.Cleanup(c.stop)
	time.Sleep(ready)
	synctest.Wait()
}

// locked calls do with the server locked, and then waits until the operator has nothing left to do.
func (c *cluster) locked(do func()) {
	c.api.mu.Lock()
	do()
	c.api.mu.Unlock()
	synctest.Wait()
}

// putFoo creates or replaces a Foo.
func (c *cluster) putFoo(name, deploymentName string, replicas int32) {
	foo := &samplecontrollerv1alpha1.Foo{Spec: samplecontrollerv1alpha1.FooSpec{DeploymentName: deploymentName, Replicas: &replicas}}
	foo.Namespace, foo.Name = "default", name
	c.put(id{"foos", name}, foo)
}

// putDeployment creates or replaces a Deployment of that Foo.
func (c *cluster) putDeployment(name, fooName string, replicas int32) {
	foo := &samplecontrollerv1alpha1.Foo{}
	foo.Namespace, foo.Name, foo.UID = "default", fooName, c.api.objects[id{"foos", fooName}].GetUID()
	foo.Spec = samplecontrollerv1alpha1.FooSpec{DeploymentName: name, Replicas: &replicas}
	c.put(id{"deployments", name}, newDeployment(foo))
}

// put creates or replaces an object. It keeps the UID and the time of its creation.
func (c *cluster) put(target id, object runtime.Object) {
	encoded, err := json.Marshal(object)
	if err != nil {
		c.Fatal(err)
	}
	stored := &unstructured.Unstructured{}
	if err := json.Unmarshal(encoded, &stored.Object); err != nil {
		c.Fatal(err)
	}
	c.locked(func() {
		if old := c.api.objects[target]; old != nil {
			stored.SetUID(old.GetUID())
			stored.SetCreationTimestamp(old.GetCreationTimestamp())
		}
		c.api.store(target, stored)
	})
}

// wantWrites checks what the operator has written, such as "POST cart 201", sorted.
func (c *cluster) wantWrites(want ...string) {
	c.Helper()
	c.api.mu.Lock()
	defer c.api.mu.Unlock()
	got := slices.Sorted(slices.Values(c.api.writes))
	switch {
	case slices.Equal(got, want):
	case len(want) == 0:
		c.Errorf("nothing has to be done, but the operator has sent %s: what did it know about the Deployments at that time?", describe(got))
	default:
		c.Errorf("the operator has sent %s, want %s", describe(got), describe(want))
	}
}

// wantDeployments checks which Deployments exist.
func (c *cluster) wantDeployments(when string, want ...string) {
	c.Helper()
	c.api.mu.Lock()
	defer c.api.mu.Unlock()
	var got []string
	for _, item := range c.api.items("deployments") {
		got = append(got, item.id.name)
	}
	if !slices.Equal(got, want) {
		c.Errorf("the Deployments %s are %s, want %s", when, describe(got), describe(want))
	}
}

func describe(lines []string) string {
	if len(lines) == 0 {
		return "nothing"
	}
	return "[" + strings.Join(lines, ", ") + "]"
}

// wantReplicas checks how many replicas a Deployment has.
func (c *cluster) wantReplicas(name string, want int64) {
	c.Helper()
	c.api.mu.Lock()
	defer c.api.mu.Unlock()
	deployment := c.api.objects[id{"deployments", name}]
	if deployment == nil {
		c.Errorf("there is no Deployment %s, want one with %d replicas", name, want)
	} else if got, _, _ := unstructured.NestedFieldNoCopy(deployment.Object, "spec", "replicas"); fmt.Sprint(got) != fmt.Sprint(want) {
		c.Errorf("the Deployment %s has %v replicas, want %d", name, got, want)
	}
}
