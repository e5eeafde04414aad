// The manifests match the code and each other: names, ports, permissions, and what both forms look
// at. One test runs the program as in a cluster.

package main

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// service is the Service that the API server calls.
const service = "image-policy-webhook"

func TestNamesAreThoseInTheManifests(t *testing.T) {
	webhook, deployment := &admissionv1.ValidatingWebhookConfiguration{}, &appsv1.Deployment{}
	read(t, "webhook.yaml", "ValidatingWebhookConfiguration", configuration, webhook)
	read(t, "program.yaml", "Deployment", "image-policy", deployment)
	read(t, "program.yaml", "Service", service, &corev1.Service{})
	read(t, "config.yaml", "ConfigMap", policyKey.Name, &corev1.ConfigMap{})

	want := admissionv1.ServiceReference{Namespace: namespace, Name: service, Path: new(webhookPath)}
	if diff := cmp.Diff(&want, webhook.Webhooks[0].ClientConfig.Service); diff != "" {
		t.Errorf("webhook.yaml calls another Service (-want +got):\n%s", diff)
	}
	certificate := certificateIn(t)
	pod := deployment.Spec.Template.Spec
	if secret := pod.Volumes[0].Secret; secret == nil || secret.SecretName != certificate.Spec.SecretName {
		t.Errorf("the Pods mount %+v, want the Secret %s", pod.Volumes[0], certificate.Spec.SecretName)
	}
	if got, want := webhook.Annotations["cert-manager.io/inject-ca-from"], namespace+"/"+certificate.Name; got != want {
		t.Errorf("webhook.yaml gets the CA of the Certificate %q, want %q", got, want)
	}
	for _, file := range []string{"config.yaml", "program.yaml"} {
		objects, err := readObjects("manifests/" + file)
		must(t, err)
		for _, object := range objects {
			if in := object.GetNamespace(); in != "" && in != namespace {
				t.Errorf("%s: %s %s is in the namespace %s, want %s", file, object.GetKind(), object.GetName(), in, namespace)
			}
		}
	}
}

// Both forms look at the same requests, in namespaces with the same label, and leave out the same
// namespaces.
func TestBothFormsMatchTheSameRequests(t *testing.T) {
	configured := &admissionv1.ValidatingWebhookConfiguration{}
	policy, binding := &admissionv1.ValidatingAdmissionPolicy{}, &admissionv1.ValidatingAdmissionPolicyBinding{}
	read(t, "webhook.yaml", "ValidatingWebhookConfiguration", configuration, configured)
	read(t, "policy.yaml", "ValidatingAdmissionPolicy", "image-policy", policy)
	read(t, "policy.yaml", "ValidatingAdmissionPolicyBinding", "image-policy", binding)

	webhook := configured.Webhooks[0]
	if diff := cmp.Diff(webhook.Rules[0], policy.Spec.MatchConstraints.ResourceRules[0].RuleWithOperations); diff != "" {
		t.Errorf("requests (-webhook +policy):\n%s", diff)
	}
	for form, selector := range map[string]map[string]string{withWebhook: webhook.NamespaceSelector.MatchLabels, withPolicy: binding.Spec.MatchResources.NamespaceSelector.MatchLabels} {
		if diff := cmp.Diff(map[string]string{optIn: form}, selector); diff != "" {
			t.Errorf("the label for the %s (-want +got):\n%s", form, diff)
		}
	}
	if diff := cmp.Diff(webhook.NamespaceSelector.MatchExpressions, binding.Spec.MatchResources.NamespaceSelector.MatchExpressions); diff != "" {
		t.Errorf("namespaces that are left out (-webhook +policy):\n%s", diff)
	}
	if *webhook.FailurePolicy != *policy.Spec.FailurePolicy {
		t.Errorf("the failurePolicy of the webhook is %s, and of the policy %s, want the same", *webhook.FailurePolicy, *policy.Spec.FailurePolicy)
	}
}

