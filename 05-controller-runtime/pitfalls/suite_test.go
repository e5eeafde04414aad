// This folder shows what costs people days with controller-runtime. Each of the other files is
// about one pitfall: what you might expect, what happens instead, and what to do. The wrong code is
// next to the right code, and both run. Most tests use envtest, which starts a real kube-apiserver
// and etcd, but no controllers.

package pitfalls

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/goleak"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

var server = &envtest.Environment{
	CRDDirectoryPaths:     []string{"../manifests/crd.yaml"},
	ErrorIfCRDPathMissing: true,
}

// startServer is called by the first test that needs the API server. All tests share it.
var startServer = sync.OnceValue(func() error {
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		assets = "../../.workshop/bin"
	}
	if _, err := os.Stat(filepath.Join(assets, "kube-apiserver")); err != nil {
		return fmt.Errorf("envtest needs kube-apiserver and etcd: %w. Run ./scripts/workshop up, "+
			"or set KUBEBUILDER_ASSETS. With -short, these tests are skipped", err)
	}
	server.BinaryAssetsDirectory = assets
	_, err := server.Start()
	return err
})

func TestMain(m *testing.M) {
	ctrl.SetLogger(klog.Logger{}) // logs nothing
	utilruntime.Must(samplecontrollerv1alpha1.Install(scheme.Scheme))
	code := m.Run()
	// A stopped manager must have stopped everything that it started, so no goroutine is left. The
	// exception is a leak of controller-runtime's: when a watch of metadata is cut while it has an
	// event, nobody takes that event from the filter which sets its kind.
	leaked := goleak.IgnoreTopFunction("k8s.io/apimachinery/pkg/watch.(*filteredWatch).loop")
	if err := errors.Join(server.Stop(), goleak.Find(leaked)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// cluster is the API server with a namespace of the test's own.
type cluster struct {
	client.Client // reads from the server, not from a cache
	config        *rest.Config
	namespace     string
}

func newCluster(t *testing.T) cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a real API server, and this is a short run")
	}
	must(t, startServer())
	api, err := client.New(server.Config, client.Options{})
	must(t, err)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	must(t, api.Create(t.Context(), namespace))
	return cluster{Client: api, config: server.Config, namespace: namespace.Name}
}

// newManager returns a manager that caches the cluster's namespace. It isn't running yet.
func (c cluster) newManager(t *testing.T, changes ...func(*ctrl.Options)) ctrl.Manager {
	t.Helper()
	options := ctrl.Options{
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{c.namespace: {}}},
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: ctrlconfig.Controller{SkipNameValidation: new(true)}, // each test has a "foo"
	}
	for _, change := range changes {
		change(&options)
	}
	mgr, err := ctrl.NewManager(c.config, options)
	must(t, err)
	return mgr
}

// start runs mgr until the test ends.
func start(t *testing.T, mgr ctrl.Manager) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		must(t, <-ended)
	})
	<-mgr.Elected() // closed when the caches are filled and the controllers start
}

func (c cluster) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: c.namespace, Name: name}
}

func (c cluster) foo(name string) *samplecontrollerv1alpha1.Foo {
	return &samplecontrollerv1alpha1.Foo{ObjectMeta: c.meta(name), Spec: samplecontrollerv1alpha1.FooSpec{DeploymentName: name}}
}

// deploymentSpec sets only what a Deployment must have.
func deploymentSpec() appsv1.DeploymentSpec {
	labels := map[string]string{"app": "web"}
	return appsv1.DeploymentSpec{
		Replicas: new(int32(2)),
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: corev1.PodSpec{
				Containers: []corev1.Container{{Name: "web", Image: "nginx"}},
			},
		},
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
