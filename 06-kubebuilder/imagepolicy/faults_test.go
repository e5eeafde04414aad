// What each form does without the label, in the namespaces that are left out, when the list of
// registries changes, and when the webhook's program hangs.

package main

import (
	"context"
	"net"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

func TestANamespaceWithoutTheLabel(t *testing.T) {
	namespace := newNamespace(t, "")

	must(t, tryCreate(t.Context(), namespace, "nginx"))
}

// The program's own namespace and kube-system are left out even if somebody labels them. Otherwise
// nobody could deploy the program again after it has gone down.
func TestTheClusterCanBeRepaired(t *testing.T) {
	for _, form := range forms {
		t.Run(form, func(t *testing.T) {
			for _, name := range []string{policyKey.Namespace, metav1.NamespaceSystem} {
				own := &corev1.Namespace{}
				must(t, api.Get(t.Context(), client.ObjectKey{Name: name}, own))
				label(t, own, form)
			}
			newNamespace(t, form) // by now the API server knows the earlier labels, too

			for _, name := range []string{policyKey.Namespace, metav1.NamespaceSystem} {
				if err := tryCreate(t.Context(), name, "nginx"); err != nil {
					t.Errorf("in the namespace %s: %v", name, err)
				}
			}
		})
	}
}

// A change of the list applies without a restart, and an empty list allows nothing.
func TestTheListChanges(t *testing.T) {
	for _, form := range forms {
		t.Run(form, func(t *testing.T) {
			namespace := newNamespace(t, form)
			t.Cleanup(func() { restoreList(t, namespace) })

			setList(t, `{"data":{"allowed":"quay.io/team/\n"}}`)
			eventually(t, "the new registry is allowed", func(ctx context.Context) bool {
				return tryCreate(ctx, namespace, "quay.io/team/web") == nil
			})
			if err := tryCreate(t.Context(), namespace, "docker.io/library/nginx"); !apierrors.IsInvalid(err) {
				t.Errorf("an image in a registry that is no longer allowed: got the error %v, want a refusal", err)
			}

			setList(t, `{"data":null}`)
			eventually(t, "nothing is allowed", func(ctx context.Context) bool {
				err := tryCreate(ctx, namespace, "quay.io/team/web")
				return apierrors.IsInvalid(err) && strings.Contains(err.Error(), `must come from one of []`)
			})
		})
	}
}

// While the program hangs, failurePolicy decides. With Fail, the webhook blocks new images only.
func TestTheProgramHangs(t *testing.T) {
	for failurePolicy, want := range map[admissionv1.FailurePolicyType]string{
		admissionv1.Fail:   "context deadline exceeded",
		admissionv1.Ignore: "",
	} {
		t.Run(string(failurePolicy), func(t *testing.T) {
			web := aDeployment("web", "quay.io/web")
			namespace := newNamespace(t, "", web)
			callInstead(t, namespace, hanging(t), failurePolicy)

			// In case the API server doesn't know the configuration yet, ask it again.
			eventually(t, "a new image gets the answer "+want, func(ctx context.Context) bool {
				err := tryCreate(ctx, namespace, "docker.io/library/nginx")
				return (err == nil) == (want == "") && (err == nil || strings.Contains(err.Error(), want))
			})
			label := client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"labels": {"team": "blue"}}}`))
			must(t, api.Patch(t.Context(), web, label))
			must(t, api.Delete(t.Context(), web))
		})
	}
}

// hanging returns the URL of a server that accepts connections and never answers.
func hanging(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", "0"))
	must(t, err)
	t.Cleanup(func() { listener.Close() })
	return "https://" + listener.Addr().String() + "/"
}

// callInstead installs the webhook configuration once more, with another URL, for this namespace.
// It returns once the API server knows about it.
func callInstead(t *testing.T, namespace, url string, failurePolicy admissionv1.FailurePolicyType) {
	t.Helper()
	objects, err := readObjects("manifests/webhook.yaml")
	must(t, err)
	text, err := yaml.Marshal(objects[0])
	must(t, err)
	other := &admissionv1.ValidatingWebhookConfiguration{}
	must(t, yaml.UnmarshalStrict(text, other))
	other.Name = namespace
	webhook := &other.Webhooks[0]
	webhook.NamespaceSelector.MatchLabels = map[string]string{optIn: namespace}
	webhook.ClientConfig = admissionv1.WebhookClientConfig{URL: &url}
	webhook.TimeoutSeconds = new(int32(1))

	// First with Fail, because a refusal shows that the API server knows the configuration.
	webhook.FailurePolicy = new(admissionv1.Fail)
	must(t, api.Create(t.Context(), other))
	t.Cleanup(func() { must(t, api.Delete(context.Background(), other)) })
	label(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, namespace)
	eventually(t, "the API server calls the URL", func(ctx context.Context) bool { return tryCreate(ctx, namespace, "nginx") != nil })
	other.Webhooks[0].FailurePolicy = &failurePolicy
	must(t, api.Update(t.Context(), other))
}

func setList(t *testing.T, patch string) {
	t.Helper()
	list := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: policyKey.Namespace, Name: policyKey.Name}}
	must(t, api.Patch(t.Context(), list, client.RawPatch(types.MergePatchType, []byte(patch))))
}

// restoreList applies the list again, and waits until both forms know it.
func restoreList(t *testing.T, namespace string) {
	t.Helper()
	must(t, apply(context.Background(), "manifests/config.yaml"))
	eventually(t, "the list is the old one", func(ctx context.Context) bool {
		return tryCreate(ctx, namespace, "docker.io/library/nginx") == nil
	})
}
