// The manager's requests, from the API server's audit log, against the roles that `make deploy`
// applies. The test finds missing permissions, and unused ones.

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// compareVerbs compares the verbs that account has used with those that it may use, by group and
// resource.
func compareVerbs(t *testing.T, account string) {
	t.Helper()
	want := map[string][]string{
		// The API server checks these permissions for other requests.
		"samplecontroller.k8s.io/foos/finalizers": {"update"},
		"apps/deployments":                        {"create"}, // for an apply that creates one
		// The recorder patches an event that is repeated. Ours aren't.
		"events.k8s.io/events": {"patch"},
		"/events":              {"patch"},
	}
	added := addedResources(t)
	isAdded := func(resource string) bool {
		return slices.ContainsFunc(added, func(kind string) bool { return strings.HasPrefix(resource+"/", kind+"/") })
	}
	for _, request := range requestsOf(t, account) {
		resource := request.ObjectRef.APIGroup + "/" + request.ObjectRef.Resource
		if request.ObjectRef.Subresource != "" {
			resource += "/" + request.ObjectRef.Subresource
		}
		if isAdded(resource) {
			continue
		}
		if request.Annotations["authorization.k8s.io/decision"] == "forbid" {
			t.Errorf("the manager has no permission to %s %s", request.Verb, resource)
			continue
		}
		verbs := []string{request.Verb}
		if request.Verb == "watch" {
			verbs = []string{"list", "watch"} // not every server can start a watch with a list
		}
		for _, verb := range verbs {
			if !slices.Contains(want[resource], verb) {
				want[resource] = append(want[resource], verb)
			}
		}
	}
	anyOrder := cmpopts.SortSlices(strings.Compare)
	got := allowed(t, account)
	maps.DeleteFunc(got, func(resource string, _ []string) bool { return isAdded(resource) })
	if diff := cmp.Diff(want, got, anyOrder); diff != "" {
		t.Errorf("verbs (-in use +allowed):\n%s", diff)
	}
}

// addedResources returns the resources, with their group, of the kinds that the kubebuilder CLI has
// added. Its controllers do nothing at first, so they don't use what they may.
func addedResources(t *testing.T) (added []string) {
	t.Helper()
	for _, object := range buildDefault(t) {
		if object.GetKind() == "CustomResourceDefinition" && object.GetName() != "foos.samplecontroller.k8s.io" {
			plural, group, _ := strings.Cut(object.GetName(), ".")
			added = append(added, group+"/"+plural)
		}
	}
	return added
}

// audited has the fields of an audit log's entry that this test needs.
type audited struct {
	Verb             string
	ImpersonatedUser struct{ Username string }
	ObjectRef        *struct{ APIGroup, Resource, Subresource string }
	Annotations      map[string]string
}

// requestsOf returns account's requests for resources.
func requestsOf(t *testing.T, account string) (requests []audited) {
	t.Helper()
	text, err := os.ReadFile(auditLog())
	must(t, err)
	for line := range strings.Lines(string(text)) {
		if !strings.HasSuffix(line, "\n") {
			break // the API server is still writing this line
		}
		var entry audited
		must(t, json.Unmarshal([]byte(line), &entry))
		if entry.ImpersonatedUser.Username == account && entry.ObjectRef != nil {
			requests = append(requests, entry)
		}
	}
	return requests
}

// allowed returns the verbs that account may use, by group and resource.
func allowed(t *testing.T, account string) map[string][]string {
	t.Helper()
	all, bound := buildDefault(t), map[string]bool{}
	for _, object := range all {
		if kind := object.GetKind(); kind != "ClusterRoleBinding" && kind != "RoleBinding" {
			continue
		}
		var binding rbacv1.ClusterRoleBinding // a RoleBinding has the same fields
		must(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &binding))
		for _, subject := range binding.Subjects {
			if account == "system:serviceaccount:"+subject.Namespace+":"+subject.Name {
				bound[binding.RoleRef.Kind+" "+binding.RoleRef.Name] = true
			}
		}
	}
	verbs := map[string][]string{}
	for _, object := range all {
		if !bound[object.GetKind()+" "+object.GetName()] {
			continue
		}
		var role rbacv1.ClusterRole // a Role has the same fields
		must(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &role))
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

// buildDefault returns the objects that `make deploy` applies.
func buildDefault(t *testing.T) (objects []*unstructured.Unstructured) {
	t.Helper()
	text, err := kustomizeDefault()
	must(t, err)
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := documents.Decode(object); errors.Is(err, io.EOF) {
			return objects
		} else if err != nil {
			t.Fatalf("config/default: %v", err)
		}
		objects = append(objects, object)
	}
}

// kustomizeDefault builds config/default once. dist/install.yaml may be older, because it is only
// written for a release.
var kustomizeDefault = sync.OnceValues(func() ([]byte, error) {
	build := exec.Command("go", "tool", "kustomize", "build", filepath.Join("..", "config", "default"))
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off") // the tool is in this module's go.mod, and needs no cgo
	build.Stderr = os.Stderr
	return build.Output()
})
