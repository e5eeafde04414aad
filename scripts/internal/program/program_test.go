package program

import (
	"os"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/testkit"
)

func TestBuild(t *testing.T) {
	for sentence, test := range map[string]struct {
		source, wantErr string
	}{
		"a program that builds":                     {"package main\n\nfunc main() {}\n", ""},
		"one that doesn't is shown with the reason": {"package main\n\nfunc main() { undefined() }\n", "undefined: undefined"},
	} {
		t.Run(sentence, func(t *testing.T) {
			chapter := chapters.Chapter{Name: "01-test", Dir: t.TempDir()}
			testkit.Write(t, chapter.Dir, map[string]string{"go.mod": "module a\n\ngo 1.26\n", "main.go": test.source})
			binary, err := Program{Name: "a", chapter: chapter, pkg: "."}.Build(t.Context(), t.TempDir())
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Errorf("got error %v, want %q", err, test.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(binary); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestBuildWhereGitRefuses(t *testing.T) {
	chapter := chapters.Chapter{Name: "01-test", Dir: t.TempDir()}
	testkit.Write(t, chapter.Dir, map[string]string{"go.mod": "module a\n\ngo 1.26\n", "main.go": "package main\n\nfunc main() {}\n"})
	testkit.RefuseGit(t, chapter.Dir)
	if _, err := (Program{Name: "a", chapter: chapter, pkg: "."}).Build(t.Context(), t.TempDir()); err != nil {
		t.Error(err)
	}
}
