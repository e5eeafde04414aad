// client-go's fake clientset, in place of an API server. Its NewSimpleClientset says that it is "a
// very simple object tracker that processes creates, updates and deletions as-is, without applying
// any field management, validations and/or defaults". (NewClientset adds field management, which
// nothing needs before chapter 04.) Here is what it lacks, and what the tests do about it:
//   - UIDs, resourceVersions, generations: "Object content does not get changed" (client-go,
//     testing/fixture.go). So put and setVersions set the fields that matter: handlers compare
//     resourceVersions, and rolledOut compares generations.
//   - Conflicts: an update with an old resourceVersion succeeds, and a delete's preconditions are
//     ignored. So chapter 02's write_test.go checks the requests, and integration_test.go checks a
//     real server's response.
//   - The garbage collector, the Deployment controller and all others: no Pod starts unless the
//     test does that.
//   - Contexts: a request succeeds even if its context has ended.
//   - Part of a watch: an object that is deleted between an informer's list and its watch stays in
//     the cache forever (kubernetes/kubernetes#141528; up to client-go 0.35, an object that was
//     created in between was missed, too). So informers run only in a testing/synctest bubble, and
//     a test deletes nothing before all goroutines are waiting, because by then the informers
//     watch.

package main

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

var (
	deploymentsResource = appsv1.SchemeGroupVersion.WithResource("deployments")
	deploymentKind      = appsv1.SchemeGroupVersion.WithKind("Deployment")
)

// newFakeKube returns a clientset in which a Deployment gets a resourceVersion from next whenever
// the controller updates it.
func newFakeKube(next func() string) *fake.Clientset {
	kube := fake.NewSimpleClientset()
	setVersions := func(action clienttesting.Action) (handled bool, response runtime.Object, err error) {
		deployment := action.(clienttesting.UpdateAction).GetObject().(*appsv1.Deployment)
		deployment.ResourceVersion = next()
		deployment.Generation++
		return false, nil, nil // not handled, so the tracker, which is next in the chain, stores it
	}
	kube.PrependReactor("update", "deployments", setVersions)
	return kube
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
