package testkit

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A test that finds the repository by itself might get an old result from Go's test cache.
func TestOnlyRepositoryLeavesTheModule(t *testing.T) {
	checked := 0
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		if bytes.Contains(source, []byte(`"`+Repository())) {
			t.Errorf("%s: get this path from testkit.Repository", path)
		}
		checked++
		return err
	})
	if err != nil || checked < 50 {
		t.Errorf("checked %d files, error %v", checked, err)
	}
}
