// The program on a real API server, which calls its webhooks, and the answers as a table.

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

// TestMain fails the run if a goroutine is left behind.
func TestMain(m *testing.M) {
	ctrl.SetLogger(klog.Logger{}) // logs nothing
	goleak.VerifyTestMain(m)
}

func TestTheProgram(t *testing.T) {
	api := newAPIServer(t)
	for _, old := range (&registration{port: 1}).configurations() { // a killed run has left these behind
		must(t, api.Create(t.Context(), old))
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, freePort(t)) }()
	t.Cleanup(func() {
		stop()
		<-ended
	})

	first := aFoo("first", "")
	eventually(t, "a Foo gets the name of its Deployment", func(ctx context.Context) bool {
		err := api.Create(ctx, first, client.DryRunAll)
		return err == nil && first.Spec.DeploymentName == "first"
	})
	must(t, api.Create(t.Context(), aFoo("first", "")))
	var refusal error
	eventually(t, "a second Foo with that deploymentName is refused", func(ctx context.Context) bool {
		refusal = api.Create(ctx, aFoo("second", "first"), client.DryRunAll)
		return refusal != nil
	})
	const want = `admission webhook "vfoo-v1alpha1.example.com" denied the request: Foo.samplecontroller.k8s.io "second" is invalid: spec.deploymentName: Duplicate value: "first": Foo "first" asks for it already`
	if !apierrors.IsInvalid(refusal) || refusal.Error() != want {
		t.Errorf("got the error\n%v\nwant\n%s", refusal, want)
	}

	stop()
	if err := <-ended; err != nil {
		t.Errorf("got the error %v after a shutdown, want none", err)
	}
	close(ended)
	for _, configuration := range []client.Object{&admissionv1.MutatingWebhookConfiguration{}, &admissionv1.ValidatingWebhookConfiguration{}} {
		if err := api.Get(t.Context(), client.ObjectKey{Name: "foo-webhook"}, configuration); !apierrors.IsNotFound(err) {
			t.Errorf("after a shutdown, %T is still there (error: %v)", configuration, err)
		}
	}
	eventually(t, "without the program, a second Foo is accepted", func(ctx context.Context) bool {
		return api.Create(ctx, aFoo("second", "first"), client.DryRunAll) == nil
	})
}

func TestDefault(t *testing.T) {
	for sentence, test := range map[string]struct{ deploymentName, want string }{
		"no deploymentName": {"", "example"},
		"a deploymentName":  {"web", "web"},
	} {
		t.Run(sentence, func(t *testing.T) {
			foo := aFoo("example", test.deploymentName)
			must(t, FooDefaulter{}.Default(t.Context(), foo))
			if foo.Spec.DeploymentName != test.want {
				t.Errorf("the deploymentName is %q, want %q", foo.Spec.DeploymentName, test.want)
			}
		})
	}
}

// Each case validates the Foo example with the deploymentName web.
func TestValidateCreate(t *testing.T) {
	elsewhere := aFoo("other", "web")
	elsewhere.Namespace = "elsewhere"
	for sentence, test := range map[string]struct {
		stored client.Object
		broken error // of the list
		want   string
	}{
		"another Foo asks for another Deployment":      {stored: aFoo("other", "www")},
		"a Foo in another namespace has the same name": {stored: elsewhere},
		"another Foo asks for the same Deployment": {
			stored: aFoo("other", "web"),
			want:   `Foo.samplecontroller.k8s.io "example" is invalid: spec.deploymentName: Duplicate value: "web": Foo "other" asks for it already`,
		},
		"the list fails": {
			stored: aFoo("other", "www"), broken: errors.New("no answer"),
			want: `Internal error occurred: list the Foos that ask for Deployment "web": no answer`,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			server := fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(test.stored).
				WithIndex(&samplecontrollerv1alpha1.Foo{}, "spec.deploymentName", func(object client.Object) []string {
					return []string{object.(*samplecontrollerv1alpha1.Foo).Spec.DeploymentName}
				}).Build()
			validator := &FooValidator{APIReader: interceptor.NewClient(server, interceptor.Funcs{
				List: func(ctx context.Context, api client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
					return errors.Join(test.broken, api.List(ctx, list, options...))
				},
			})}

			_, err := validator.ValidateCreate(t.Context(), aFoo("example", "web"))

			if got := fmt.Sprint(err); got != test.want && (err != nil || test.want != "") {
				t.Errorf("got the error %v, want %q", err, test.want)
			}
		})
	}
}

// newAPIServer starts envtest, which is a real API server with its etcd and nothing else. KUBECONFIG
// names it, as for the program.
func newAPIServer(t *testing.T) client.Client {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a real API server, and this is a short run")
	}
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		assets = "../../.workshop/bin"
	}
	if _, err := os.Stat(filepath.Join(assets, "kube-apiserver")); err != nil {
		t.Fatalf("envtest needs kube-apiserver and etcd: %v. Run ./scripts/workshop up, or set KUBEBUILDER_ASSETS. With -short, this test is skipped", err)
	}
	environment := &envtest.Environment{
		BinaryAssetsDirectory: assets,
		CRDDirectoryPaths:     []string{"../manifests/crd.yaml"},
		ErrorIfCRDPathMissing: true,
	}
	t.Cleanup(func() { must(t, environment.Stop()) })
	config, err := environment.Start()
	must(t, err)
	transport, err := rest.TransportFor(config)
	must(t, err)
	t.Cleanup(func() { utilnet.CloseIdleConnectionsFor(transport) })
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	must(t, os.WriteFile(kubeconfig, environment.KubeConfig, 0o600))
	t.Setenv("KUBECONFIG", kubeconfig)
	api, err := client.New(config, client.Options{})
	must(t, err)
	return api
}

func aFoo(name, deploymentName string) *samplecontrollerv1alpha1.Foo {
	return &samplecontrollerv1alpha1.Foo{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       samplecontrollerv1alpha1.FooSpec{DeploymentName: deploymentName},
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	must(t, err)
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// eventually waits until a condition holds, and fails the test if that takes too long.
func eventually(t *testing.T, what string, holds func(context.Context) bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true,
		func(ctx context.Context) (bool, error) { return holds(ctx), nil })
	if err != nil {
		t.Fatalf("still not true after a minute: %s", what)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