// In a cluster, the program has only the permissions in program.yaml. There is no cert-manager
// here, so the test makes the certificate. It also makes the Service an alias of this machine.
func TestTheProgramInACluster(t *testing.T) {
	api := newAPIServer(t)
	opted := newNamespace(t, api, withWebhook)
	must(t, apply(t.Context(), api, "manifests/program.yaml"))
	certs := t.TempDir()
	certificate, err := writeCertificate(certs, certificateIn(t).Spec.DNSNames[0])
	must(t, err)
	port, err := freePort()
	must(t, err)
	probes, err := freePort()
	must(t, err)
	o := options{certDir: certs, port: port, probes: net.JoinHostPort(localhost, strconv.Itoa(probes))}
	ctx, stop := context.WithCancel(t.Context())
	mgr, err := newManager(ctx, asServiceAccount(testEnv.Config), o)
	must(t, err)
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	eventually(t, "the program is ready", func(ctx context.Context) bool { return isReady(ctx, o.probes) })

	installed, shipped := &admissionv1.ValidatingWebhookConfiguration{}, &admissionv1.ValidatingWebhookConfiguration{}
	must(t, api.Get(t.Context(), client.ObjectKey{Name: configuration}, installed))
	read(t, "webhook.yaml", "ValidatingWebhookConfiguration", configuration, shipped) // calls a Service
	shipped.Webhooks[0].ClientConfig.CABundle = certificate
	shipped.Webhooks[0].ClientConfig.Service.Port = new(int32(port))
	local := installed.Webhooks
	installed.Webhooks = shipped.Webhooks
	must(t, api.Update(t.Context(), installed))
	t.Cleanup(func() {
		ctx := context.Background()
		must(t, api.Get(ctx, client.ObjectKeyFromObject(installed), installed))
		installed.Webhooks = local
		must(t, api.Update(ctx, installed))
		eventually(t, "the API server calls the other tests' manager", func(ctx context.Context) bool {
			return tryCreate(ctx, api, opted, "docker.io/library/nginx") == nil
		})
	})
	must(t, api.Patch(t.Context(), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: service}},
		client.RawPatch(types.MergePatchType, []byte(`{"spec":{"type":"ExternalName","externalName":"localhost"}}`))))

	eventually(t, "the API server calls the program through its Service", func(ctx context.Context) bool {
		return apierrors.IsInvalid(tryCreate(ctx, api, opted, "nginx")) && tryCreate(ctx, api, opted, "docker.io/library/nginx") == nil
	})
}

// asServiceAccount returns a config with only the permissions of the program's ServiceAccount.
func asServiceAccount(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:" + namespace + ":image-policy",
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"},
	}
	return config
}

// certManagerCertificate has the fields of cert-manager's Certificate that the tests read.
type certManagerCertificate struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		SecretName string   `json:"secretName"`
		DNSNames   []string `json:"dnsNames"`
	} `json:"spec"`
}

// certificateIn returns the Certificate in program.yaml.
func certificateIn(t *testing.T) (certificate certManagerCertificate) {
	t.Helper()
	objects, err := readObjects("manifests/program.yaml")
	must(t, err)
	for _, object := range objects {
		if object.GetKind() == "Certificate" {
			must(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &certificate))
			return certificate
		}
	}
	t.Fatal("program.yaml has no Certificate")
	return certificate
}

// isReady reports whether the program's readiness probe succeeds.
func isReady(ctx context.Context, probes string) bool {
	request, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+probes+"/readyz", nil)
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	if err != nil {
		return false
	}
	response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// read reads one object in a file of manifests, strictly, so that a misspelled field is an error.
func read(t *testing.T, file, kind, name string, into client.Object) {
	t.Helper()
	objects, err := readObjects("manifests/" + file)
	must(t, err)
	for _, object := range objects {
		if object.GetKind() == kind && object.GetName() == name {
			text, err := yaml.Marshal(object)
			must(t, err)
			must(t, yaml.UnmarshalStrict(text, into))
			return
		}
	}
	t.Fatalf("%s has no %s %s", file, kind, name)
}
