// The command as a user calls it. A new golden file is written by go test ./cmd/schedule -update, and then read.

package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what is printed into testdata/*/output.txt")

// A folder in testdata is a run: input.yaml begins with the command's flags, and output.txt is what it prints, errors included.
func TestGolden(t *testing.T) {
	inputs, err := filepath.Glob("testdata/*/input.yaml")
	if err != nil || len(inputs) == 0 {
		t.Fatalf("no inputs: %v", err)
	}
	for _, input := range inputs {
		t.Run(filepath.Base(filepath.Dir(input)), func(t *testing.T) {
			text, err := os.ReadFile(input)
			if err != nil {
				t.Fatal(err)
			}
			line, _, _ := strings.Cut(string(text), "\n")
			args := strings.Fields(strings.TrimPrefix(line, "# schedule "))

			var output bytes.Buffer
			code := run(args, bytes.NewReader(text), &output, &output, time.Time{})
			fmt.Fprintf(&output, "exit code %d\n", code)

			golden := filepath.Join(filepath.Dir(input), "output.txt")
			if *update {
				if err := os.WriteFile(golden, output.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatalf("%v (go test ./cmd/schedule -update writes it)", err)
			}
			if difference := cmp.Diff(string(want), output.String()); difference != "" {
				t.Errorf("%s (-want, +got):\n%s", golden, difference)
			}
		})
	}
}

func TestRun(t *testing.T) {
	const file = "testdata/example/input.yaml"
	now := time.Date(2026, 1, 5, 23, 30, 0, 0, time.UTC)
	tdset := func(zone string) string {
		return "{apiVersion: schedule.rs/v1, kind: TDSet, spec: {container: {image: nginx, port: 80}, schedulingConfig: [], timeZone: " + zone + "}}"
	}
	for sentence, test := range map[string]struct {
		args       []string
		stdin      string
		wantCode   int
		wantStdout string
		wantStderr string
	}{
		"a file":                          {[]string{file}, "", 0, "temp/tdset-hello-world, in hours of UTC\n", ""},
		"standard input, said":            {[]string{"-"}, tdset("UTC"), 0, "(a TDSet without a name), in hours of UTC\n", ""},
		"standard input, not said":        {nil, tdset("UTC"), 0, "(a TDSet without a name), in hours of UTC\n", ""},
		"the week begins today":           {nil, tdset("UTC"), 0, "23\nMon 2026-01-05 ", ""},
		"today where the TDSet is":        {nil, tdset("Asia/Kolkata"), 0, "23\nTue 2026-01-06 ", ""},
		"or on the day that is asked for": {[]string{"-from", "2028-02-29"}, tdset("UTC"), 0, "23\nTue 2028-02-29 ", ""},
		"help":                            {[]string{"-h"}, "", 0, "", "usage: schedule [-from 2026-01-01] [FILE]"},
		"a file that isn't there":         {[]string{"no/such.yaml"}, "", exitFailed, "", "open no/such.yaml: no such file or directory\n"},
		"a file in which something is wrong": {
			[]string{"-from", "2026-01-01", "testdata/refused/input.yaml"}, "", exitFailed, "printed-all-the-same, in hours of UTC\n",
			"testdata/refused/input.yaml: default/refused: spec.timeZone: Invalid value: \"Mars/Olympus_Mons\"",
		},
		"a day that isn't one": {[]string{"-from", "2026-02-30", file}, "", exitWrongUsage, "", "a day is written as 2026-01-01"},
		"two files":            {[]string{file, file}, "", exitWrongUsage, "", "one file, please"},
		"an unknown flag":      {[]string{"-week"}, "", exitWrongUsage, "", "flag provided but not defined: -week"},
	} {
		t.Run(sentence, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := run(test.args, strings.NewReader(test.stdin), &stdout, &stderr, now)
			if code != test.wantCode || !strings.Contains(stdout.String(), test.wantStdout) || !strings.Contains(stderr.String(), test.wantStderr) {
				t.Errorf("exit code %d, want %d; it prints\n%s\nwant %q; and says\n%s\nwant %q",
					code, test.wantCode, &stdout, test.wantStdout, &stderr, test.wantStderr)
			}
			if test.wantStderr == "" && stderr.Len() > 0 {
				t.Errorf("it says %s", &stderr)
			}
		})
	}
}
