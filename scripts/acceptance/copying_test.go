package acceptance

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/chapters"
)

// A reader copies an operator out of the clone and renames it with the commands in
// scripts/docs/copying.md. Here, they run outside of the clone and without a network, so nothing in
// the copy can depend on the course. Tests that need an API server are left out, because the chapter
// has run them.
func TestCopying(t *testing.T) {
	page, err := os.ReadFile("../docs/copying.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, chapter := range testEnvironment(t).chapters {
		commands := commandsFor(string(page), chapter.Number())
		if !strings.Contains(commands, chapter.Name) {
			continue // the page copies other chapters
		}
		t.Run(chapter.Name, func(t *testing.T) {
			clone, home := t.TempDir(), t.TempDir()
			must(t, os.CopyFS(filepath.Join(clone, chapter.Name), os.DirFS(chapter.Dir)))
			must(t, os.WriteFile(filepath.Join(clone, "LICENSE"), nil, 0o600))
			caches, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE", "GOMODCACHE").Output()
			must(t, err)
			folders := strings.Split(string(caches), "\n")
			typed := exec.CommandContext(t.Context(), "bash", "-e", "-o", "pipefail", "-c", commands)
			typed.Dir = clone
			typed.Env = append(os.Environ(), "HOME="+home, "GOCACHE="+folders[0], "GOMODCACHE="+folders[1],
				"GOWORK=", "GOPROXY=off", "GOFLAGS=-short "+os.Getenv("GOFLAGS"), "TEST_KUBECONFIG=",
				"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b.c", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b.c")
			if output, err := typed.CombinedOutput(); err != nil {
				t.Fatalf("the commands of scripts/docs/copying.md: %v\n%s", err, output)
			}
			checkDockerfile(t, filepath.Join(home, "cache-operator"))
		})
	}
}

// checkDockerfile checks that the Dockerfile copies only what is there. (Building an image needs
// docker.)
func checkDockerfile(t *testing.T, dir string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "Dockerfile"))
	must(t, err)
	for _, line := range regexp.MustCompile(`(?m)^COPY ([^-].*) \S+$`).FindAllStringSubmatch(string(text), -1) {
		for file := range strings.FieldsSeq(line[1]) {
			if !chapters.Exists(filepath.Join(dir, file)) {
				t.Errorf("the Dockerfile copies %s, which isn't in the copy", file)
			}
		}
	}
}

var chapterNumber = regexp.MustCompile(`\b0\d\b`)

// commandsFor returns the page's indented lines, except those under headings that name only other
// chapters.
func commandsFor(page, number string) string {
	var commands strings.Builder
	applies := true
	for line := range strings.Lines(page) {
		command, isCommand := strings.CutPrefix(line, "    ")
		switch {
		case strings.HasPrefix(line, "#"):
			numbers := chapterNumber.FindAllString(line, -1)
			applies = len(numbers) == 0 || slices.Contains(numbers, number)
		case isCommand && applies:
			commands.WriteString(command)
		}
	}
	return commands.String()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
