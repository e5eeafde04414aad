// The suite: envtest, which is a real API server with its etcd and nothing else. No other
// controller runs, so no garbage is collected, no Deployment creates Pods, and no Deployment
// becomes available unless a test says so. Ginkgo or the first plain test that needs envtest starts
// it, once, and TestMain stops it. Tests that need no server use a fake client: see
// cluster_test.go.
//
// The kubebuilder CLI writes Ginkgo specs into this package, and registers new types at the
// markers.

package controller

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"go.uber.org/goleak"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
	"example.com/operators/07-tdset-operator/test/utils"
	// +kubebuilder:scaffold:imports
)

// The CLI's specs use these names. startTestEnv sets the last three, and BeforeSuite the others.
var (
	ctx       context.Context
	cancel    context.CancelFunc
	testEnv   *envtest.Environment // nil until a test needs it
	cfg       *rest.Config
	k8sClient client.Client
)

// TestControllers runs the Ginkgo specs of this package.
func TestControllers(t *testing.T) {
	if testing.Short() {
		t.Skip("this needs a real API server, and -short is set")
	}
	RegisterFailHandler(Fail)
	RunSpecs(t, "Controller Suite")
}

var _ = BeforeSuite(func() {
	ctx, cancel = context.WithCancel(context.Background())
	Expect(startTestEnv()).To(Succeed())
})

var _ = AfterSuite(func() {
	cancel()
})

var _ = Describe("TDSet Controller", func() {
	It("has nothing to do for a TDSet that is gone", func() {
		reconciler := &TDSetReconciler{Client: k8sClient}
		gone := ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "default", Name: "gone"}}
		Expect(reconciler.Reconcile(ctx, gone)).To(Equal(ctrl.Result{}))
	})
})

var startTestEnv = sync.OnceValue(func() error {
	assets, err := utils.EnvtestAssets()
	if err != nil {
		return err
	}
	testEnv = &envtest.Environment{
		BinaryAssetsDirectory: assets,
		CRDDirectoryPaths:     []string{filepath.Join("..", "..", "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
	}
	if cfg, err = testEnv.Start(); err != nil {
		return err
	}
	k8sClient, err = client.New(cfg, client.Options{Scheme: scheme.Scheme})
	return err
})

// ginkgosOwn ignores a goroutine that Ginkgo leaves behind. It waits for Ctrl-C.
var ginkgosOwn = goleak.IgnoreTopFunction("github.com/onsi/ginkgo/v2/internal/interrupt_handler.(*InterruptHandler).registerForInterrupts.func2")

// TestMain fails the run if a goroutine is left behind. The manager has to stop everything that it
// runs when its context ends.
func TestMain(m *testing.M) {
	// Plain tests need the types too, so they are added here, and not in BeforeSuite.
	// TestControllers sets Ginkgo's handler of failures.
	RegisterFailHandler(func(message string, _ ...int) { panic(message) })
	//lint:ignore S1021 the kubebuilder CLI looks for the assignment below
	var err error
	err = schedulev2.AddToScheme(scheme.Scheme)
	Expect(err).NotTo(HaveOccurred())

	// +kubebuilder:scaffold:scheme

	ctrl.SetLogger(klog.Background()) // as main does
	// For a watch of metadata, controller-runtime 0.25.2 filters the events. If the filter has an
	// event just when the watch is stopped, it waits forever for a receiver (apimachinery 0.37.2,
	// watch/filter.go).
	goleak.VerifyTestMain(andStop{m}, goleak.IgnoreTopFunction("k8s.io/apimachinery/pkg/watch.(*filteredWatch).loop"), ginkgosOwn)
}

// andStop stops the shared API server after the tests, before goroutines are counted.
type andStop struct{ *testing.M }

func (tests andStop) Run() (code int) {
	code = tests.M.Run()
	if testEnv == nil {
		return code
	}
	if err := testEnv.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stop the API server:", err)
		return 1
	}
	return code
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
