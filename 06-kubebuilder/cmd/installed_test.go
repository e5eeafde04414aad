// The objects that `make deploy` applies, on a real API server, with two replicas of the manager.
// They have the Deployment's arguments and its ServiceAccount. There is no kubelet, no cert-manager
// and no Pod network, so the test makes the certificate, starts the replicas, and makes the API
// server call them. The tests that need a whole cluster are in test/e2e.

package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
)

const installed = "foo-operator-system" // the namespace

func TestTheInstalledManager(t *testing.T) {
	config, api, _ := newAPIServer(t)
	install(t, api)
	var deployment appsv1.Deployment
	must(t, api.Get(t.Context(), client.ObjectKey{Namespace: installed, Name: namePrefix + "controller-manager"}, &deployment))
	account := "system:serviceaccount:" + installed + ":" + deployment.Spec.Template.Spec.ServiceAccountName
	kubeconfig := kubeconfigOf(t, config, account)
	args := deployment.Spec.Template.Spec.Containers[0].Args

	certs, ca := makeCertificate(t)
	var replicas []*managerReplica
	for range 2 {
		replicas = append(replicas, startReplica(t, kubeconfig, certs, args))
	}
	eventually(t, "both replicas are ready", replicas, func(ctx context.Context) bool {
		return replicas[0].isReady(ctx) && replicas[1].isReady(ctx)
	})

	for _, c := range replicas {
		if err := c.serves(ca); err != nil {
			t.Errorf("the replica doesn't serve the webhooks with this certificate, over HTTP/1.1: %v", err)
		}
		for who, want := range map[string]int{"anonymous": http.StatusUnauthorized, "unauthorized": http.StatusForbidden, "prometheus": http.StatusOK} {
			token := tokenOf(t, api, who)
			eventually(t, fmt.Sprintf("the client %s gets %d from /metrics", who, want), replicas, func(context.Context) bool {
				return c.metrics(t, token) == want
			})
		}
		routeTo(t, api, c, ca)
		liveAsAFoo(t, api, newNamespace(t, api), replicas)
	}

	for _, c := range replicas {
		if code := c.stop(t); code != 0 {
			t.Errorf("the manager's exit code is %d, want 0:\n%s", code, &c.log)
		}
	}
	compareVerbs(t, account)
}

// liveAsAFoo takes a Foo through everything that makes the manager send requests.
func liveAsAFoo(t *testing.T, api client.Client, namespace string, replicas []*managerReplica) {
	t.Helper()
	foo := &samplecontrollerv1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "example"}}
	eventually(t, "the webhooks accept the Foo", replicas, func(ctx context.Context) bool { return api.Create(ctx, foo) == nil })
	if foo.Spec.DeploymentName != "example" {
		t.Errorf("the Deployment's name is %q, want the Foo's", foo.Spec.DeploymentName)
	}
	eventually(t, "a second Foo with the same deploymentName is refused", replicas, func(ctx context.Context) bool {
		second := &samplecontrollerv1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "second"}, Spec: samplecontrollerv1alpha1.FooSpec{DeploymentName: "example"}}
		return apierrors.IsInvalid(api.Create(ctx, second, client.DryRunAll))
	})
	key, deployment := client.ObjectKeyFromObject(foo), &appsv1.Deployment{}
	eventually(t, "the Foo has its Deployment", replicas, func(ctx context.Context) bool { return api.Get(ctx, key, deployment) == nil })
	deployment.Status = appsv1.DeploymentStatus{ObservedGeneration: deployment.Generation, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1}
	must(t, api.Status().Update(t.Context(), deployment)) // as the Deployment controller does
	eventually(t, "the Foo is ready, and has an Event", replicas, func(ctx context.Context) bool {
		var events eventsv1.EventList
		must(t, api.Get(ctx, key, foo))
		must(t, api.List(ctx, &events, client.InNamespace(namespace)))
		return meta.IsStatusConditionTrue(foo.Status.Conditions, "Ready") &&
			slices.ContainsFunc(events.Items, func(e eventsv1.Event) bool { return e.Regarding.UID == foo.UID && e.Reason == "Synced" })
	})
	must(t, api.Patch(t.Context(), foo, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"deploymentName":"new"}}`))))
	eventually(t, "its former Deployment is deleted", replicas, func(ctx context.Context) bool { return apierrors.IsNotFound(api.Get(ctx, key, deployment)) })
	must(t, api.Delete(t.Context(), foo))
}

// install applies what `make deploy` does. The webhooks are deleted when the test ends, because
// otherwise no other test could create a Foo.
func install(t *testing.T, api client.Client) {
	t.Helper()
	for _, object := range buildDefault(t) {
		if object.GroupVersionKind().Group == "cert-manager.io" {
			continue // its CRDs aren't here
		}
		must(t, api.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("test"), client.ForceOwnership))
	}
	t.Cleanup(func() {
		ctx := context.Background()
		must(t, api.Delete(ctx, &admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: mutating}}))
		must(t, api.Delete(ctx, &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: validating}}))
		foo := &samplecontrollerv1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "any"}, Spec: samplecontrollerv1alpha1.FooSpec{DeploymentName: "any"}}
		eventually(t, "the API server no longer calls the webhooks", nil, func(context.Context) bool { return api.Create(ctx, foo.DeepCopy(), client.DryRunAll) == nil })
	})
}

// routeTo makes the API server call that replica: the Service becomes an alias of localhost, with
// the replica's port. It also writes the CA, as cert-manager does. The Service's name stays the
// same, so the API server checks the certificate as always.
func routeTo(t *testing.T, api client.Client, c *managerReplica, ca []byte) {
	t.Helper()
	_, port, err := net.SplitHostPort(c.webhooks)
	must(t, err)
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: installed, Name: webhookService}}
	must(t, api.Patch(t.Context(), service, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"type":"ExternalName","externalName":"localhost"}}`))))
	mutate, validate := webhookConfigurations(t, api)
	must(t, api.Patch(t.Context(), mutate, callPort(port, ca, len(mutate.Webhooks))))
	must(t, api.Patch(t.Context(), validate, callPort(port, ca, len(validate.Webhooks))))
}

