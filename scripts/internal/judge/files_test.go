package judge

import (
	"path/filepath"
	"testing"

	"example.com/operators/scripts/internal/testkit"
)

// Each judge.yaml in the repository is valid, and so are its expressions and its permissions.
func TestTheJudgeFiles(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testkit.Repository(), "scripts", "judge", "*", "*", "judge.yaml"))
	if err != nil || len(files) < 9 {
		t.Fatalf("found %q (%v), want those of seven chapters and two examples", files, err)
	}
	for _, file := range files {
		config, err := Read(file)
		if err != nil {
			t.Error(err)
			continue
		}
		j := &Judge{config: config}
		if err := j.readSamples(); err != nil {
			t.Error(err)
		}
		if err := j.compile(); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if _, err := j.grants(); err != nil {
			t.Error(err)
		}
	}
}
