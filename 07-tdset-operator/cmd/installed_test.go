// What `make deploy` applies, on a real API server: two copies of the manager, with the arguments
// that the Deployment gives them, under its ServiceAccount. No kubelet is there, and no network
// between Pods, so the test starts the copies, brings them their certificate, and leads the API
// server to them. What needs a cluster that has all that is in test/e2e.

package main

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
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
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const installed = "tdset-operator-system" // the namespace

func TestTheInstalledManager(t *testing.T) {
	config, api, _ := newAPIServer(t)
	install(t, api)
	var deployment appsv1.Deployment
	must(t, api.Get(t.Context(), client.ObjectKey{Namespace: installed, Name: namePrefix + "controller-manager"}, &deployment))
	account := "system:serviceaccount:" + installed + ":" + deployment.Spec.Template.Spec.ServiceAccountName
	kubeconfig := kubeconfigOf(t, config, account)
	args := deployment.Spec.Template.Spec.Containers[0].Args

	var copies []*managerCopy
	for range 2 {
		copies = append(copies, startCopy(t, kubeconfig, args))
	}
	eventually(t, "the certificate is made, and both copies are ready", copies, func(ctx context.Context) bool {
		ready := true
		for _, c := range copies {
			c.beKubelet(ctx, t, api)
			ready = ready && c.isReady(ctx)
		}
		return ready
	})

	for _, c := range copies {
		if err := c.serves(trustedCA(t, api)); err != nil {
			t.Errorf("the API server wouldn't trust what is served: %v", err)
		}
		for who, want := range map[string]int{"nobody": http.StatusUnauthorized, "somebody": http.StatusForbidden, "prometheus": http.StatusOK} {
			if got := c.metrics(t, tokenOf(t, api, who)); got != want {
				t.Errorf("%s gets %d from the metrics, want %d", who, got, want)
			}
		}
		leadTo(t, api, c)
		liveAsATDSet(t, config, api, newNamespace(t, api), copies)
	}

	for _, c := range copies {
		if code := c.stop(t); code != 0 {
			t.Errorf("the manager ended with the exit code %d:\n%s", code, &c.log)
		}
	}
	var lease coordinationv1.Lease
	must(t, api.Get(t.Context(), client.ObjectKey{Namespace: installed, Name: "tdset-controller"}, &lease))
	if holder := ptr.Deref(lease.Spec.HolderIdentity, ""); holder != "" {
		t.Errorf("no copy runs any more, and %q holds the lease", holder)
	}
	compareVerbs(t, account)
}

