// The suite starts envtest: a real API server with its etcd and nothing else. No other controller
// runs, so no garbage is collected, no Deployment creates Pods, and no Deployment becomes available
// unless a spec says so.
//
// The kubebuilder CLI writes specs into this package, and registers new types at the markers.

package controller

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"go.uber.org/goleak"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
	"example.com/operators/06-kubebuilder/test/utils"
	// +kubebuilder:scaffold:imports
)

// The specs that the CLI writes use these names.
var (
	ctx       context.Context
	cancel    context.CancelFunc
	testEnv   *envtest.Environment
	cfg       *rest.Config
	k8sClient client.Client
)

func TestControllers(t *testing.T) {
	if testing.Short() {
		t.Skip("this needs a real API server, and -short is set")
	}
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(time.Minute) // a busy machine is slow
	RunSpecs(t, "Controller Suite")
}

// TestMain fails the run if a goroutine is left behind. The manager has to stop everything that it
// runs when its context ends.
func TestMain(m *testing.M) {
	ctrl.SetLogger(klog.Background())
	waitsForCtrlC := goleak.IgnoreTopFunction("github.com/onsi/ginkgo/v2/internal/interrupt_handler.(*InterruptHandler).registerForInterrupts.func2")
	goleak.VerifyTestMain(m, waitsForCtrlC)
}

var _ = BeforeSuite(func() {
	ctx, cancel = context.WithCancel(context.Background())

	var err error
	err = samplecontrollerv1alpha1.AddToScheme(scheme.Scheme)
	Expect(err).NotTo(HaveOccurred())

	// +kubebuilder:scaffold:scheme

	assets, err := utils.EnvtestAssets()
	Expect(err).NotTo(HaveOccurred())
	testEnv = &envtest.Environment{
		BinaryAssetsDirectory: assets,
		CRDDirectoryPaths:     []string{filepath.Join("..", "..", "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
	}
	cfg, err = testEnv.Start()
	Expect(err).NotTo(HaveOccurred())
	k8sClient, err = client.New(cfg, client.Options{Scheme: scheme.Scheme})
	Expect(err).NotTo(HaveOccurred())
})

var _ = AfterSuite(func() {
	cancel()
	Expect(testEnv.Stop()).To(Succeed())
})
