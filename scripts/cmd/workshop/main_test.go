package main

// Command lines that cobra handles before any command begins.

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestWrongUsageExitsWith2(t *testing.T) {
	for line, want := range map[string]string{
		"--on kwok chek": `unknown command "chek" for "./scripts/workshop"`,
		"up --no-such":   "unknown flag: --no-such",
		"hint":           "Usage: ./scripts/workshop hint CHAPTER/K",
		"up and away":    `unknown command "and" for "./scripts/workshop up"`,
	} {
		t.Run(line, func(t *testing.T) {
			code, stderr := runAndRead(t, strings.Fields(line)...)
			if code != exitWrongUsage || !strings.Contains(stderr, want) || !strings.Contains(stderr, "--help") {
				t.Errorf("exit code %d, want 2; stderr:\n%s", code, stderr)
			}
		})
	}
}

func TestAClosedPipeCancelsTheCommand(t *testing.T) {
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	ctx, cancel := context.WithCancel(t.Context())
	out := pipe{writer, cancel}
	if _, err := io.WriteString(out, "read"); err != nil || ctx.Err() != nil {
		t.Fatalf("cancelled while the pipe is open: %v, %v", err, ctx.Err())
	}
	reader.Close()
	if _, err := io.WriteString(out, "not read"); err == nil || ctx.Err() == nil {
		t.Errorf("not cancelled when the pipe is closed: %v, %v", err, ctx.Err())
	}
}

// Before a newcomer's first command, everything that the tool imports is compiled. So what hardly any
// command needs belongs in a program of its own.
func TestTheToolDoesNotImportWhatFewNeed(t *testing.T) {
	packages, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for module, instead := range map[string]string{
		"github.com/chromedp/": "only tests control the browser",
		"sigs.k8s.io/kind":     "the tool builds and runs kind's command line",
		"helm.sh/":             "a test builds and runs Helm's command line",
	} {
		if strings.Contains(string(packages), "\n"+module) {
			t.Errorf("the tool imports %s, but %s", module, instead)
		}
	}
}

// runAndRead runs a command line, and returns its exit code and what it printed to stderr.
func runAndRead(t *testing.T, args ...string) (code int, stderr string) {
	t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func(stderr *os.File) { os.Stderr = stderr }(os.Stderr)
	os.Stderr = writer
	code = run(t.Context(), args)
	writer.Close()
	output, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return code, string(output)
}