// liveAsATDSet is a life with all that makes the manager ask for something.
func liveAsATDSet(t *testing.T, config *rest.Config, api client.Client, namespace string, copies []*managerCopy) {
	t.Helper()
	tdset := tdsetOf(namespace)
	eventually(t, "the webhook is called, and the TDSet is made", copies, func(ctx context.Context) bool { return api.Create(ctx, tdset) == nil })
	warnedOfFreeHours(t, config, namespace)
	key, deployment, service := client.ObjectKeyFromObject(tdset), &appsv1.Deployment{}, &corev1.Service{}
	eventually(t, "it has its Deployment and its Service", copies, func(ctx context.Context) bool {
		return api.Get(ctx, key, deployment) == nil && api.Get(ctx, key, service) == nil
	})
	beDeploymentController(t, api, deployment)
	eventually(t, "it is available, and its users are told", copies, func(ctx context.Context) bool {
		var events eventsv1.EventList
		must(t, api.Get(ctx, key, tdset))
		must(t, api.List(ctx, &events, client.InNamespace(namespace)))
		return meta.IsStatusConditionTrue(tdset.Status.Conditions, "Available") &&
			slices.ContainsFunc(events.Items, func(e eventsv1.Event) bool { return e.Regarding.UID == tdset.UID && e.Reason == "Scaled" })
	})
	must(t, api.Patch(t.Context(), tdset, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"service":null}}`))))
	eventually(t, "it has no Service", copies, func(ctx context.Context) bool { return apierrors.IsNotFound(api.Get(ctx, key, service)) })
	must(t, api.Delete(t.Context(), tdset))
	eventually(t, "its Deployment is drained", copies, func(ctx context.Context) bool {
		return api.Get(ctx, key, deployment) == nil && *deployment.Spec.Replicas == 0
	})
	beDeploymentController(t, api, deployment)
	eventually(t, "it is gone", copies, func(ctx context.Context) bool { return apierrors.IsNotFound(api.Get(ctx, key, tdset)) })
}

// warnedOfFreeHours fails the test if a user who makes a TDSet with hours in no window isn't
// warned: only a webhook can do that.
func warnedOfFreeHours(t *testing.T, config *rest.Config, namespace string) {
	t.Helper()
	said, config := &warnings{}, rest.CopyConfig(config)
	config.WarningHandler = said
	user, err := client.New(config, client.Options{Scheme: scheme})
	must(t, err)
	tdset := tdsetOf(namespace)
	tdset.Name, tdset.Spec.SchedulingConfig[0].EndTime = "warned", 23

	must(t, user.Create(t.Context(), tdset, client.DryRunAll))

	if len(said.texts) != 1 || !strings.Contains(said.texts[0], "no window includes the hours 23 to 24") {
		t.Errorf("its user is warned: %q, want one warning of the hour from 23 to 24", said.texts)
	}
}

// warnings are what the API server has warned of.
type warnings struct{ texts []string }

func (w *warnings) HandleWarningHeader(_ int, _, text string) { w.texts = append(w.texts, text) }

// beDeploymentController says that all that the Deployment asks for is there.
func beDeploymentController(t *testing.T, api client.Client, deployment *appsv1.Deployment) {
	t.Helper()
	replicas := *deployment.Spec.Replicas
	deployment.Status = appsv1.DeploymentStatus{
		ObservedGeneration: deployment.Generation, Replicas: replicas, UpdatedReplicas: replicas, ReadyReplicas: replicas, AvailableReplicas: replicas,
	}
	must(t, api.Status().Update(t.Context(), deployment))
}

// install applies what `make deploy` does. The webhooks are deleted when the test ends, because
// nobody could create a TDSet otherwise.
func install(t *testing.T, api client.Client) {
	t.Helper()
	for _, object := range buildDefault(t) {
		must(t, api.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("test"), client.ForceOwnership))
	}
	t.Cleanup(func() {
		ctx := context.Background()
		must(t, api.Delete(ctx, &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: validating}}))
		eventually(t, "the server asks no longer", nil, func(context.Context) bool { return api.Create(ctx, tdsetOf("default"), client.DryRunAll) == nil })
	})
}

// leadTo leads the API server to that copy: the Service becomes another name of this machine, and
// the port is the copy's. By what name the API server calls it, and whom it trusts, stays as it is.
func leadTo(t *testing.T, api client.Client, c *managerCopy) {
	t.Helper()
	_, port, err := net.SplitHostPort(c.webhooks)
	must(t, err)
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: installed, Name: webhookService}}
	must(t, api.Patch(t.Context(), service, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"type":"ExternalName","externalName":"localhost"}}`))))
	validate := &admissionv1.ValidatingWebhookConfiguration{}
	must(t, api.Get(t.Context(), client.ObjectKey{Name: validating}, validate))
	must(t, api.Patch(t.Context(), validate, toPort(port, len(validate.Webhooks))))
}

// toPort returns a patch that sets the port of all webhooks in a configuration, which has that
// many.
func toPort(port string, webhooks int) client.Patch {
	var operations []string
	for i := range webhooks {
		operations = append(operations, fmt.Sprintf(`{"op":"replace","path":"/webhooks/%d/clientConfig/service/port","value":%s}`, i, port))
	}
	return client.RawPatch(types.JSONPatchType, []byte("["+strings.Join(operations, ",")+"]"))
}

// kubeconfigOf returns the path of a kubeconfig that has only the rights of that ServiceAccount.
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

// trustedCA returns the CA that the API server trusts.
func trustedCA(t *testing.T, api client.Client) *x509.CertPool {
	t.Helper()
	var validate admissionv1.ValidatingWebhookConfiguration
	must(t, api.Get(t.Context(), client.ObjectKey{Name: validating}, &validate))
	bundle, pool := validate.Webhooks[0].ClientConfig.CABundle, x509.NewCertPool()
	if !pool.AppendCertsFromPEM(bundle) {
		t.Errorf("%s has no CA: %s", validating, base64.StdEncoding.EncodeToString(bundle))
	}
	return pool
}

// tokenOf returns a token of that ServiceAccount: none for nobody, and one that may read the
// metrics for prometheus.
func tokenOf(t *testing.T, api client.Client, who string) string {
	t.Helper()
	if who == "nobody" {
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
