//go:build check || solution

// The tests of the operator. Each one lets some time pass, in which watches end, and then looks at
// the API server's audit log.
//
// As given, the operator works, but it sends too many requests. `workshop test` checks these
// failures:
//
// fails: TestRequests/nothing changes for an hour: the Foos are listed only once
// says: the operator has listed the Foos
//
// fails: TestRequests/nothing changes for an hour: each Foo is handled only once
// says: the operator has read
//
// fails: TestRequests/a watch ends after a change: the next one starts where it ended
// says: after it, the operator sent "list"
//
// fails: TestRequests/a watch ends after a deletion: the next one starts where it ended
// says: after it, the operator sent "list"
//
// fails: TestRequests/a quiet watch ends after a bookmark: the next one starts from the bookmark
// says: after it, the operator sent "list"

package main

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	samplecontrollerv1alpha1 "example.com/operators/01-raw-watch/pkg/apis/samplecontroller/v1alpha1"
)

func TestRequests(t *testing.T) {
	for sentence, test := range map[string]func(c *cluster){
		"a Foo that exists at the start gets its Deployment": func(c *cluster) {
			c.wantReplicas("a", 1)
			c.wantReplicas("b", 1)
		},
		"a Foo that is created later gets its Deployment at once": func(c *cluster) {
			c.putFoo("new", 2)
			c.wantReplicas("new", 2)
		},
		"a Foo that changes between two watches isn't missed": func(c *cluster) {
			c.untilAWatchEnds()
			c.putFoo("a", 3)
			time.Sleep(2 * pause)
			c.wantReplicas("a", 3)
		},
		"nothing changes for an hour: the Foos are listed only once": func(c *cluster) {
			time.Sleep(time.Hour)
			if got := c.count("list"); got != 1 {
				c.Errorf("the operator has listed the Foos %d times, want once: what did it need the other lists for?", got)
			}
		},
		"nothing changes for an hour: each Foo is handled only once": func(c *cluster) {
			time.Sleep(time.Hour)
			if got := c.count("get a"); got != 1 {
				c.Errorf("the operator has read the Deployment of a Foo that hasn't changed %d times, want once", got)
			}
		},
		"a watch ends after a change: the next one starts where it ended": func(c *cluster) {
			c.putFoo("a", 2)
			c.wantNext("watch from " + c.version())
		},
		"a watch ends after a deletion: the next one starts where it ended": func(c *cluster) {
			c.removeFoo("b")
			c.wantNext("watch from " + c.version())
		},
		"a quiet watch ends after a bookmark: the next one starts from the bookmark": func(c *cluster) {
			c.putUnrelated()
			bookmark := c.version()
			time.Sleep(2 * time.Minute)
			c.forget()
			c.wantNext("watch from " + bookmark)
		},
		"410 as a status code: the operator lists again and finds what it has missed": func(c *cluster) {
			c.untilAWatchEnds()
			c.putFoo("a", 4)
			c.forget()
			time.Sleep(3 * pause)
			c.wantReplicas("a", 4)
			c.wantRelist("get a")
		},
		"410 as an event: the operator lists again, and watches from the new list": func(c *cluster) {
			c.forget()
			c.locked(func() { wake(&c.api.gone) })
			time.Sleep(3 * pause)
			c.wantRelist("watch from " + c.version())
		},
		"410 as an event: a Foo that changes afterwards is scaled": func(c *cluster) {
			c.forget()
			c.locked(func() { wake(&c.api.gone) })
			time.Sleep(3 * pause)
			c.putFoo("b", 5)
			c.wantReplicas("b", 5)
		},
		"a connection breaks: later changes aren't missed": func(c *cluster) {
			c.locked(func() { wake(&c.api.cut) })
			c.putFoo("b", 5)
			time.Sleep(3 * pause)
			c.wantReplicas("b", 5)
		},
		"the server fails for ten minutes: the operator sends at most a request a second": func(c *cluster) {
			c.locked(func() { c.api.down = true })
			c.locked(func() { wake(&c.api.cut) })
			before := c.count("")
			time.Sleep(10 * time.Minute)
			if got := c.count("") - before; got > 600 {
				c.Errorf("the operator has sent %d requests in ten minutes to a server that fails, want at most one a second", got)
			}
			c.locked(func() { c.api.down = false })
			c.putFoo("a", 6)
			time.Sleep(3 * pause)
			c.wantReplicas("a", 6)
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			klog.SetLogger(klog.Logger{}) // so that the program's log doesn't hide what failed
			defer klog.ClearLogger()
			synctest.Test(t, func(t *testing.T) {
				c := &cluster{t, newFakeAPI()}
				c.putFoo("a", 1)
				c.putFoo("b", 1)
				ctx, stop := context.WithCancel(t.Context())
				ended := make(chan error)
				go func() { ended <- run(ctx, &rest.Config{Host: "http://localhost", Transport: c.api}, "", 5*time.Minute) }()
				synctest.Wait()

				test(c)

				stop()
				if err := <-ended; err != nil {
					t.Errorf("the operator ended with the error %q, want none", err)
				}
				synctest.Wait() // the server's watches end, too
			})
		})
	}
}

