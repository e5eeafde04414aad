// The suite: envtest, which is a real API server with its etcd and nothing else, and a manager that
// serves the webhook. envtest applies config/webhook with two changes: the API server calls a URL
// on this machine, and trusts the certificate that envtest has made. Ginkgo or the first plain test
// that needs them starts both, once, and TestMain stops them.
//
// The kubebuilder CLI writes Ginkgo specs into this package, and registers new types and webhooks
// at the markers.

package v2

import (
	"context"
	"crypto/tls"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
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

// stopManager is nil if no manager runs.
var stopManager func() error

// TestAPIs runs the Ginkgo specs of this package.
func TestAPIs(t *testing.T) {
	if testing.Short() {
		t.Skip("this needs a real API server, and -short is set")
	}
	RegisterFailHandler(Fail)
	RunSpecs(t, "Webhook Suite")
}

var _ = BeforeSuite(func() {
	ctx, cancel = context.WithCancel(context.Background())
	Expect(startTestEnv()).To(Succeed())
})

var _ = AfterSuite(func() { cancel() })

var _ = Describe("TDSet Webhook", func() {
	It("refuses two windows with the same name", func() {
		tdset := aTDSet(in("default"), windows(aWindow(9, 17), aWindow(9, 17)))
		Expect(k8sClient.Create(ctx, tdset, client.DryRunAll)).To(MatchError(ContainSubstring("two windows have the same name")))
	})
})

var startTestEnv = sync.OnceValue(func() error {
	assets, err := utils.EnvtestAssets()
	if err != nil {
		return err
	}
	testEnv = &envtest.Environment{
		BinaryAssetsDirectory: assets,
		CRDDirectoryPaths:     []string{filepath.Join("..", "..", "..", "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
		WebhookInstallOptions: envtest.WebhookInstallOptions{
			Paths: []string{filepath.Join("..", "..", "..", "config", "webhook", "manifests.yaml")},
		},
	}
	if cfg, err = testEnv.Start(); err != nil {
		return err
	}
	if k8sClient, err = client.New(cfg, client.Options{Scheme: scheme.Scheme}); err != nil {
		return err
	}
	return startManager(&testEnv.WebhookInstallOptions)
})

// startManager runs a manager with the webhook, and no controller. It returns when the webhook is
// served.
func startManager(where *envtest.WebhookInstallOptions) error {
	server := webhook.NewServer(webhook.Options{
		Host:    where.LocalServingHost,
		Port:    where.LocalServingPort,
		CertDir: where.LocalServingCertDir,
		TLSOpts: []func(*tls.Config){func(config *tls.Config) { config.NextProtos = []string{"http/1.1"} }},
	})
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme:        scheme.Scheme,
		Metrics:       metricsserver.Options{BindAddress: "0"},
		WebhookServer: server,
	})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	stopManager = func() error {
		stop()
		return <-ended
	}
	err = SetupTDSetWebhookWithManager(mgr)
	Expect(err).NotTo(HaveOccurred())

	// +kubebuilder:scaffold:webhook

	go func() { ended <- mgr.Start(ctx) }()
	return untilServed(ctx, server)
}

// ginkgosOwn ignores a goroutine that Ginkgo leaves behind. It waits for Ctrl-C.
var ginkgosOwn = goleak.IgnoreTopFunction("github.com/onsi/ginkgo/v2/internal/interrupt_handler.(*InterruptHandler).registerForInterrupts.func2")

// TestMain fails the run if a goroutine is left behind.
func TestMain(m *testing.M) {
	// Plain tests need the types too, so they are added here, and not in BeforeSuite. TestAPIs sets
	// Ginkgo's handler of failures.
	RegisterFailHandler(func(message string, _ ...int) { panic(message) })
	var err error
	err = schedulev1.AddToScheme(scheme.Scheme)
	Expect(err).NotTo(HaveOccurred())

	err = schedulev2.AddToScheme(scheme.Scheme)
	Expect(err).NotTo(HaveOccurred())

	// +kubebuilder:scaffold:scheme

	err = apiextensionsv1.AddToScheme(scheme.Scheme)
	Expect(err).NotTo(HaveOccurred())
	ctrl.SetLogger(klog.Background())
	goleak.VerifyTestMain(andStop{m}, ginkgosOwn)
}

// andStop stops the shared manager and API server after the tests.
type andStop struct{ *testing.M }

func (tests andStop) Run() (code int) {
	code = tests.M.Run()
	if stopManager != nil {
		if err := stopManager(); err != nil {
			fmt.Fprintln(os.Stderr, "stop the manager:", err)
			code = 1
		}
	}
	if testEnv != nil {
		if err := testEnv.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stop the API server:", err)
			code = 1
		}
	}
	return code
}

// newAPIServer returns a client, the warnings that it gets, and a new namespace for the test.
func newAPIServer(t *testing.T) (client.Client, *warnings, string) {
	t.Helper()
	if testing.Short() {
		t.Skip("this needs a real API server, and -short is set")
	}
	must(t, startTestEnv())
	config, warned := rest.CopyConfig(cfg), &warnings{}
	config.QPS = -1
	config.WarningHandlerWithContext = warned
	transport, err := rest.TransportFor(config)
	must(t, err)
	t.Cleanup(func() { utilnet.CloseIdleConnectionsFor(transport) })
	api, err := client.New(config, client.Options{Scheme: scheme.Scheme})
	must(t, err)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	must(t, api.Create(t.Context(), namespace))
	return api, warned, namespace.Name
}

// warnings collects the warnings that a client gets, and that kubectl would print.
type warnings struct {
	lock sync.Mutex
	got  []string
}

func (w *warnings) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.got = append(w.got, text)
}

// since returns the warnings since the last call.
func (w *warnings) since() []string {
	w.lock.Lock()
	defer w.lock.Unlock()
	got := w.got
	w.got = nil
	return got
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
