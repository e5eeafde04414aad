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
		rule("apps", "deployments", "list", "watch", "create", "patch", "delete"),
		rule("", "events", "create", "patch"),
		rule("example.com", "foos/finalizers", "update"),
		rule("", "secrets", "list", "get", "*"),
	}
	refused := audit.Request{Verb: "get", Resource: "services", Code: 403}
	usage := Compare(rules, []audit.Request{
		{Verb: "get", URI: "/api"}, // discovery
		{Verb: "watch", Group: "apps", Resource: "deployments", Code: 200},
		{Verb: "patch", Group: "apps", Resource: "deployments", Code: 201, URI: "/a?fieldManager=b"},
		{Verb: "create", Resource: "events", Code: 201},
		refused,
	}, map[string]string{"get secrets": "the webhook's certificate"})
	want := Usage{
		Granted: []string{
			"* secrets", "create deployments.apps", "create events", "delete deployments.apps", "get secrets",
			"list deployments.apps", "list secrets", "patch deployments.apps", "patch events",
			"update foos/finalizers.example.com", "watch deployments.apps",
		},
		Used:      []string{"create events", "get services", "patch deployments.apps", "watch deployments.apps"},
		Missing:   map[string][]audit.Request{"get services": {refused}},
		Unused:    []string{"delete deployments.apps", "list secrets"},
		Wildcards: []string{"* secrets"},
	}
	if diff := cmp.Diff(want, usage); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func rule(group, resource string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
}

// A merge patch can't create an object, so it doesn't explain the permission to create one.
func TestOnlyAnApplyExplainsCreate(t *testing.T) {
	t.Parallel()
	rules := []rbacv1.PolicyRule{rule("apps", "deployments", "create", "patch", "list")}
	patch := audit.Request{Verb: "patch", Group: "apps", Resource: "deployments", URI: "/a", Code: 200}
	usage := Compare(rules, []audit.Request{patch}, nil)
	if diff := cmp.Diff([]string{"create deployments.apps", "list deployments.apps"}, usage.Unused); diff != "" {
		t.Errorf("unused (-want +got):\n%s", diff)
	}
}
