// The suite starts envtest, which is a real API server with its etcd and nothing else, and a manager
// that serves the webhooks. envtest applies config/webhook with two changes: the API server calls a
// URL on this machine, and trusts the certificate that envtest has made.
//
// The kubebuilder CLI writes specs into this package, and registers new types and webhooks at the
// markers.

package v1alpha1

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
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

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

	stopped = make(chan error) // by the manager
)

func TestAPIs(t *testing.T) {
	if testing.Short() {
		t.Skip("this needs a real API server, and -short is set")
	}
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(time.Minute) // a busy machine is slow
	RunSpecs(t, "Webhook Suite")
}

// TestMain fails the run if a goroutine is left behind.
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
		CRDDirectoryPaths:     []string{filepath.Join("..", "..", "..", "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
		WebhookInstallOptions: envtest.WebhookInstallOptions{
			Paths: []string{filepath.Join("..", "..", "..", "config", "webhook", "manifests.yaml")},
		},
	}
	cfg, err = testEnv.Start()
	Expect(err).NotTo(HaveOccurred())
	k8sClient, err = client.New(cfg, client.Options{Scheme: scheme.Scheme})
	Expect(err).NotTo(HaveOccurred())

	where := testEnv.WebhookInstallOptions
	server := webhook.NewServer(webhook.Options{
		Host:    where.LocalServingHost,
		Port:    where.LocalServingPort,
		CertDir: where.LocalServingCertDir,
	})
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme:        scheme.Scheme,
		Cache:         cache.Options{ReaderFailOnMissingInformer: true},
		Metrics:       metricsserver.Options{BindAddress: "0"},
		WebhookServer: server,
	})
	Expect(err).NotTo(HaveOccurred())
	err = SetupFooWebhookWithManager(mgr)
	Expect(err).NotTo(HaveOccurred())

	// +kubebuilder:scaffold:webhook

	go func() { stopped <- mgr.Start(ctx) }()
	Eventually(func() error { return server.StartedChecker()(nil) }).Should(Succeed())
})

var _ = AfterSuite(func() {
	cancel()
	Expect(<-stopped).To(Succeed())
	Expect(testEnv.Stop()).To(Succeed())
})
