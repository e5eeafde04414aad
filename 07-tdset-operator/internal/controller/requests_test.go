// The controller's requests, which tests record and refuse.

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

// request is a request that the controller has sent.
type request struct {
	verb, resource, name string
	details              string // the field manager, and the assumed UID and resourceVersion
}

func (r request) String() string { return r.verb + " " + r.resource }

// asked records a request, and returns the error that the test has set for it, if any.
func (c *cluster) asked(what request) error {
	c.lock.Lock()
	c.requests = append(c.requests, what)
	c.lock.Unlock()
	return c.refused(what.String())
}

// refuseNext makes the next such request fail with err: "apply deployments", "patch tdsets" or
// "apply tdsets/status". Reads from the cache are "get tdsets" and "list pods", and reads from the
// API server have the prefix "uncached".
func (c *cluster) refuseNext(request string, err error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.refusals[request] = err
}

// refuseAll makes all such requests fail with err, from now on.
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
	isRead := func(r request) bool { return strings.HasPrefix(r.verb, "uncached") }
	for _, request := range slices.DeleteFunc(c.requests, isRead) {
		writes = append(writes, request.String())
	}
	c.requests = nil
	return writes
}

// applyRequest describes an apply, without its fields.
func applyRequest(t *testing.T, subresource string, desired runtime.ApplyConfiguration, options client.ApplyOptions) request {
	text, err := json.Marshal(desired)
	must(t, err)
	var object metav1.PartialObjectMetadata
	must(t, json.Unmarshal(text, &object))
	details := "by " + options.FieldManager
	if ptr.Deref(options.Force, false) {
		details += ", forced"
	}
	return request{"apply", strings.ToLower(object.Kind) + "s" + subresource, object.Name, details + assumed(object)}
}

// assumed describes the UID and the resourceVersion that a write assumes.
func assumed(object metav1.PartialObjectMetadata) (details string) {
	if object.UID != "" {
		details += fmt.Sprintf(", if it is %q", object.UID)
	}
	if object.ResourceVersion != "" {
		details += ", at " + object.ResourceVersion
	}
	return details
}

// resourceOf returns the resource of an object or a list.
func resourceOf(t *testing.T, types client.Client, object runtime.Object) string {
	kind, err := types.GroupVersionKindFor(object)
	must(t, err)
	return strings.ToLower(strings.TrimSuffix(kind.Kind, "List")) + "s"
}
