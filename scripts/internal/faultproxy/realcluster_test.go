// A real cluster for the integration test, and an informer on it that goes through the proxy.

package faultproxy

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"example.com/operators/scripts/internal/testkit"
)

// realCluster is a namespace of a real cluster, and a ServiceAccount that may change what is in it.
type realCluster struct {
	config     *rest.Config
	client     kubernetes.Interface
	namespace  string
	kubeconfig string // the ServiceAccount's
}

func newRealCluster(t *testing.T) *realCluster {
	const account = "operator"
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	config, client := testkit.Cluster(t)
	namespace := testkit.NewNamespace(t, client, "faultproxy-", nil)
	_, err := client.CoreV1().ServiceAccounts(namespace).Create(t.Context(),
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: account}}, metav1.CreateOptions{})
	must(err)
	_, err = client.RbacV1().RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "edit"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: account}},
	}, metav1.CreateOptions{})
	must(err)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	token, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	must(err)
	own := clientcmdapi.NewConfig()
	own.Clusters["a"] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData, CertificateAuthority: config.CAFile}
	own.AuthInfos["a"] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	own.Contexts["a"] = &clientcmdapi.Context{Cluster: "a", AuthInfo: "a"}
	own.CurrentContext = "a"
	must(clientcmd.WriteToFile(*own, path))
	return &realCluster{config, client, namespace, path}
}

// create makes a ConfigMap, past the proxy.
func (c *realCluster) create(t *testing.T, name string) {
	t.Helper()
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := c.client.CoreV1().ConfigMaps(c.namespace).Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// informer follows the ConfigMaps through the proxy.
type informer struct {
	client kubernetes.Interface
	store  cache.Store
}

// listFirst makes a reflector list and watch, in two requests, as all did before Kubernetes 1.35.
type listFirst struct{ *cache.ListWatch }

func (listFirst) IsWatchListSemanticsUnSupported() bool { return true }

func (c *realCluster) follow(t *testing.T, proxy *Proxy, mediaType string, streamed bool) *informer {
	t.Helper()
	config := through(t, proxy, c.kubeconfig)
	config.ContentType = mediaType
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	listWatch := cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "configmaps", c.namespace, fields.Everything())
	var source cache.ListerWatcher = listWatch
	if !streamed {
		source = listFirst{listWatch}
	}
	shared := cache.NewSharedInformer(source, &corev1.ConfigMap{}, 0)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		shared.RunWithContext(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-ended
	})
	testkit.Await(t, timeout, "the informer is in step", func() error {
		if !shared.HasSynced() {
			return errors.New("it isn't synced")
		}
		return number(proxy.Watches(), 1)
	})
	return &informer{client, shared.GetStore()}
}

// knows waits until the informer has seen a ConfigMap.
func (i *informer) knows(t *testing.T, name string) {
	t.Helper()
	testkit.Await(t, timeout, "the informer knows "+name, func() error {
		if !slices.ContainsFunc(i.store.List(), func(object any) bool { return object.(*corev1.ConfigMap).Name == name }) {
			return fmt.Errorf("it knows %d others", len(i.store.ListKeys()))
		}
		return nil
	})
}
