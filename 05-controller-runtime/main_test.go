package main

import (
	"path/filepath"
	"strings"
	"testing"

	ctrl "sigs.k8s.io/controller-runtime"

	"example.com/operators/05-controller-runtime/test/testenv"
)

var must = testenv.Must

func TestMain(m *testing.M) { testenv.Main(m, ".") }

// Bad input produces an error that names the flag and how to fix it.
func TestRunRefusesInvalidFlags(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "missing"))
	for sentence, test := range map[string]struct {
		workers int
		want    string
	}{
		"no workers":         {0, "--workers 0: must be at least 1"},
		"no such kubeconfig": {1, "name another with --kubeconfig or KUBECONFIG"},
	} {
		t.Run(sentence, func(t *testing.T) {
			var o ctrl.Options
			o.Controller.MaxConcurrentReconciles = test.workers

			if err := run(t.Context(), o); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got the error %v, want one that contains %q", err, test.want)
			}
		})
	}
}