// callPort returns a patch for a configuration with that number of webhooks. It sets their port and
// CA.
func callPort(port string, ca []byte, webhooks int) client.Patch {
	var operations []string
	for i := range webhooks {
		operations = append(operations,
			fmt.Sprintf(`{"op":"replace","path":"/webhooks/%d/clientConfig/service/port","value":%s}`, i, port),
			fmt.Sprintf(`{"op":"add","path":"/webhooks/%d/clientConfig/caBundle","value":%q}`, i, base64.StdEncoding.EncodeToString(ca)))
	}
	return client.RawPatch(types.JSONPatchType, []byte("["+strings.Join(operations, ",")+"]"))
}

func webhookConfigurations(t *testing.T, api client.Client) (*admissionv1.MutatingWebhookConfiguration, *admissionv1.ValidatingWebhookConfiguration) {
	t.Helper()
	mutate, validate := &admissionv1.MutatingWebhookConfiguration{}, &admissionv1.ValidatingWebhookConfiguration{}
	must(t, api.Get(t.Context(), client.ObjectKey{Name: mutating}, mutate))
	must(t, api.Get(t.Context(), client.ObjectKey{Name: validating}, validate))
	return mutate, validate
}

// kubeconfigOf returns the path of a kubeconfig with only the permissions of that ServiceAccount.
func kubeconfigOf(t *testing.T, config *rest.Config, account string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	must(t, clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{"test": {Server: config.Host, CertificateAuthorityData: config.CAData}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{"test": {
			ClientCertificateData: config.CertData,
			ClientKeyData:         config.KeyData,
			Impersonate:           account,
			ImpersonateGroups:     []string{"system:serviceaccounts", "system:serviceaccounts:" + installed, "system:authenticated"},
		}},
		Contexts:       map[string]*clientcmdapi.Context{"test": {Cluster: "test", AuthInfo: "test"}},
		CurrentContext: "test",
	}, path))
	return path
}

// makeCertificate returns a folder with the certificate that config/certmanager asks for, and the
// PEM of the CA that signed it.
func makeCertificate(t *testing.T) (dir string, ca []byte) {
	t.Helper()
	certificate, key, err := cert.GenerateSelfSignedCertKey(webhookService+"."+installed+".svc", nil, nil)
	must(t, err)
	dir = t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "tls.crt"), certificate, 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "tls.key"), key, 0o600))
	return dir, certificate // the CA's certificate is in it, too
}

// tokenOf returns a token of that ServiceAccount. anonymous has no token, and only prometheus may
// read the metrics.
func tokenOf(t *testing.T, api client.Client, who string) string {
	t.Helper()
	if who == "anonymous" {
		return ""
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: who}}
	must(t, client.IgnoreAlreadyExists(api.Create(t.Context(), account)))
	if who == "prometheus" {
		must(t, client.IgnoreAlreadyExists(api.Create(t.Context(), &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: who},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: namePrefix + "metrics-reader"},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: who}},
		})))
	}
	request := &authenticationv1.TokenRequest{}
	must(t, api.SubResource("token").Create(t.Context(), account, request))
	return request.Status.Token
}
