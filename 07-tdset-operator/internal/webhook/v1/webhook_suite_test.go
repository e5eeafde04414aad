// The suite: envtest, which is a real API server with its etcd and nothing else, and a manager that serves the webhook. envtest applies
// config/webhook with two changes: the API server calls a URL on this machine, and trusts the certificate that envtest has made.

package v1

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

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

	"example.com/operators/07-tdset-operator/api/v1"
	"example.com/operators/07-tdset-operator/test/utils"
	// +kubebuilder:scaffold:imports
)

// testEnv is nil if no test has asked for it, and so is stopManager.
var (
	testEnv     *envtest.Environment
	stopManager func() error
)

var startTestEnv = sync.OnceValue(func() error {
	assets, err := utils.EnvtestAssets("../../..")
	if err != nil {
		return err
	}
	if err := errors.Join(v1.AddToScheme(scheme.Scheme), apiextensionsv1.AddToScheme(scheme.Scheme)); err != nil {
		return err
	}
	// +kubebuilder:scaffold:scheme
	testEnv = &envtest.Environment{
		BinaryAssetsDirectory: assets,
		CRDDirectoryPaths:     []string{filepath.Join("..", "..", "..", "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
		WebhookInstallOptions: envtest.WebhookInstallOptions{
			Paths: []string{filepath.Join("..", "..", "..", "config", "webhook", "manifests.yaml")},
		},
	}
	if _, err := testEnv.Start(); err != nil {
		return err
	}
	return startManager(&testEnv.WebhookInstallOptions)
})

// startManager runs a manager with the webhook, and no controller. It returns when the webhook is served.
func startManager(where *envtest.WebhookInstallOptions) error {
	server := webhook.NewServer(webhook.Options{
		Host:    where.LocalServingHost,
		Port:    where.LocalServingPort,
		CertDir: where.LocalServingCertDir,
		TLSOpts: []func(*tls.Config){func(config *tls.Config) { config.NextProtos = []string{"http/1.1"} }},
	})
	mgr, err := ctrl.NewManager(testEnv.Config, ctrl.Options{
		Scheme:        scheme.Scheme,
		Metrics:       metricsserver.Options{BindAddress: "0"},
		WebhookServer: server,
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	stopManager = func() error {
		cancel()
		return <-ended
	}
	if err := SetupTDSetWebhookWithManager(mgr); err != nil {
		return err
	}
	// +kubebuilder:scaffold:webhook
	go func() { ended <- mgr.Start(ctx) }()
	return untilServed(ctx, server)
}

// TestMain fails the whole run if a test leaves a goroutine behind.
func TestMain(m *testing.M) {
	ctrl.SetLogger(klog.Background())
	goleak.VerifyTestMain(andStop{m})
}

// andStop runs the tests, and then stops the manager and the API server that they have shared.
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

// newAPIServer returns a client that notes the warnings it gets, as kubectl prints them, and a namespace of the test's own.
func newAPIServer(t *testing.T) (client.Client, *warnings, string) {
	t.Helper()
	if testing.Short() {
		t.Skip("it needs a real API server, and this is a short run")
	}
	must(t, startTestEnv())
	config, warned := rest.CopyConfig(testEnv.Config), &warnings{}
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

// warnings are those that a client has got.
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
