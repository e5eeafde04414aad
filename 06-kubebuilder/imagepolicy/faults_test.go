// What each form does when something is missing or down: the list of registries, the webhook's
// program, or the label. Where the two forms differ, the tests say so.

package main

import (
	"context"
	"net"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

func TestANamespaceWithoutTheLabel(t *testing.T) {
	api := newAPIServer(t)
	namespace := newNamespace(t, api, "")

	must(t, tryCreate(t.Context(), api, namespace, "nginx"))
}

// The program's own namespace and kube-system are left out even if somebody labels them. Otherwise
// nobody could deploy the program again after it has gone down.
func TestTheClusterCanBeRepaired(t *testing.T) {
	for _, form := range forms {
		t.Run(form, func(t *testing.T) {
			api := newAPIServer(t)
			for _, name := range []string{namespace, metav1.NamespaceSystem} {
				own := &corev1.Namespace{}
				must(t, api.Get(t.Context(), client.ObjectKey{Name: name}, own))
				label(t, api, own, form)
			}
			newNamespace(t, api, form) // by now the API server knows the earlier labels, too

			for _, name := range []string{namespace, metav1.NamespaceSystem} {
				if err := tryCreate(t.Context(), api, name, "nginx"); err != nil {
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
			api := newAPIServer(t)
			namespace := newNamespace(t, api, form)
			t.Cleanup(func() { restoreList(t, api, namespace) })

			setList(t, api, `{"data":{"allowed":"quay.io/team/\n"}}`)
			eventually(t, "the new registry is allowed", func(ctx context.Context) bool {
				return tryCreate(ctx, api, namespace, "quay.io/team/web") == nil
			})
			if err := tryCreate(t.Context(), api, namespace, "docker.io/library/nginx"); !apierrors.IsInvalid(err) {
				t.Errorf("an image in a registry that is no longer allowed: got the error %v, want a refusal", err)
			}

			setList(t, api, `{"data":null}`)
			eventually(t, "nothing is allowed", func(ctx context.Context) bool {
				err := tryCreate(ctx, api, namespace, "quay.io/team/web")
				return apierrors.IsInvalid(err) && strings.Contains(err.Error(), `must come from one of []`)
			})
		})
	}
}

// Without the ConfigMap, both forms refuse new images. But the policy refuses every update, because
// the API server looks for the parameters before it evaluates anything. The webhook isn't even
// called for an update that changes no image.
func TestTheListIsMissing(t *testing.T) {
	for form, test := range map[string]struct{ wantRefusal, wantOfLabel string }{
		withWebhook: {wantRefusal: `read the allowed registries: ConfigMap "image-policy" not found`},
		withPolicy: {
			wantRefusal: "no params found for policy binding with `Deny` parameterNotFoundAction",
			wantOfLabel: "no params found for policy binding with `Deny` parameterNotFoundAction",
		},
	} {
		t.Run(form, func(t *testing.T) {
			api := newAPIServer(t)
			web := aDeployment("web", "quay.io/web")
			namespace := newNamespace(t, api, form, web)
			t.Cleanup(func() { restoreList(t, api, namespace) })

			must(t, api.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: policyKey.Namespace, Name: policyKey.Name}}))

			eventually(t, "a new image is refused", func(ctx context.Context) bool {
				err := tryCreate(ctx, api, namespace, "docker.io/library/nginx")
				return err != nil && strings.Contains(err.Error(), test.wantRefusal)
			})
			contains(t, "a label", setLabel(t, api, web), test.wantOfLabel)
			contains(t, "a scale", scale(t, api, web), "")
			contains(t, "a deletion", api.Delete(t.Context(), web), "")
		})
	}
}

