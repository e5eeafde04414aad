// The manifests say what the code says: the example is a Foo, and the role has the verbs that the controller uses, no more.

package main

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	rbacv1 "k8s.io/api/rbac/v1"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/yaml"

	"example.com/operators/04-codegen/pkg/apis/samplecontroller/v1alpha1"
)

func TestTheExampleIsAFoo(t *testing.T) {
	var foo v1alpha1.Foo
	readYAML(t, "manifests/foo.yaml", &foo)

	if got := foo.GroupVersionKind(); got != fooKind {
		t.Errorf("the example is a %v, want a %v", got, fooKind)
	}
	if foo.Spec.DeploymentName == "" {
		t.Error("the example has no deploymentName")
	}
}

// The controller is watched at its work, and what it asked for is compared with what the role allows.
func TestTheRoleHasTheVerbsInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		foo := aFoo("example", "web", 3)
		c := newCluster(t, foo, deploymentOf(foo, scaledTo(1)))
		stop := c.start() // puts the replicas back
		defer stop()
		c.put(aFoo("example", "new", 3)) // makes one and deletes the other
		c.eventually("the Foo has moved", func() bool { return c.deployment("new") != nil && c.deployment("web") == nil })

		inUse := map[string][]string{
			"foos/finalizers": {"update"}, // checked by the API server, never asked for
			"deployments":     {"create"}, // checked by it when an apply makes one
		}
		inUse["events"] = []string{"create", "patch"} // client-go's recorder does that; here it is a fake
		for _, fake := range []*clienttesting.Fake{&c.fakeKube.Fake, &c.fakeFoos.Fake} {
			for _, action := range fake.Actions() {
				if resource := resourceOf(action); !slices.Contains(inUse[resource], action.GetVerb()) {
					inUse[resource] = append(inUse[resource], action.GetVerb())
				}
			}
		}
		anyOrder := cmpopts.SortSlices(strings.Compare)
		if diff := cmp.Diff(inUse, allowed(t, "manifests/rbac.yaml"), anyOrder); diff != "" {
			t.Errorf("verbs (-in use +allowed):\n%s", diff)
		}
	})
}

// allowed returns the verbs that the ClusterRole in a file allows, by resource.
func allowed(t *testing.T, file string) map[string][]string {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	verbs := map[string][]string{}
	for _, document := range strings.Split(string(text), "\n---\n") {
		if !strings.Contains(document, "\nkind: ClusterRole\n") {
			continue
		}
		var role rbacv1.ClusterRole
		if err := yaml.UnmarshalStrict([]byte(document), &role); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, rule := range role.Rules {
			for _, resource := range rule.Resources {
				verbs[resource] = append(verbs[resource], rule.Verbs...)
			}
		}
	}
	return verbs
}
