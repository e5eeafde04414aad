// The manifests match the code: the example is a Foo, and the role allows exactly the verbs that
// the controller uses.

package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	samplecontrollerv1alpha1 "example.com/operators/01-raw-watch/pkg/apis/samplecontroller/v1alpha1"
)

func TestExampleIsAFoo(t *testing.T) {
	var foo samplecontrollerv1alpha1.Foo
	readYAML(t, "manifests/foo.yaml", &foo)

	want := samplecontrollerv1alpha1.GroupVersion.WithKind("Foo")
	if got := foo.GroupVersionKind(); got != want {
		t.Errorf("the kind of manifests/foo.yaml is %v, want %v", got, want)
	}
	if foo.Spec.DeploymentName == "" {
		t.Error("manifests/foo.yaml has no deploymentName")
	}
}

// This test records the controller's requests and compares them with the role.
func TestRoleAllowsTheVerbsInUse(t *testing.T) {
	foo, renamed := aFoo("example", "web", 3), aFoo("example", "new", 3)
	c := newCluster(t, foo)
	stop := c.start()
	defer stop()
	c.eventually("a Deployment is created", func() bool { return c.deployment("web") != nil && c.ready("example") != "" })
	c.put(deploymentOf(foo, scaledTo(1)))
	c.eventually("the Deployment is updated", func() bool { return *c.deployment("web").Spec.Replicas == 3 })
	c.put(renamed)
	c.eventually("the Deployment is replaced by another after a rename", func() bool { return c.deployment("web") == nil && c.deployment("new") != nil })
	stop()

	inUse := map[string][]string{"foos/finalizers": {"update"}} // the API server checks this one, but the controller never sends it
	for _, request := range c.requested() {
		resource, _, _ := strings.Cut(request.on, "/")
		if strings.HasSuffix(request.on, "/status") {
			resource += "/status"
		}
		if !slices.Contains(inUse[resource], request.verb) {
			inUse[resource] = append(inUse[resource], request.verb)
		}
	}
	anyOrder := cmpopts.SortSlices(strings.Compare)
	if diff := cmp.Diff(inUse, allowed(t, "manifests/rbac.yaml"), anyOrder); diff != "" {
		t.Errorf("verbs (-in use +allowed):\n%s", diff)
	}
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
