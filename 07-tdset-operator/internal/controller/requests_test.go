// The requests that the controller sends, as tests note and refuse them.

package controller

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// request is what the controller has asked the server for.
type request struct {
	verb, resource, name string
	says                 string // in whose name it comes and what it assumes
}

func (r request) String() string { return r.verb + " " + r.resource }

// asked notes a request, and returns the error that it is answered with, if the test wants one.
func (c *cluster) asked(what request) error {
	c.lock.Lock()
	c.requests = append(c.requests, what)
	c.lock.Unlock()
	return c.refused(what.String())
}

// refuseNext has the next such request answered with err: "apply deployments", "patch tdsets",
// "apply tdsets/status", "live get services"; and of the cache "get tdsets", "list pods".
func (c *cluster) refuseNext(request string, err error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.refusals[request] = err
}

// refuseAll has all of them answered with err, from now on.
func (c *cluster) refuseAll(request string, err error) {
	c.refuseNext(request, err)
	c.refuseNext("all: "+request, err)
}

func (c *cluster) refused(request string) error {
	c.lock.Lock()
	defer c.lock.Unlock()
	err := c.refusals[request]
	if c.refusals["all: "+request] == nil {
		delete(c.refusals, request)
	}
	return err
}

// written returns the writes that the controller has sent since the last call, including refused
// ones.
func (c *cluster) written() (writes []string) {
	c.lock.Lock()
	defer c.lock.Unlock()
	isRead := func(r request) bool { return strings.HasPrefix(r.verb, "live") }
	for _, request := range slices.DeleteFunc(c.requests, isRead) {
		writes = append(writes, request.String())
	}
	c.requests = nil
	return writes
}

// applyRequest says what an apply says, beside the fields that it wants.
func applyRequest(t *testing.T, subresource string, desired runtime.ApplyConfiguration, options client.ApplyOptions) request {
	text, err := json.Marshal(desired)
	must(t, err)
	var object metav1.PartialObjectMetadata
	must(t, json.Unmarshal(text, &object))
	says := "by " + options.FieldManager
	if ptr.Deref(options.Force, false) {
		says += ", forced"
	}
	return request{"apply", strings.ToLower(object.Kind) + "s" + subresource, object.Name, says + assumed(object)}
}

// assumed says which object, and which version of it, a write is meant for.
func assumed(object metav1.PartialObjectMetadata) (says string) {
	if object.UID != "" {
		says += fmt.Sprintf(", if it is %q", object.UID)
	}
	if object.ResourceVersion != "" {
		says += ", at " + object.ResourceVersion
	}
	return says
}

// resourceOf returns the resource that an object, or a list of them, is of.
func resourceOf(t *testing.T, types client.Client, object runtime.Object) string {
	kind, err := types.GroupVersionKindFor(object)
	must(t, err)
	return strings.ToLower(strings.TrimSuffix(kind.Kind, "List")) + "s"
}