// While the program is down, failurePolicy decides. With Fail, the webhook blocks new images only.
func TestTheProgramIsDown(t *testing.T) {
	for sentence, test := range map[string]struct {
		url           func(*testing.T) string
		failurePolicy admissionv1.FailurePolicyType
		want          string // in the error; "": none
	}{
		"nobody listens, Fail": {
			url: nobody, failurePolicy: admissionv1.Fail,
			want: `failed calling webhook "vdeployment-v1.image-policy.example.com": failed to call webhook: Post "https://127.0.0.1:1/?timeout=1s": dial tcp 127.0.0.1:1: connect: connection refused`,
		},
		"nobody listens, Ignore": {url: nobody, failurePolicy: admissionv1.Ignore},
		"it hangs, Fail":         {url: hanging, failurePolicy: admissionv1.Fail, want: "context deadline exceeded"},
		"it hangs, Ignore":       {url: hanging, failurePolicy: admissionv1.Ignore},
	} {
		t.Run(sentence, func(t *testing.T) {
			api := newAPIServer(t)
			web := aDeployment("web", "quay.io/web")
			namespace := newNamespace(t, api, "", web)
			callInstead(t, api, namespace, test.url(t), test.failurePolicy)

			// In case the API server doesn't know the configuration yet, ask it again.
			eventually(t, "a new image gets the answer "+test.want, func(ctx context.Context) bool {
				err := tryCreate(ctx, api, namespace, "docker.io/library/nginx")
				return (err == nil) == (test.want == "") && (err == nil || strings.Contains(err.Error(), test.want))
			})
			contains(t, "an image in another registry", setImage(t, api, web, "quay.io/other"), test.want)
			contains(t, "a label", setLabel(t, api, web), "")
			contains(t, "a scale", scale(t, api, web), "")
			contains(t, "the removal of a finalizer", setFinalizer(t, api, web), "")
			contains(t, "a deletion", api.Delete(t.Context(), web), "")
			contains(t, "in the program's own namespace, which has the label too", tryCreate(t.Context(), api, policyKey.Namespace, "nginx"), "")
		})
	}
}

func nobody(*testing.T) string { return "https://127.0.0.1:1/" }

// hanging returns the URL of a server that accepts connections and never answers.
func hanging(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(localhost, "0"))
	must(t, err)
	t.Cleanup(func() { listener.Close() })
	return "https://" + listener.Addr().String() + "/"
}

// callInstead installs the webhook configuration once more, with another URL, for this namespace and
// the program's own. It returns once the API server knows about it.
func callInstead(t *testing.T, api client.Client, namespace, url string, failurePolicy admissionv1.FailurePolicyType) {
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
	for _, name := range []string{policyKey.Namespace, namespace} {
		optsIn := &corev1.Namespace{}
		must(t, api.Get(t.Context(), client.ObjectKey{Name: name}, optsIn))
		label(t, api, optsIn, namespace)
	}
	eventually(t, "the API server calls the URL", func(ctx context.Context) bool { return tryCreate(ctx, api, namespace, "nginx") != nil })
	other.Webhooks[0].FailurePolicy = &failurePolicy
	must(t, api.Update(t.Context(), other))
}

func setList(t *testing.T, api client.Client, patch string) {
	t.Helper()
	list := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: policyKey.Namespace, Name: policyKey.Name}}
	must(t, api.Patch(t.Context(), list, client.RawPatch(types.MergePatchType, []byte(patch))))
}

// restoreList applies the list again, and waits until both forms know it.
func restoreList(t *testing.T, api client.Client, namespace string) {
	t.Helper()
	must(t, apply(context.Background(), api, "manifests/config.yaml"))
	eventually(t, "the list is the old one", func(ctx context.Context) bool {
		return tryCreate(ctx, api, namespace, "docker.io/library/nginx") == nil
	})
}

func setImage(t *testing.T, api client.Client, deployment *appsv1.Deployment, image string) error {
	t.Helper()
	changed := deployment.DeepCopy()
	changed.Spec.Template.Spec.Containers[0].Image = image
	return api.Patch(t.Context(), changed, client.MergeFrom(deployment))
}

func setLabel(t *testing.T, api client.Client, deployment *appsv1.Deployment) error {
	t.Helper()
	return api.Patch(t.Context(), deployment.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"team":"blue"}}}`)))
}

// setFinalizer adds a finalizer and removes it, as the garbage collector does.
func setFinalizer(t *testing.T, api client.Client, deployment *appsv1.Deployment) (err error) {
	t.Helper()
	for _, patch := range []string{`{"metadata":{"finalizers":["example.com/held"]}}`, `{"metadata":{"finalizers":null}}`} {
		if err == nil {
			err = api.Patch(t.Context(), deployment.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(patch)))
		}
	}
	return err
}

func scale(t *testing.T, api client.Client, deployment *appsv1.Deployment) error {
	t.Helper()
	return api.SubResource("scale").Update(t.Context(), deployment.DeepCopy(), client.WithSubResourceBody(&autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Namespace: deployment.Namespace, Name: deployment.Name}, Spec: autoscalingv1.ScaleSpec{Replicas: 2},
	}))
}

// contains checks that an error says want. "" means that there is none.
func contains(t *testing.T, what string, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("%s: got the error %v, want %q", what, err, want)
	}
}
