package operator

// An operator's permissions, read from its manifests. The operator isn't installed by them, but runs
// with their permissions.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// Permissions are what an operator may do.
type Permissions struct {
	// Namespace and ServiceAccount are the account in the manifests, or "".
	Namespace, ServiceAccount string
	// Rules are all that it may do, in the cluster and in its own namespace.
	Rules []rbacv1.PolicyRule
	// Manifests has the namespace, account, roles and bindings, as kubectl reads them.
	Manifests []byte

	clusterRoles []rbacv1.ClusterRole // that count
	roles        []rbacv1.Role
}

// ReadPermissions reads files with Roles and ClusterRoles. All Roles count. If the files have a
// ServiceAccount, only those ClusterRoles count that are bound to it, and otherwise all. Without files,
// everything is permitted.
func ReadPermissions(files ...string) (Permissions, error) {
	if len(files) == 0 {
		return everything(), nil
	}
	var all []*unstructured.Unstructured
	for _, file := range files {
		objects, err := ReadObjects(file)
		if err != nil {
			return Permissions{}, err
		}
		all = append(all, objects...)
	}
	found, err := permissionsIn(all)
	if err != nil {
		return Permissions{}, fmt.Errorf("%s: %w", strings.Join(files, ", "), err)
	}
	return found, nil
}

func everything() Permissions {
	rules := []rbacv1.PolicyRule{
		{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}},
		{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}},
	}
	role := rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "everything"}, Rules: rules}
	return Permissions{Rules: rules, clusterRoles: []rbacv1.ClusterRole{role}}
}

func permissionsIn(objects []*unstructured.Unstructured) (found Permissions, err error) {
	var clusterRoles []rbacv1.ClusterRole
	var bindings []rbacv1.ClusterRoleBinding
	for _, object := range objects {
		var err error
		switch object.GetKind() {
		case "Namespace", "RoleBinding":
		case "ServiceAccount":
			found.Namespace, found.ServiceAccount = object.GetNamespace(), object.GetName()
		case "ClusterRole":
			clusterRoles, err = appendAs(clusterRoles, object)
		case "ClusterRoleBinding":
			bindings, err = appendAs(bindings, object)
		case "Role":
			found.roles, err = appendAs(found.roles, object)
		default: // a CRD, for example
			continue
		}
		if err != nil {
			return found, err
		}
		content, err := object.MarshalJSON()
		if err != nil {
			return found, err
		}
		found.Manifests = append(found.Manifests, content...)
	}
	if found.ServiceAccount == "" {
		found.clusterRoles = clusterRoles
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
	}
	for _, role := range found.roles {
		found.Rules = append(found.Rules, role.Rules...)
	}
	for _, role := range found.clusterRoles {
		found.Rules = append(found.Rules, role.Rules...)
	}
	return found, nil
}

// appendAs appends an object as a T.
func appendAs[T any](all []T, object *unstructured.Unstructured) ([]T, error) {
	var typed T
	err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, &typed, true)
	return append(all, typed), err
}

// ReadObjects reads a file with YAML.
func ReadObjects(file string) (objects []*unstructured.Unstructured, err error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	documents := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := documents.Decode(&object.Object)
		switch {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w", file, err)
		case len(object.Object) > 0:
			objects = append(objects, object)
		}
	}
}
