// Setup and teardown of this package's tests.

package main

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
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
	ctrl.SetLogger(klog.Background())     // as run does
	goleak.VerifyTestMain(andStop{m})
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
