// The manifests match the code: the example is a Foo, and the roles allow exactly the verbs that
// the controller uses.

package main

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

func TestExampleIsAFoo(t *testing.T) {
	var foo samplecontrollerv1alpha1.Foo
	readYAML(t, "manifests/foo.yaml", &foo)

	if got := foo.GroupVersionKind(); got != fooKind {
		t.Errorf("the kind of manifests/foo.yaml is %v, want %v", got, fooKind)
	}
	if foo.Spec.DeploymentName == "" {
		t.Error("manifests/foo.yaml has no deploymentName")
	}
}

// The controller runs with its own permissions, and the verbs in its requests are compared with
// them. No request is refused.
func TestRolesAllowTheVerbsInUse(t *testing.T) {
	c := newBareCluster(t).asController()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "foo-system", Name: "foo-controller"}}
	must(t, client.IgnoreNotFound(c.users.Delete(t.Context(), lease))) // from an earlier run, with -count
	stop := c.start(func(o *ctrl.Options) {
		o.LeaderElection, o.LeaderElectionNamespace = true, "foo-system"
	})
	c.create(example)
	c.eventually("the Foo has its Deployment", c.hasReason("Progressing"))
	c.makeAvailable("web")
	c.eventually("the Foo is ready, and the Event is recorded", func(ctx context.Context) bool { return c.isReady(2)(ctx) && c.eventCount(ctx, "Synced") == 1 })
	c.change(`{"deploymentName":"new"}`)
	c.eventually("the former Deployment is gone", c.isGone("web"))
	must(t, stop())
	inUse := map[string][]string{
		// The API server checks this permission. No request needs it.
		"samplecontroller.k8s.io/foos/finalizers": {"update"},
		"apps/deployments":                        {"create"}, // if an apply creates one
		// For Events that are repeated. Ours aren't.
		"events.k8s.io/events": {"patch"},
		"/events":              {"patch"},
	}
	for _, r := range c.traffic.since() {
		resource := r.group + "/" + r.resource
		if r.code == http.StatusForbidden {
			t.Errorf("the controller may not %s %s: add that to manifests/rbac.yaml", r.verb, resource)
		}
		verbs := []string{r.verb}
		if r.verb == "watch" {
			verbs = []string{"list", "watch"} // not every server can start a watch with the existing objects
		}
		for _, verb := range verbs {
			if !slices.Contains(inUse[resource], verb) {
				inUse[resource] = append(inUse[resource], verb)
			}
		}
	}

	anyOrder := cmpopts.SortSlices(strings.Compare)
	if diff := cmp.Diff(inUse, allowed(t, "manifests/rbac.yaml"), anyOrder); diff != "" {
		t.Errorf("verbs (-in use +allowed):\n%s", diff)
	}
}

// allowed returns the verbs that the roles in a file allow, by group and resource.
func allowed(t *testing.T, file string) map[string][]string {
	verbs := map[string][]string{}
	for _, object := range objectsIn(t, file) {
		if kind := object.GetObjectKind().GroupVersionKind().Kind; kind != "ClusterRole" && kind != "Role" {
			continue
		}
		var role rbacv1.ClusterRole // a Role has nothing else
		must(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.(*unstructured.Unstructured).Object, &role))
		for _, rule := range role.Rules {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					verbs[group+"/"+resource] = append(verbs[group+"/"+resource], rule.Verbs...)
				}
			}
		}
	}
	return verbs
}
