// The command on whole files. `go test . -update` writes the golden files.

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

// A folder in testdata is a run: input.yaml begins with the command's flags, and output.txt is what
// it prints, errors included.
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
			if err := run(append(args, "-"), bytes.NewReader(text), &output, time.Time{}); err != nil {
				fmt.Fprintf(&output, "fails:\n%v\n", err)
			}

			golden := filepath.Join(filepath.Dir(input), "output.txt")
			if *update {
				if err := os.WriteFile(golden, output.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatalf("%v (go test . -update writes it)", err)
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
		args    []string
		stdin   string
		want    string
		wantErr string
	}{
		"a file":                          {[]string{file}, "", "temp/tdset-hello-world, in hours of UTC\n", ""},
		"standard input":                  {[]string{"-"}, tdset("UTC"), "(a TDSet without a name), in hours of UTC\n", ""},
		"the week begins today":           {[]string{"-"}, tdset("UTC"), "23\nMon 2026-01-05 ", ""},
		"today where the TDSet is":        {[]string{"-"}, tdset("Asia/Kolkata"), "23\nTue 2026-01-06 ", ""},
		"or on the day that is asked for": {[]string{"-from", "2028-02-29", "-"}, tdset("UTC"), "23\nTue 2028-02-29 ", ""},
		"a file that doesn't exist":       {[]string{"no/such.yaml"}, "", "", "open no/such.yaml: no such file or directory"},
		"a file with an invalid TDSet and a valid one": {
			[]string{"-from", "2026-01-01", "testdata/refused/input.yaml"}, "", "printed-all-the-same, in hours of UTC\n",
			"testdata/refused/input.yaml: default/refused: spec.timeZone: Invalid value: \"Mars/Olympus_Mons\"",
		},
		"a day that doesn't exist": {[]string{"-from", "2026-02-30", file}, "", "", "write the day as 2026-01-01"},
	} {
		t.Run(sentence, func(t *testing.T) {
			var stdout bytes.Buffer
			err := run(test.args, strings.NewReader(test.stdin), &stdout, now)
			if got := fmt.Sprint(err); (err == nil) != (test.wantErr == "") || err != nil && !strings.Contains(got, test.wantErr) {
				t.Errorf("got the error %v, want %q", err, test.wantErr)
			}
			if !strings.Contains(stdout.String(), test.want) {
				t.Errorf("it prints\n%s\nwant %q", &stdout, test.want)
			}
		})
	}
}
