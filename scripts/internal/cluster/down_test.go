package cluster

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestPurgeKeepsWhatItIsToldTo(t *testing.T) {
	own := []string{"progress*.json", "kept"}
	for sentence, test := range map[string]struct {
		files, keep, want []string // kept
	}{
		"a learner's own":          {[]string{"bin/etcd", "kept/01-1.go", "progress.json", "progress-damaged.json", "run.kubeconfig"}, own, []string{"kept", "progress-damaged.json", "progress.json"}},
		"nothing if there is none": {[]string{"bin/etcd"}, own, nil},
		"nothing if told so":       {[]string{"bin/etcd", "kept/01-1.go", "progress.json"}, nil, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			root := t.TempDir()
			state := filepath.Join(root, ".workshop")
			for _, file := range test.files {
				writeFile(t, filepath.Join(state, file), "content of "+file)
			}
			ended, kept, err := Purge(t.Context(), root, test.keep, nil)
			if err != nil || ended != 0 || !slices.Equal(kept, test.want) {
				t.Errorf("ended %d, kept %q, error %v; want %q kept", ended, kept, err, test.want)
			}
			entries, err := os.ReadDir(state)
			if test.want == nil && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("there is still %v, error %v", entries, err)
			}
			if len(entries) != len(test.want) {
				t.Errorf("there is still %v", entries)
			}
			for _, file := range test.files {
				if name, _, _ := strings.Cut(file, "/"); !slices.Contains(test.want, name) {
					continue
				}
				if content, err := os.ReadFile(filepath.Join(state, file)); err != nil || string(content) != "content of "+file {
					t.Errorf("%s is now %q, error %v", file, content, err)
				}
			}
		})
	}
}
