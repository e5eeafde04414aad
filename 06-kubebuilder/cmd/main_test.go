// The start and the end of the tests.

package main

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// TestMain fails the whole run if a test leaves a goroutine behind: the manager must end with its context, and all that it runs.
// With a certain environment this program is the manager itself: see process_test.go.
func TestMain(m *testing.M) {
	if os.Getenv(beTheManager) != "" {
		main()
		return
	}
	ctrl.SetLogger(klog.Background()) // as run does
	goleak.VerifyTestMain(andStop{m})
}

// andStop runs the tests, and then stops the API server that they have shared: its clients' connections aren't leaks.
type andStop struct{ *testing.M }

func (tests andStop) Run() (code int) {
	code = tests.M.Run()
	if err := stopTestEnv(); err != nil {
		fmt.Fprintln(os.Stderr, "stop the API server:", err)
		return 1
	}
	return code
}
