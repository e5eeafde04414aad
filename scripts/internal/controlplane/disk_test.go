package controlplane

import (
	"path/filepath"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/problem"
)

func TestCheckFree(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there yet")
	if err := CheckFree(dir, 1, "for a byte", Elsewhere); err != nil {
		t.Error(err)
	}
	err := CheckFree(dir, 1<<60, "for everything", Elsewhere)
	if err == nil || !strings.Contains(err.Error(), "GiB left, 1073741824.0 GiB are needed for everything") || !strings.Contains(problem.Format(err), "GOCACHE") {
		t.Errorf("error %v, want what is needed and what to do", err)
	}
}
