package program

import (
	"os"
	"path/filepath"
	"testing"
)

func TestStoring(t *testing.T) {
	t.Parallel()
	original := filepath.Join(t.TempDir(), "crd.yaml")
	const text = "metadata: {name: foos.example.com}\n" +
		"spec: {versions: [{name: v1, storage: false}, {name: v2, storage: true}]}\n"
	if err := os.WriteFile(original, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := Program{CRD: original}
	changed, err := p.Storing("v1", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for want, p := range map[string]Program{"v1": changed, "v2": p} {
		if got, err := p.StoredVersion(); err != nil || got != want {
			t.Errorf("%s: the stored version is %q, %v, want %s", p.CRD, got, err, want)
		}
	}
	const want = `foos.example.com doesn't have the version "v3": choose v1 or v2`
	if _, err := p.Storing("v3", t.TempDir()); err == nil || err.Error() != want {
		t.Errorf("got the error %v, want %s", err, want)
	}
}
