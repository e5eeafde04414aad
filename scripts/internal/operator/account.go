package operator

// The account with which an operator runs: exactly the permissions of its manifests. So a missing
// verb shows at once, and the audit log shows which requests are the operator's.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"

	"example.com/operators/scripts/internal/audit"
)

// ServiceAccount is the name of the account that Grant creates.
const ServiceAccount = "operator"

// Grant creates a ServiceAccount in namespace with these permissions. Those in the namespace of the
// manifests apply to this one. The audit log tells operators apart by their accounts.
func (p Permissions) Grant(ctx context.Context, client kubernetes.Interface, namespace string) error {
	rbac := client.RbacV1()
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: ServiceAccount}}
	named := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: name, Labels: map[string]string{GrantedIn: namespace}}
	}
	account := &corev1.ServiceAccount{ObjectMeta: named(ServiceAccount)}
	errs := []error{create(ctx, client.CoreV1().ServiceAccounts(namespace).Create, account)}
	for _, role := range p.roles {
		about := named(role.Name)
		ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name}
		binding := &rbacv1.RoleBinding{ObjectMeta: about, RoleRef: ref, Subjects: subjects}
		errs = append(errs,
			create(ctx, rbac.Roles(namespace).Create, &rbacv1.Role{ObjectMeta: about, Rules: role.Rules}),
			create(ctx, rbac.RoleBindings(namespace).Create, binding))
	}
	for _, role := range p.clusterRoles {
		// The roles of all operators may have the same name, so this one is copied.
		about := named(ServiceAccount + "-in-" + namespace + "-" + role.Name)
		ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: about.Name}
		binding := &rbacv1.ClusterRoleBinding{ObjectMeta: about, RoleRef: ref, Subjects: subjects}
		errs = append(errs,
			create(ctx, rbac.ClusterRoles().Create, &rbacv1.ClusterRole{ObjectMeta: about, Rules: role.Rules}),
			create(ctx, rbac.ClusterRoleBindings().Create, binding))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("grant the permissions in namespace %s: %w", namespace, err)
	}
	return waitGranted(ctx, client, namespace, p.Rules)
}

func create[T any](
	ctx context.Context, create func(context.Context, T, metav1.CreateOptions) (T, error), object T,
) error {
	_, err := create(ctx, object, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// waitGranted waits until the API server's authorizer, which reads from a cache, knows the rules.
func waitGranted(ctx context.Context, client kubernetes.Interface, namespace string, rules []rbacv1.PolicyRule) error {
	for _, rule := range rules {
		if len(rule.Resources) == 0 {
			continue // paths like /metrics
		}
		resource, subresource, _ := strings.Cut(rule.Resources[0], "/")
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: audit.ServiceAccount(namespace, ServiceAccount),
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: namespace, Verb: rule.Verbs[0], Group: rule.APIGroups[0], Resource: resource, Subresource: subresource,
			},
		}}
		if len(rule.ResourceNames) > 0 {
			review.Spec.ResourceAttributes.Name = rule.ResourceNames[0]
		}
		isAllowed := func(ctx context.Context) (bool, error) {
			answer, err := client.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
			return err == nil && answer.Status.Allowed, err
		}
		if err := wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, time.Minute, true, isAllowed); err != nil {
			return fmt.Errorf("wait until ServiceAccount %s/%s may %s %s: %w",
				namespace, ServiceAccount, rule.Verbs[0], strings.Join(rule.Resources, ", "), err)
		}
	}
	return nil
}

// Revoke deletes what Grant has created outside the namespace.
func Revoke(ctx context.Context, client kubernetes.Interface, namespace string) error {
	ours := metav1.ListOptions{LabelSelector: GrantedIn + "=" + namespace}
	err := errors.Join(
		client.RbacV1().ClusterRoleBindings().DeleteCollection(ctx, metav1.DeleteOptions{}, ours),
		client.RbacV1().ClusterRoles().DeleteCollection(ctx, metav1.DeleteOptions{}, ours))
	if err != nil {
		return fmt.Errorf("take back the permissions in namespace %s: %w", namespace, err)
	}
	return nil
}

// NewNamespace creates a namespace for an operator. If a killed process has left it behind, it is
// deleted first, as by DeleteNamespace.
func NewNamespace(ctx context.Context, client kubernetes.Interface, objects dynamic.Interface, name string,
	managed ...schema.GroupVersionResource) error {
	if err := DeleteNamespace(ctx, client, objects, name, managed...); err != nil {
		return err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	isCreated := func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) { // it is still being deleted
			return false, nil
		}
		return err == nil, err
	}
	return wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, time.Minute, true, isCreated)
}

// DeleteNamespace deletes an operator's namespace, and what Grant has created outside it. It also
// removes the finalizers of the objects of these resources, because the operator that would remove
// them isn't running any more. It doesn't wait until the namespace is gone.
func DeleteNamespace(ctx context.Context, client kubernetes.Interface, objects dynamic.Interface, namespace string,
	managed ...schema.GroupVersionResource) error {
	err := Revoke(ctx, client, namespace)
	for _, resource := range managed {
		api := objects.Resource(resource).Namespace(namespace)
		left, failed := api.List(ctx, metav1.ListOptions{})
		if failed != nil {
			continue // the CRD is gone
		}
		for _, object := range left.Items {
			if len(object.GetFinalizers()) > 0 {
				noFinalizers := []byte(`{"metadata":{"finalizers":null}}`)
				_, failed := api.Patch(ctx, object.GetName(), types.MergePatchType, noFinalizers, metav1.PatchOptions{})
				err = errors.Join(err, IgnoreNotFound(failed))
			}
		}
	}
	return errors.Join(err, IgnoreNotFound(client.CoreV1().Namespaces().Delete(ctx, namespace, metav1.DeleteOptions{})))
}

// IgnoreNotFound returns nil if the error says that an object is gone already.
func IgnoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// GrantedIn is the label of what Grant creates. Its value is the namespace.
const GrantedIn = "operators.example.com/granted-in"

// WriteKubeconfig writes a ServiceAccount's kubeconfig, readable by this user only. It is valid for
// a day.
func WriteKubeconfig(
	ctx context.Context, client kubernetes.Interface, cluster *rest.Config, namespace, account, path string,
) error {
	day := authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To[int64](24 * 60 * 60)}
	request := &authenticationv1.TokenRequest{Spec: day}
	token, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, account, request, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("token for ServiceAccount %s/%s: %w", namespace, account, err)
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["cluster"] = &clientcmdapi.Cluster{
		Server:                   cluster.Host,
		CertificateAuthority:     cluster.CAFile,
		CertificateAuthorityData: cluster.CAData,
	}
	config.AuthInfos["program"] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	config.Contexts["program"] = &clientcmdapi.Context{Cluster: "cluster", AuthInfo: "program"}
	config.CurrentContext = "program"
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return fmt.Errorf("write the kubeconfig: %w", err)
	}
	return nil
}
