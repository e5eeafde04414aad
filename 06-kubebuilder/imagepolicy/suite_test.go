// The suite: envtest, which is a real API server with its etcd and nothing else, with both forms of
// the image policy installed from manifests, and a manager that serves the webhook. A namespace's
// label chooses the form.

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"example.com/operators/06-kubebuilder/test/utils"
)

// optIn is the label of a namespace that the policy applies to. Its value is the form.
const (
	optIn       = "operators.example.com/image-policy"
	withWebhook = "webhook"
	withPolicy  = "policy"
)

var forms = []string{withWebhook, withPolicy}

// api is a client of the API server, with both forms installed.
var api client.Client

func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		fmt.Println("not run: these tests need a real API server, and -short is set")
		return
	}
	ctrl.SetLogger(klog.Logger{}) // discards the log
	code := 1
	err := withBothForms(func() { code = m.Run() })
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// withBothForms runs the tests while an API server and the webhook's program are running.
func withBothForms(run func()) (err error) {
	assets, err := utils.EnvtestAssets()
	if err != nil {
		return err
	}
	testEnv := &envtest.Environment{
		BinaryAssetsDirectory: assets,
		WebhookInstallOptions: envtest.WebhookInstallOptions{Paths: []string{"manifests/webhook.yaml"}},
	}
	config, err := testEnv.Start()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, testEnv.Stop()) }()
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{} // about Pod security
	if api, err = client.New(config, client.Options{}); err != nil {
		return err
	}
	for _, file := range []string{"config.yaml", "policy.yaml"} {
		if err := apply(context.Background(), "manifests/"+file); err != nil {
			return err
		}
	}
	installed := testEnv.WebhookInstallOptions
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	mgr, err := newManager(config, webhook.Options{
		Host: installed.LocalServingHost, Port: installed.LocalServingPort, CertDir: installed.LocalServingCertDir,
	}, "0")
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	run()
	stop()
	return <-ended
}

// newNamespace returns a new namespace, in which old Deployments are stored before it opts in to the
// form, or never for another form. It returns once the API server knows about the label.
func newNamespace(t testing.TB, form string, old ...*appsv1.Deployment) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	must(t, api.Create(t.Context(), namespace))
	for _, deployment := range old {
		deployment.Namespace = namespace.Name
		must(t, api.Create(t.Context(), deployment))
	}
	if form == withWebhook || form == withPolicy {
		label(t, namespace, form)
		eventually(t, "the API server applies the rule", func(ctx context.Context) bool {
			return apierrors.IsInvalid(tryCreate(ctx, namespace.Name, "nginx"))
		})
	}
	return namespace.Name
}

// label makes the namespace opt in to the form.
func label(t testing.TB, namespace *corev1.Namespace, form string) {
	t.Helper()
	before := namespace.DeepCopy()
	metav1.SetMetaDataLabel(&namespace.ObjectMeta, optIn, form)
	must(t, api.Patch(t.Context(), namespace, client.MergeFrom(before)))
}

// tryCreate asks the API server whether it would create a Deployment with that image.
func tryCreate(ctx context.Context, namespace, image string) error {
	deployment := aDeployment("new", image)
	deployment.Namespace = namespace
	return api.Create(ctx, deployment, client.DryRunAll)
}

// apply applies all objects in a file.
func apply(ctx context.Context, file string) error {
	objects, err := readObjects(file)
	for _, object := range objects {
		if err == nil {
			err = api.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("test"), client.ForceOwnership)
		}
	}
	return err
}

// readObjects returns the objects in a file of manifests.
func readObjects(file string) (objects []*unstructured.Unstructured, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	documents := utilyaml.NewYAMLOrJSONDecoder(strings.NewReader(string(text)), 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := documents.Decode(object); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		objects = append(objects, object)
	}
}

// aDeployment returns a Deployment with a container for each image.
func aDeployment(name string, images ...string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}},
		},
	}
	for i, image := range images {
		deployment.Spec.Template.Spec.Containers = append(deployment.Spec.Template.Spec.Containers, corev1.Container{Name: fmt.Sprint("c", i), Image: image})
	}
	return deployment
}

// withInit adds an init container for each image.
func withInit(deployment *appsv1.Deployment, images ...string) *appsv1.Deployment {
	for i, image := range images {
		deployment.Spec.Template.Spec.InitContainers = append(deployment.Spec.Template.Spec.InitContainers, corev1.Container{Name: fmt.Sprint("i", i), Image: image})
	}
	return deployment
}

// eventually waits until a condition holds, and fails the test if that takes too long.
func eventually(t testing.TB, what string, holds func(context.Context) bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(context.WithoutCancel(t.Context()), 20*time.Millisecond, time.Minute, true,
		func(ctx context.Context) (bool, error) { return holds(ctx), nil })
	if err != nil {
		t.Fatalf("still not true after a minute: %s", what)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
