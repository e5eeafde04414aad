// Package testenv gives tests a real API server: envtest's, with the chapter's CRD. No controller
// runs there, so nothing deletes orphans or creates Pods, and no Deployment becomes available
// unless the test makes it so.
package testenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/onsi/gomega"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

// server is started by the first test that needs it. All tests of a package share it.
var server = &envtest.Environment{
	ErrorIfCRDPathMissing:    true,
	ControlPlaneStartTimeout: time.Minute, // a busy machine is slow
}

var startServer = sync.OnceValue(func() error {
	if _, err := server.Start(); err != nil {
		return fmt.Errorf("envtest: %w. It needs the programs kube-apiserver and etcd: set "+
			"KUBEBUILDER_ASSETS to their folder. With -short, these tests are skipped", err)
	}
	return nil
})

// Main runs the tests of a package. chapter is the path of the chapter's folder. A stopped manager
// must have stopped everything that it started, so a goroutine that is left fails the run.
func Main(m *testing.M, chapter string) {
	server.CRDDirectoryPaths = []string{filepath.Join(chapter, "manifests", "crd.yaml")}
	utilruntime.Must(samplecontrollerv1alpha1.Install(scheme.Scheme))
	ctrl.SetLogger(logr.Discard())
	gomega.SetDefaultEventuallyTimeout(time.Minute)
	code := m.Run()
	// This is a leak of controller-runtime's: when a watch of metadata is cut while it has an event,
	// nobody takes that event from the filter which sets its kind.
	leaked := goleak.IgnoreTopFunction("k8s.io/apimachinery/pkg/watch.(*filteredWatch).loop")
	if err := errors.Join(server.Stop(), goleak.Find(leaked)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// Cluster is the API server with a namespace of the test's own.
type Cluster struct {
	client.WithWatch // reads from the server, not from a cache
	Namespace        string
	Config           *rest.Config // for managers
	Server           *envtest.Environment
}

// New returns a Cluster. The first call starts the API server.
func New(t *testing.T) Cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a real API server, and this is a short run")
	}
	Must(t, startServer())
	api, err := client.NewWithWatch(server.Config, client.Options{})
	Must(t, err)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	Must(t, api.Create(t.Context(), namespace))
	return Cluster{WithWatch: api, Namespace: namespace.Name, Config: server.Config, Server: server}
}

// Meta returns the metadata of an object in the cluster's namespace.
func (c Cluster) Meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: c.Namespace, Name: name}
}

// NewManager returns a manager for the cluster's namespace, which doesn't run yet.
func (c Cluster) NewManager(t *testing.T, changes ...func(*ctrl.Options)) ctrl.Manager {
	t.Helper()
	var options ctrl.Options
	options.Cache.DefaultNamespaces = map[string]cache.Config{c.Namespace: {}}
	options.Metrics.BindAddress = "0"
	options.Controller.SkipNameValidation = new(true) // each test has a controller "foo"
	for _, change := range changes {
		change(&options)
	}
	mgr, err := ctrl.NewManager(c.Config, options)
	Must(t, err)
	return mgr
}

// Start runs mgr until the test ends. It returns when the caches are filled and the controllers
// run. The function that it returns stops mgr earlier.
func Start(t *testing.T, mgr ctrl.Manager) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- mgr.Start(ctx) }()
	stopped := sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	stop = func() {
		t.Helper()
		Must(t, stopped())
	}
	t.Cleanup(stop)
	<-mgr.Elected()
	return stop
}

// Must fails the test if there is an error.
func Must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
