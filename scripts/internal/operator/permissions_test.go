package operator

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/testkit"
)

// manyObjects is what kustomize would write: permissions among other things.
const manyObjects = `apiVersion: v1
kind: Namespace
metadata:
  name: a-system
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: a-manager
  namespace: a-system
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: a-role
rules:
- {apiGroups: [apps], resources: [deployments], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: leads
  namespace: a-system
rules:
- {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [update]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: admin
rules:
- {apiGroups: ["*"], resources: ["*"], verbs: ["*"]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: a-binding
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: a-role}
subjects:
- {kind: ServiceAccount, name: a-manager, namespace: a-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: somebody-elses
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: admin}
subjects:
- {kind: ServiceAccount, name: somebody, namespace: a-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: a-second-role
rules: []
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: a-second
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: a-second-role}
subjects:
- {kind: ServiceAccount, name: a-manager, namespace: a-system}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: a-manager
`

func read(t *testing.T, content string) (Permissions, error) {
	dir := testkit.Write(t, t.TempDir(), map[string]string{"role.yaml": content})
	return ReadPermissions(filepath.Join(dir, "role.yaml"))
}

func TestReadPermissions(t *testing.T) {
	found, err := read(t, manyObjects)
	if err != nil {
		t.Fatal(err)
	}
	if found.Namespace != "a-system" || found.ServiceAccount != "a-manager" {
		t.Errorf("got account %s/%s", found.Namespace, found.ServiceAccount)
	}
	var roles []string
	for _, role := range found.clusterRoles {
		roles = append(roles, role.Name)
	}
	if want := []string{"a-role", "a-second-role"}; !slices.Equal(roles, want) {
		t.Errorf("got roles %q, want %q", roles, want)
	}
	if len(found.Rules) != 2 || found.Rules[0].Resources[0] != "leases" || found.Rules[1].Resources[0] != "deployments" {
		t.Errorf("got rules %v", found.Rules)
	}
	objects := string(found.Manifests)
	for object, want := range map[string]bool{
		`"kind":"Namespace"`: true, `"name":"a-role"`: true, `"kind":"Deployment"`: false,
	} {
		if strings.Contains(objects, object) != want {
			t.Errorf("got objects\n%s\nwith %q: want %v", objects, object, want)
		}
	}
}

func TestReadPermissionsRefuses(t *testing.T) {
	for sentence, test := range map[string]struct{ content, want string }{
		"what is no YAML": {"kind: {\n", "yaml"},
		"an account with a role that isn't in the file": {
			"apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a}\n---\n" +
				"apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\n" +
				"roleRef: {kind: ClusterRole, name: cluster-admin}\nsubjects: [{name: a}]\n",
			`bound to ClusterRole "cluster-admin", which isn't in this file`,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			if _, err := read(t, test.content); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want %q", err, test.want)
			}
		})
	}
}

// Without an account, all roles count. A chapter's manifests need one, but an operator's role.yaml
// may have none.
func TestPermissionsWithoutAnAccount(t *testing.T) {
	content := "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: a}\n" +
		"rules: [{apiGroups: [apps], resources: [deployments], verbs: [get]}]\n"
	found, err := read(t, content)
	if err != nil || len(found.clusterRoles) != 1 || len(found.Rules) != 1 {
		t.Errorf("got %+v, %v, want one role with one rule", found, err)
	}
}
