// What the manager asks for is compared with what it may: the API server's audit log with the roles in dist/install.yaml. A permission
// that is missing is found, and so is one too many.

package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// compareVerbs compares the verbs that account has used with those that it may use, by group and resource.
func compareVerbs(t *testing.T, account string) {
	t.Helper()
	want := map[string][]string{
		// Checked by the API server, and never asked for.
		"schedule.rs/tdsets/finalizers": {"update"},
		"apps/deployments":              {"create"}, // when an apply makes one
		"/services":                     {"create"}, // the same
		// For events that come again. Ours don't.
		"events.k8s.io/events": {"patch"},
		"/events":              {"patch"},
	}
	for _, request := range requestsOf(t, account) {
		resource := request.ObjectRef.APIGroup + "/" + request.ObjectRef.Resource
		if request.ObjectRef.Subresource != "" {
			resource += "/" + request.ObjectRef.Subresource
		}
		if request.Annotations["authorization.k8s.io/decision"] == "forbid" {
			t.Errorf("it may not %s %s", request.Verb, resource)
			continue
		}
		verbs := []string{request.Verb}
		if request.Verb == "watch" {
			verbs = []string{"list", "watch"} // not every server can begin a watch with what is there
		}
		for _, verb := range verbs {
			if !slices.Contains(want[resource], verb) {
				want[resource] = append(want[resource], verb)
			}
		}
	}
	anyOrder := cmpopts.SortSlices(strings.Compare)
	if diff := cmp.Diff(want, allowed(t, account), anyOrder); diff != "" {
		t.Errorf("verbs (-in use +allowed):\n%s", diff)
	}
}

// audited is what is looked at of an entry in an audit log.
type audited struct {
	Verb             string
	ImpersonatedUser struct{ Username string }
	ObjectRef        *struct{ APIGroup, Resource, Subresource string }
	Annotations      map[string]string
}

// requestsOf returns the requests for resources that account has made.
func requestsOf(t *testing.T, account string) (requests []audited) {
	t.Helper()
	text, err := os.ReadFile(auditLog())
	must(t, err)
	for line := range strings.Lines(string(text)) {
		if !strings.HasSuffix(line, "\n") {
			break // it is being written
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
	all, bound := objectsIn(t, "../dist/install.yaml"), map[string]bool{}
	for _, object := range all {
		if kind := object.GetKind(); kind != "ClusterRoleBinding" && kind != "RoleBinding" {
			continue
		}
		var binding rbacv1.ClusterRoleBinding // a RoleBinding has nothing else
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
		var role rbacv1.ClusterRole // a Role has nothing else
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

// objectsIn returns what is in a file of manifests.
func objectsIn(t *testing.T, path string) (objects []*unstructured.Unstructured) {
	t.Helper()
	file, err := os.Open(path)
	must(t, err)
	defer file.Close()
	documents := yaml.NewYAMLOrJSONDecoder(file, 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := documents.Decode(object); errors.Is(err, io.EOF) {
			return objects
		} else if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		objects = append(objects, object)
	}
}
