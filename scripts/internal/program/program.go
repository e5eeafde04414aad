// Package program builds a chapter's program and gives it an identity of its own on a cluster, with no more permissions
// than the chapter's rbac.yaml grants: so a missing verb shows at once, and the audit log can tell its requests from all
// others. Starting and stopping it is left to the caller.
package program

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"

	"example.com/operators/scripts/internal/chapters"
)

// ServiceAccount and ClusterRole are the names in every chapter's rbac.yaml; Namespace is where its ServiceAccount lives.
const (
	ServiceAccount = "foo-controller"
	ClusterRole    = "foo-controller"
	Namespace      = "foo-system"
)

// Build builds the chapter's program into dir and returns its path. Extra arguments go to go build.
func Build(ctx context.Context, chapter chapters.Chapter, dir string, args ...string) (string, error) {
	return build(ctx, chapter, ".", filepath.Join(dir, chapter.Name), args...)
}

// build builds one package of the chapter, such as ".", into binary, which it returns.
func build(ctx context.Context, chapter chapters.Chapter, pkg, binary string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "go", append(append([]string{"build", "-o", binary}, args...), pkg)...)
	command.Dir = chapter.Dir
	command.Env = append(os.Environ(), "GOWORK=off")
	if output, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", filepath.Base(binary), err, output)
	}
	return binary, nil
}

// Grant makes a ServiceAccount in namespace that may do, in the whole cluster, what the chapters' ClusterRole allows. It is
// for copies of a program that are told apart by their account.
func Grant(ctx context.Context, client kubernetes.Interface, namespace string) error {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: ServiceAccount}}
	if _, err := client.CoreV1().ServiceAccounts(namespace).Create(ctx, account, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create ServiceAccount: %w", err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: bindingName(namespace)},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: ClusterRole},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: ServiceAccount}},
	}
	if _, err := client.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create ClusterRoleBinding: %w", err)
	}
	return nil
}

// Revoke takes back the permissions that Grant gave. The ServiceAccount goes with its namespace.
func Revoke(ctx context.Context, client kubernetes.Interface, namespace string) error {
	err := client.RbacV1().ClusterRoleBindings().Delete(ctx, bindingName(namespace), metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete ClusterRoleBinding: %w", err)
	}
	return nil
}

func bindingName(namespace string) string { return ServiceAccount + "-in-" + namespace }

// WriteKubeconfig writes a kubeconfig for the ServiceAccount in namespace to path, readable by this user only. Its token is
// valid for a day.
func WriteKubeconfig(ctx context.Context, client kubernetes.Interface, cluster *rest.Config, namespace, path string) error {
	return writeKubeconfig(ctx, client, cluster, namespace, ServiceAccount, path)
}

func writeKubeconfig(ctx context.Context, client kubernetes.Interface, cluster *rest.Config, namespace, account, path string) error {
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To[int64](24 * 60 * 60)}}
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
