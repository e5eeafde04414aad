package operator

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"

	"example.com/operators/scripts/internal/audit"
)

// Each permission is used, or needed for a reason, or reported.
func TestCompare(t *testing.T) {
	t.Parallel()
	rules := []rbacv1.PolicyRule{
		{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"list", "watch", "create", "patch", "delete"}},
		{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
		{APIGroups: []string{"example.com"}, Resources: []string{"foos/finalizers"}, Verbs: []string{"update"}},
		{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"list", "get", "*"}},
	}
	refused := audit.Request{Verb: "get", Resource: "services", Code: 403}
	usage := Compare(rules, []audit.Request{
		{Verb: "get", URI: "/api"}, // discovery
		{Verb: "watch", Group: "apps", Resource: "deployments", Code: 200},
		{Verb: "patch", Group: "apps", Resource: "deployments", Code: 201, URI: "/a?fieldManager=b"},
		{Verb: "create", Resource: "events", Code: 201},
		refused,
	}, map[string]string{"get secrets": "the webhook's certificate", "get pods": "no longer"})
	want := Usage{
		Granted: []string{
			"* secrets", "create deployments.apps", "create events", "delete deployments.apps", "get secrets", "list deployments.apps",
			"list secrets", "patch deployments.apps", "patch events", "update foos/finalizers.example.com", "watch deployments.apps",
		},
		Used:      []string{"create events", "get services", "patch deployments.apps", "watch deployments.apps"},
		Missing:   map[string][]audit.Request{"get services": {refused}},
		Unused:    []string{"delete deployments.apps", "list secrets"},
		Wildcards: []string{"* secrets"},
		Stale:     []string{"get pods"},
	}
	if diff := cmp.Diff(want, usage); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A merge patch can't create an object, so it doesn't explain the permission to create one.
func TestOnlyAnApplyExplainsCreate(t *testing.T) {
	t.Parallel()
	rules := []rbacv1.PolicyRule{{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"create", "patch", "list"}}}
	usage := Compare(rules, []audit.Request{{Verb: "patch", Group: "apps", Resource: "deployments", URI: "/a", Code: 200}}, nil)
	if diff := cmp.Diff([]string{"create deployments.apps", "list deployments.apps"}, usage.Unused); diff != "" {
		t.Errorf("unused (-want +got):\n%s", diff)
	}
}
