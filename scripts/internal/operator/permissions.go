package operator

// An operator's permissions, read from its manifests. The operator isn't installed by them, but runs
// with their permissions.

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
)

// Permissions are what an operator may do.
type Permissions struct {
	// Namespace and ServiceAccount are the account in the manifests, or "".
	Namespace, ServiceAccount string
	// Rules are all that it may do, in the cluster and in its own namespace.
	Rules []rbacv1.PolicyRule
	// Manifests has the namespace, account, roles and bindings, as YAML.
	Manifests []byte

	clusterRoles []rbacv1.ClusterRole // those that are bound to the account
	roles        []rbacv1.Role
}

// ReadPermissions reads a file with Roles and ClusterRoles. If it has a ServiceAccount, those roles
// count that are bound to it, and otherwise all.
func ReadPermissions(file string) (Permissions, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return Permissions{}, err
	}
	found, err := parsePermissions(content)
	if err != nil {
		return Permissions{}, fmt.Errorf("%s: %w", file, err)
	}
	return found, nil
}

// Everything are the permissions to do anything.
func Everything() Permissions {
	rules := []rbacv1.PolicyRule{
		{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}},
		{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}},
	}
	role := rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "everything"}, Rules: rules}
	return Permissions{Rules: rules, clusterRoles: []rbacv1.ClusterRole{role}}
}

func parsePermissions(content []byte) (found Permissions, err error) {
	var clusterRoles []rbacv1.ClusterRole
	var bindings []rbacv1.ClusterRoleBinding
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return found, err
		}
		object, _, err := scheme.Codecs.UniversalDeserializer().Decode(document, nil, nil)
		if runtime.IsNotRegisteredError(err) || runtime.IsMissingKind(err) {
			continue // a CRD, for example
		}
		if err != nil {
			return found, err
		}
		switch object := object.(type) {
		case *corev1.Namespace, *rbacv1.RoleBinding:
		case *corev1.ServiceAccount:
			found.Namespace, found.ServiceAccount = object.Namespace, object.Name
		case *rbacv1.ClusterRole:
			clusterRoles = append(clusterRoles, *object)
		case *rbacv1.ClusterRoleBinding:
			bindings = append(bindings, *object)
		case *rbacv1.Role:
			found.roles = append(found.roles, *object)
		default:
			continue
		}
		found.Manifests = append(append(found.Manifests, "---\n"...), document...)
	}
	for _, role := range found.roles {
		found.Rules = append(found.Rules, role.Rules...)
	}
	if found.ServiceAccount == "" {
		found.clusterRoles = clusterRoles
		for _, role := range clusterRoles {
			found.Rules = append(found.Rules, role.Rules...)
		}
		return found, nil
	}
	isOurs := func(subject rbacv1.Subject) bool { return subject.Name == found.ServiceAccount }
	for _, binding := range bindings {
		if !slices.ContainsFunc(binding.Subjects, isOurs) {
			continue
		}
		i := slices.IndexFunc(clusterRoles, func(role rbacv1.ClusterRole) bool { return role.Name == binding.RoleRef.Name })
		if i < 0 {
			return found, fmt.Errorf("the program's account is bound to ClusterRole %q, which isn't in this file",
				binding.RoleRef.Name)
		}
		found.clusterRoles = append(found.clusterRoles, clusterRoles[i])
		found.Rules = append(found.Rules, clusterRoles[i].Rules...)
	}
	return found, nil
}