const (
	foos        = "/apis/samplecontroller.k8s.io/v1alpha1/namespaces/default/foos/"
	deployments = "/apis/apps/v1/namespaces/default/deployments/"
)

// cluster is what a test acts on.
type cluster struct {
	*testing.T
	api *fakeAPI
}

// locked calls do with the server locked, and then waits until the operator has nothing left to do.
func (c *cluster) locked(do func()) {
	c.api.mu.Lock()
	do()
	c.api.mu.Unlock()
	synctest.Wait()
}

// putFoo creates a Foo, or scales it. Its Deployment has the same name.
func (c *cluster) putFoo(name string, replicas int32) {
	foo := samplecontrollerv1alpha1.Foo{Spec: samplecontrollerv1alpha1.FooSpec{DeploymentName: name, Replicas: &replicas}}
	foo.Namespace, foo.Name = "default", name
	encoded, err := json.Marshal(foo)
	if err != nil {
		c.Fatal(err)
	}
	var stored map[string]any
	if err := json.Unmarshal(encoded, &stored); err != nil {
		c.Fatal(err)
	}
	c.locked(func() {
		if old := c.api.objects[foos+name]; old != nil {
			stored["metadata"].(map[string]any)["uid"] = old["metadata"].(map[string]any)["uid"]
		}
		c.api.store(foos+name, stored)
	})
}

func (c *cluster) removeFoo(name string) { c.locked(func() { c.api.remove(foos + name) }) }

// putUnrelated creates an object that isn't a Foo.
func (c *cluster) putUnrelated() {
	c.locked(func() {
		c.api.store(deployments+"unrelated", map[string]any{"metadata": map[string]any{"name": "unrelated"}})
	})
}

// forget drops the history up to now.
func (c *cluster) forget() { c.locked(func() { c.api.forgotten = len(c.api.history) }) }

func (c *cluster) version() string {
	c.api.mu.Lock()
	defer c.api.mu.Unlock()
	return c.api.version()
}

// wantReplicas checks how many replicas a Deployment has.
func (c *cluster) wantReplicas(name string, want int) {
	c.Helper()
	c.api.mu.Lock()
	defer c.api.mu.Unlock()
	deployment := c.api.objects[deployments+name]
	if deployment == nil {
		c.Errorf("there is no Deployment %s, want one with %d replicas", name, want)
	} else if got := deployment["spec"].(map[string]any)["replicas"]; got != float64(want) {
		c.Errorf("the Deployment %s has %v replicas, want %d", name, got, want)
	}
}

// requests describes what the operator has sent: "list", "watch from 103", "get a", "write a".
func (c *cluster) requests() (requests []string) {
	c.api.mu.Lock()
	defer c.api.mu.Unlock()
	for _, line := range c.api.audit {
		fields := strings.Fields(line)
		target, err := url.Parse(fields[1])
		if err != nil {
			c.Fatal(err)
		}
		last := target.Path[strings.LastIndex(target.Path, "/")+1:]
		switch {
		case target.Query().Has("watch"):
			requests = append(requests, "watch from "+target.Query().Get("resourceVersion"))
		case last == "foos":
			requests = append(requests, "list")
		case fields[0] == "GET":
			requests = append(requests, "get "+last)
		default:
			requests = append(requests, "write "+last)
		}
	}
	return requests
}

// count returns how many requests of that kind the operator has sent; "" means all requests.
func (c *cluster) count(kind string) (n int) {
	for _, request := range c.requests() {
		if kind == "" || request == kind {
			n++
		}
	}
	return n
}

// untilAWatchEnds lets time pass until the open watch has ended. The operator pauses now.
func (c *cluster) untilAWatchEnds() {
	c.Helper()
	for open := true; open; open = c.open() {
		time.Sleep(pause / 10)
		synctest.Wait()
	}
}

func (c *cluster) open() bool {
	c.api.mu.Lock()
	defer c.api.mu.Unlock()
	return c.api.watching
}

// wantNext lets time pass until a watch has ended, and checks the next request about Foos.
func (c *cluster) wantNext(want string) {
	c.Helper()
	before := len(c.requests())
	time.Sleep(longestWatch + 2*pause)
	synctest.Wait()
	if sent := c.requests()[before:]; len(sent) == 0 || sent[0] != want {
		got := append(sent, "nothing")[0]
		c.Errorf("the watch has ended, as every watch does; after it, the operator sent %q, want %q", got, want)
	}
}

// wantRelist checks that the operator has listed the Foos a second time, and sent these requests
// after that.
func (c *cluster) wantRelist(want ...string) {
	c.Helper()
	requests := c.requests()
	second := slices.Index(requests[1:], "list") + 1
	if second == 0 {
		c.Errorf("the server has forgotten the history, but the operator hasn't listed the Foos again: its requests are %q", requests)
		return
	}
	for _, request := range want {
		if !slices.Contains(requests[second:], request) {
			c.Errorf("after the second list, the requests are %q, want %q among them", requests[second:], request)
		}
	}
}
