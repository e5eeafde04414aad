// Fake clientsets in place of an API server: client-go's own, and the one that is generated for
// Foos beside the real one. Both are made by NewClientset, which knows field management: an apply
// is merged as the types' schema says, owners are noted, and without force a field that somebody
// else owns is a conflict. (A NewSimpleClientset answers 404 to every apply that would make
// something.) What they lack (client-go, testing/fixture.go), and what is done about it:
//   - Assumptions: a UID or a resourceVersion in an apply is put into the object, not compared with
//     it, and nobody looks at a delete's preconditions. So write_test.go looks at what is sent;
//     what a real server says to it is in integration_test.go.
//   - Validation: a second controller among the owners goes through, and a changed selector. An
//     apply without a field manager does too, under the name "unknown". Nothing is defaulted.
//   - Subresources: an apply to foos/status is one to the whole Foo. It would change the spec, and
//     make a Foo that is missing.
//   - UIDs, resourceVersions, generations: "Object content does not get changed". So put and
//     setVersions set what is looked at: handlers compare resourceVersions, rolledOut generations.
//   - The garbage collector, the Deployment controller and all others: no Pod comes up unless a
//     test says so.
//   - Contexts: a request goes through even if its context has ended. A reactor isn't even given
//     it.
//   - Part of a watch: what is deleted between an informer's list and its watch stays in the cache
//     forever (kubernetes/kubernetes#141528; up to client-go 0.35, what was created in between was
//     missed too). So informers run only inside a bubble of testing/synctest, and nothing is
//     deleted before all is quiet there: by then they watch.
//   - The bookmark after what is there, in a watch that begins with that (sendInitialEvents): it
//     never comes. But nobody waits for it: both clientsets say so
//     (IsWatchListSemanticsUnSupported), and so the informers list first, then watch.

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

// newFakeKube returns a clientset that gives a Deployment a resourceVersion from next whenever the
// controller applies it.
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
