// The webhooks as users see them: called by the API server, with the messages that kubectl prints.

package v1alpha1

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
)

func TestDefaultDeploymentName(t *testing.T) {
	api, _, namespace := newAPIServer(t)
	foo := aNewFoo(namespace, "example", "")

	must(t, api.Create(t.Context(), foo))

	if foo.Spec.DeploymentName != "example" {
		t.Errorf("the Deployment's name is %q, want the Foo's", foo.Spec.DeploymentName)
	}
}

func TestGenerateNameNeedsADeploymentName(t *testing.T) {
	api, _, namespace := newAPIServer(t)
	foo := aNewFoo(namespace, "", "")
	foo.GenerateName = "example-"

	refused(t, api.Create(t.Context(), foo), `spec.deploymentName: Invalid value: ""`)
}

func TestADuplicateDeploymentNameIsRefused(t *testing.T) {
	api, _, namespace := newAPIServer(t)
	must(t, api.Create(t.Context(), aNewFoo(namespace, "first", "web")))
	const want = `is invalid: spec.deploymentName: Duplicate value: "web": Foo "first" asks for it already: choose another name, or delete that Foo`

	refused(t, api.Create(t.Context(), aNewFoo(namespace, "second", "web")),
		`admission webhook "vfoo-v1alpha1.kb.io" denied the request: Foo.samplecontroller.k8s.io "second" `+want)

	third := aNewFoo(namespace, "third", "www")
	must(t, api.Create(t.Context(), third))
	refused(t, rename(t, api, third, "web"), `Foo.samplecontroller.k8s.io "third" `+want)
}

// Two Foos that are created at the same time may both pass, because neither is stored yet. Every
// other change of such a Foo is still accepted.
func TestADuplicateThatPassedCanBeChanged(t *testing.T) {
	api, warned, namespace := newAPIServer(t)
	first, second := aNewFoo(namespace, "first", "web"), aNewFoo(namespace, "second", "www")
	must(t, api.Create(t.Context(), first))
	must(t, api.Create(t.Context(), second))
	withoutValidation(t, api, func() {
		eventually(t, "the API server no longer calls the webhook", func(context.Context) bool { return rename(t, api, second, "web") == nil })
	})
	eventually(t, "the API server calls the webhook again", func(ctx context.Context) bool {
		return api.Create(ctx, aNewFoo(namespace, "one-more", "web"), client.DryRunAll) != nil
	})
	warned.since()

	for change, patch := range map[string]string{
		"a label":     `{"metadata":{"labels":{"team":"blue"}}}`,
		"a finalizer": `{"metadata":{"finalizers":["example.com/held"]}}`,
		"replicas":    `{"spec":{"replicas":3}}`,
	} {
		if err := api.Patch(t.Context(), second, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
			t.Errorf("%s: %v", change, err)
		}
	}
	must(t, api.Delete(t.Context(), second))
	must(t, api.Patch(t.Context(), second, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))))
	if got := warned.since(); len(got) > 0 {
		t.Errorf("got the warnings %q, want none", got)
	}
}

func TestWarnings(t *testing.T) {
	api, warned, namespace := newAPIServer(t)
	foo := aNewFoo(namespace, "example", "old")
	must(t, api.Create(t.Context(), foo))
	must(t, api.Create(t.Context(), aNewDeployment(namespace, "old", of(foo))))
	must(t, api.Create(t.Context(), aNewDeployment(namespace, "web")))

	must(t, rename(t, api, foo, "web"))

	if diff := cmp.Diff([]string{foreignWeb, oldIsDeleted}, warned.since()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

// aNewDeployment returns a Deployment as a user or a controller creates it.
func aNewDeployment(namespace, name string, changes ...func(*appsv1.Deployment)) *appsv1.Deployment {
	deployment := aDeployment(name, changes...)
	deployment.Namespace = namespace
	labels := map[string]string{"app": "web"}
	deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	deployment.Spec.Template.Labels = labels
	deployment.Spec.Template.Spec.Containers = []corev1.Container{{Name: "web", Image: "web"}}
	return deployment
}

// aNewFoo returns a Foo as a user creates it.
func aNewFoo(namespace, name, deploymentName string) *samplecontrollerv1alpha1.Foo {
	return &samplecontrollerv1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: samplecontrollerv1alpha1.FooSpec{DeploymentName: deploymentName}}
}

func rename(t *testing.T, api client.Client, foo *samplecontrollerv1alpha1.Foo, deploymentName string) error {
	t.Helper()
	return api.Patch(t.Context(), foo.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"spec":{"deploymentName":"`+deploymentName+`"}}`)))
}

// withoutValidation calls do while there is no validating webhook.
func withoutValidation(t *testing.T, api client.Client, do func()) {
	t.Helper()
	configuration := &admissionv1.ValidatingWebhookConfiguration{}
	must(t, api.Get(t.Context(), client.ObjectKey{Name: "validating-webhook-configuration"}, configuration))
	must(t, api.Delete(t.Context(), configuration))
	do()
	configuration.ResourceVersion, configuration.UID = "", ""
	must(t, api.Create(t.Context(), configuration))
}

func refused(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got the error\n%v\nwant one that contains\n%s", err, want)
	}
}

// eventually waits until a condition holds, and fails the test if that takes too long.
func eventually(t *testing.T, what string, holds func(context.Context) bool) {
	t.Helper()
	if err := poll(t.Context(), holds); err != nil {
		t.Fatalf("still not true after a minute: %s", what)
	}
}

// untilServed waits until the server answers.
func untilServed(ctx context.Context, server webhook.Server) error {
	return poll(ctx, func(context.Context) bool { return server.StartedChecker()(nil) == nil })
}

func poll(ctx context.Context, holds func(context.Context) bool) error {
	return wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, time.Minute, true,
		func(ctx context.Context) (bool, error) { return holds(ctx), nil })
}
