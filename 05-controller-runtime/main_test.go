// The start of the program: bad input produces an error that names the flag and how to fix it.

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// TestMain fails the whole run if a test leaves a goroutine behind, because the manager must stop
// everything that it runs when its context ends. With runAsController in the environment, this
// program is the controller itself: see program_test.go.
func TestMain(m *testing.M) {
	if os.Getenv(runAsController) != "" {
		main()
		return
	}
	shareLog()
	ctrl.SetLogger(klog.Background())
	goleak.VerifyTestMain(testsWithServer{m})
}

// testsWithServer runs the tests, and then stops the API server that they share, so that its
// clients' connections don't count as leaks.
type testsWithServer struct{ *testing.M }

func (tests testsWithServer) Run() (code int) {
	code = tests.M.Run()
	if err := stopAPIServer(); err != nil {
		fmt.Fprintln(os.Stderr, "stop the API server:", err)
		return 1
	}
	return code
}

func TestRunRefusesInvalidFlags(t *testing.T) {
	for sentence, test := range map[string]struct {
		change     func(*ctrl.Options)
		kubeconfig string
		want       string
	}{
		"no workers":             {func(o *ctrl.Options) { o.Controller.MaxConcurrentReconciles = 0 }, "", "--workers 0: must be at least 1"},
		"a negative resync":      {func(o *ctrl.Options) { o.Cache.SyncPeriod = new(time.Duration(-1)) }, "", "--resync -1ns: must not be negative"},
		"no such kubeconfig":     {func(*ctrl.Options) {}, "", "name another with --kubeconfig or KUBECONFIG"},
		"a malformed kubeconfig": {func(*ctrl.Options) {}, "{{{", "yaml"},
	} {
		t.Run(sentence, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "kubeconfig")
			if test.kubeconfig != "" {
				must(t, os.WriteFile(path, []byte(test.kubeconfig), 0o600))
			}
			t.Setenv("KUBECONFIG", path)
			o := optionsFor("default")
			test.change(&o)

			if err := run(t.Context(), o); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got the error %v, want one that contains %q", err, test.want)
			}
		})
	}
}

// emptyCluster is a kubeconfig for a server that gets no request.
const emptyCluster = `
apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: "https://127.0.0.1:6443"}}]
contexts: [{name: a, context: {cluster: a}}]
current-context: a
`
