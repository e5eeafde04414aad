// Fake clientsets in place of an API server: client-go's own, and the one that is generated for
// Foos. Both are created by NewClientset, which knows field management. It merges applies by the
// types' schema and records owners, and without force, a field that somebody else owns is a
// conflict. (A NewSimpleClientset answers 404 to every apply that would create an object.) Here is
// what they lack (client-go, testing/fixture.go), and what the tests do about it:
//   - Assumptions: a UID or a resourceVersion in an apply is stored, not compared, and a delete's
//     preconditions are ignored. So write_test.go checks the requests, and integration_test.go
//     checks a real server's response.
//   - Validation: a second controller among the owners is accepted, and so is a changed selector, or
//     an apply without a field manager, under the name "unknown". There are no defaults.
//   - Subresources: an apply to foos/status is an apply to the whole Foo. It would change the spec,
//     or create a missing Foo.
//   - UIDs, resourceVersions, generations: "Object content does not get changed". So put and
//     setVersions set the fields that matter: handlers compare resourceVersions, and rolledOut
//     compares generations.
//   - The garbage collector, the Deployment controller and all others: no Pod starts unless the
//     test does that.
//   - Contexts: a request succeeds even if its context has ended. A reactor doesn't even get it.
//   - Part of a watch: an object that is deleted between an informer's list and its watch stays in
//     the cache forever (kubernetes/kubernetes#141528; up to client-go 0.35, an object that was
//     created in between was missed, too). So informers run only in a testing/synctest bubble, and
//     a test deletes nothing before all goroutines are waiting, because by then the informers
//     watch.
//   - The bookmark after the initial events of a watch with sendInitialEvents. But no informer waits
//     for it: both clientsets report that they don't support such watches
//     (IsWatchListSemanticsUnSupported), so the informers list first, then watch.

package main

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	samplecontrollerv1alpha1 "example.com/operators/04-codegen/pkg/apis/samplecontroller/v1alpha1"
)

var (
	foosResource        = schema.GroupVersion(samplecontrollerv1alpha1.GroupVersion).WithResource("foos")
	fooKind             = schema.GroupVersion(samplecontrollerv1alpha1.GroupVersion).WithKind("Foo")
	deploymentsResource = appsv1.SchemeGroupVersion.WithResource("deployments")
	deploymentKind      = appsv1.SchemeGroupVersion.WithKind("Deployment")
)

// newFakeKube returns a clientset in which a Deployment gets a resourceVersion from next whenever
// the controller applies it.
func newFakeKube(next func() string) *fake.Clientset {
	kube := fake.NewClientset()
	store := clienttesting.ObjectReaction(kube.Tracker())
	setVersions := func(action clienttesting.Action) (handled bool, response runtime.Object, err error) {
		apply := action.(clienttesting.PatchActionImpl)
		generation := int64(1)
		if stored, err := kube.Tracker().Get(deploymentsResource, apply.Namespace, apply.Name); err == nil {
			generation = stored.(*appsv1.Deployment).Generation + 1
		}
		var applied unstructured.Unstructured
		if err := applied.UnmarshalJSON(apply.Patch); err != nil {
			return true, nil, err
		}
		applied.SetResourceVersion(next())
		applied.SetGeneration(generation)
		if apply.Patch, err = applied.MarshalJSON(); err != nil {
			return true, nil, err
		}
		return store(apply)
	}
	kube.PrependReactor("patch", "deployments", setVersions)
	return kube
}

// written returns the writes that the controller has sent since the last call, including refused
// ones.
func (c *cluster) written() []string {
	var writes []string
	for _, fake := range []*clienttesting.Fake{&c.fakeKube.Fake, &c.fakeFoos.Fake} {
		for _, action := range fake.Actions() {
			if verb := action.GetVerb(); verb != "get" && verb != "list" && verb != "watch" {
				writes = append(writes, verb+" "+resourceOf(action))
			}
		}
		fake.ClearActions()
	}
	return writes
}

func resourceOf(action clienttesting.Action) string {
	if sub := action.GetSubresource(); sub != "" {
		return action.GetResource().Resource + "/" + sub
	}
	return action.GetResource().Resource
}

// refuseNext makes the next such request fail with err. Call it while no informer runs, because a
// Fake's list of reactors has no lock.
func (c *cluster) refuseNext(verb, resource string, err error) {
	refused := false
	refuse := func(clienttesting.Action) (handled bool, response runtime.Object, _ error) {
		if refused {
			return false, nil, nil
		}
		refused = true
		return true, nil, err
	}
	c.fakeKube.PrependReactor(verb, resource, refuse)
	c.fakeFoos.PrependReactor(verb, resource, refuse)
}
