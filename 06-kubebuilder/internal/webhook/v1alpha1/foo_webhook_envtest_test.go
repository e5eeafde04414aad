// The webhooks as users see them: called by the API server, with the messages that kubectl prints.

package v1alpha1

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
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
	inTheCache(t, api, namespace, "web")
	const want = `is invalid: spec.deploymentName: Duplicate value: "web": Foo "first" asks for it already: choose another name, or delete that Foo`

	refused(t, api.Create(t.Context(), aNewFoo(namespace, "second", "web")),
		`admission webhook "vfoo-v1alpha1.kb.io" denied the request: Foo.samplecontroller.k8s.io "second" `+want)

	third := aNewFoo(namespace, "third", "www")
	must(t, api.Create(t.Context(), third))
	refused(t, rename(t, api, third, "web"), `Foo.samplecontroller.k8s.io "third" `+want)
}

// Two Foos that are created at the same time may both pass, because neither is in the cache. The
// controller reports the duplicate in the status, and every other change is still accepted.
func TestADuplicateThatPassedCanBeChanged(t *testing.T) {
	api, warned, namespace := newAPIServer(t)
	first, second := aNewFoo(namespace, "first", "web"), aNewFoo(namespace, "second", "www")
	must(t, api.Create(t.Context(), first))
	must(t, api.Create(t.Context(), second))
	inTheCache(t, api, namespace, "web")
	withoutValidation(t, api, func() {
		eventually(t, "the API server no longer calls the webhook", func(context.Context) bool { return rename(t, api, second, "web") == nil })
	})
	inTheCache(t, api, namespace, "web")
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

func TestAWarningAboutAForeignDeployment(t *testing.T) {
	api, warned, namespace := newAPIServer(t)
	labels := map[string]string{"app": "web"}
	web := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web"}}},
			},
		},
	}
	must(t, api.Create(t.Context(), web))

	eventually(t, "the Deployment is in the cache, and a Foo with its name gets a warning", func(ctx context.Context) bool {
		warned.since()
		must(t, api.Create(ctx, aNewFoo(namespace, "example", "web"), client.DryRunAll))
		return cmp.Equal(warned.since(), []string{foreignWeb})
	})
}

func TestAWarningAboutANewName(t *testing.T) {
	api, warned, namespace := newAPIServer(t)
	foo := aNewFoo(namespace, "example", "old")
	must(t, api.Create(t.Context(), foo))
	eventually(t, "the Foo has its Deployment", func(ctx context.Context) bool {
		return api.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "old"}, &appsv1.Deployment{}) == nil
	})
	eventually(t, "the Deployment is in the cache, and a new name gets a warning", func(ctx context.Context) bool {
		warned.since()
		must(t, api.Patch(ctx, foo.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"spec":{"deploymentName":"web"}}`)), client.DryRunAll))
		return cmp.Equal(warned.since(), []string{oldIsDeleted}, cmpopts.EquateEmpty())
	})
}

// aNewFoo returns a Foo as a user creates it.
func aNewFoo(namespace, name, deploymentName string) *samplecontrollerv1alpha1.Foo {
	return &samplecontrollerv1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: samplecontrollerv1alpha1.FooSpec{DeploymentName: deploymentName}}
}

func rename(t *testing.T, api client.Client, foo *samplecontrollerv1alpha1.Foo, deploymentName string) error {
	t.Helper()
	return api.Patch(t.Context(), foo.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"spec":{"deploymentName":"`+deploymentName+`"}}`)))
}

// inTheCache waits until the Foo with that deploymentName is in the webhooks' cache. Then another
// Foo with that deploymentName is refused.
func inTheCache(t *testing.T, api client.Client, namespace, deploymentName string) {
	t.Helper()
	eventually(t, "a second Foo is refused", func(ctx context.Context) bool {
		return api.Create(ctx, aNewFoo(namespace, "one-more", deploymentName), client.DryRunAll) != nil
	})
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
