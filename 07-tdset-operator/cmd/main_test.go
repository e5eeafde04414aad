// Setup and teardown of this package's tests.

package main

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"example.com/operators/07-tdset-operator/test/utils"
)

// TestMain fails the run if a goroutine is left behind. The manager has to stop everything that it
// runs when its context ends. If an environment variable is set, this program is the manager
// itself: see process_test.go.
func TestMain(m *testing.M) {
	if os.Getenv(runAsManager) != "" {
		main()
		return
	}
	os.Setenv("ENABLE_WEBHOOKS", "false") // they need a certificate
	utils.ShareLog()
	ctrl.SetLogger(klog.Background()) // as run does
	// controller-runtime's watch of metadata leaks a goroutine when its context ends: it sends a
	// last event, which nobody receives (apimachinery 0.37.2, watch.Filter). In production, the
	// program exits then.
	goleak.VerifyTestMain(andStop{m}, goleak.IgnoreTopFunction("k8s.io/apimachinery/pkg/watch.(*filteredWatch).loop"))
}

// andStop stops the shared API server after the tests, before goroutines are counted.
type andStop struct{ *testing.M }

func (tests andStop) Run() (code int) {
	code = tests.M.Run()
	if err := stopTestEnv(); err != nil {
		fmt.Fprintln(os.Stderr, "stop the API server:", err)
		return 1
	}
	return code
}
