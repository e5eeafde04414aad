// The suite: envtest, which is a real API server with its etcd and nothing else, with both forms of
// the image policy installed from manifests, and a manager that serves the webhook. A namespace's
// label chooses the form. The first test that needs them starts both, and TestMain stops them.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"example.com/operators/06-kubebuilder/test/utils"
)

// optIn is the label of a namespace that the policy applies to. Its value is the form.
const (
	optIn       = "operators.example.com/image-policy"
	withWebhook = "webhook"
	withPolicy  = "policy"
)

var forms = []string{withWebhook, withPolicy}

var (
	testEnv     *envtest.Environment // nil until a test needs it
	stopManager = func() error { return nil }
)

var startTestEnv = sync.OnceValue(func() error {
	assets, err := utils.EnvtestAssets("..")
	if err != nil {
		return err
	}
	testEnv = &envtest.Environment{BinaryAssetsDirectory: assets}
	if _, err := testEnv.Start(); err != nil {
		return err
	}
	api, err := client.New(testEnv.Config, client.Options{})
	if err != nil {
		return err
	}
	for _, file := range []string{"config.yaml", "webhook.yaml", "policy.yaml"} {
		if err := apply(context.Background(), api, "manifests/"+file); err != nil {
			return err
		}
	}
	return startManager()
})

// startManager runs the program as with --local. It returns once the webhook is served.
func startManager() error {
	dir, err := os.MkdirTemp("", "imagepolicy-")
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	stopManager = func() error {
		stop()
		return errors.Join(<-ended, os.RemoveAll(dir))
	}
	o := options{local: true, certDir: dir}
	if o.port, err = freePort(); err == nil {
		err = serveLocally(ctx, testEnv.Config, o)
	}
	var mgr ctrl.Manager
	if err == nil {
		mgr, err = newManager(ctx, testEnv.Config, o)
	}
	if err != nil {
		ended <- nil
		return err
	}
	go func() { ended <- mgr.Start(ctx) }()
	return poll(ctx, func(context.Context) bool { return mgr.GetWebhookServer().StartedChecker()(nil) == nil })
}

// TestMain fails the run if a goroutine is left behind.
func TestMain(m *testing.M) {
	ctrl.SetLogger(klog.Background())
	goleak.VerifyTestMain(andStop{m})
}

// andStop stops the shared manager and API server after the tests.
type andStop struct{ *testing.M }

func (tests andStop) Run() (code int) {
	code = tests.M.Run()
	err := stopManager()
	if testEnv != nil {
		err = errors.Join(err, testEnv.Stop())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "stop the manager and the API server:", err)
		return 1
	}
	return code
}

// newAPIServer returns a client of the API server, with both forms installed.
func newAPIServer(t testing.TB) client.Client {
	t.Helper()
	if testing.Short() {
		t.Skip("this needs a real API server, and -short is set")
	}
	must(t, startTestEnv())
	config := rest.CopyConfig(testEnv.Config)
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{} // about Pod security
	transport, err := rest.TransportFor(config)
	must(t, err)
	t.Cleanup(func() { utilnet.CloseIdleConnectionsFor(transport) })
	api, err := client.New(config, client.Options{})
	must(t, err)
	return api
}

// newNamespace returns a new namespace, in which old Deployments are stored before it opts in to the
// form, or never if form is "". It returns once the API server knows about the label.
func newNamespace(t testing.TB, api client.Client, form string, old ...*appsv1.Deployment) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	must(t, api.Create(t.Context(), namespace))
	for _, deployment := range old {
		deployment.Namespace = namespace.Name
		must(t, api.Create(t.Context(), deployment))
	}
	if form != "" {
		label(t, api, namespace, form)
		eventually(t, "the API server applies the rule", func(ctx context.Context) bool {
			return apierrors.IsInvalid(tryCreate(ctx, api, namespace.Name, "nginx"))
		})
	}
	return namespace.Name
}

// label makes the namespace opt in to the form.
func label(t testing.TB, api client.Client, namespace *corev1.Namespace, form string) {
	t.Helper()
	before := namespace.DeepCopy()
	metav1.SetMetaDataLabel(&namespace.ObjectMeta, optIn, form)
	must(t, api.Patch(t.Context(), namespace, client.MergeFrom(before)))
}

// tryCreate asks the API server whether it would create a Deployment with that image.
func tryCreate(ctx context.Context, api client.Client, namespace, image string) error {
	deployment := aDeployment("new", image)
	deployment.Namespace = namespace
	return api.Create(ctx, deployment, client.DryRunAll)
}

// apply applies all objects in a file, except those for cert-manager, whose CRDs aren't here.
func apply(ctx context.Context, api client.Client, file string) error {
	objects, err := readObjects(file)
	for _, object := range objects {
		if err == nil && object.GroupVersionKind().Group != "cert-manager.io" {
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

func freePort() (int, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(localhost, "0"))
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
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
	if err := poll(context.WithoutCancel(t.Context()), holds); err != nil {
		t.Fatalf("still not true after a minute: %s", what)
	}
}

func poll(ctx context.Context, holds func(context.Context) bool) error {
	return wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, time.Minute, true,
		func(ctx context.Context) (bool, error) { return holds(ctx), nil })
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
