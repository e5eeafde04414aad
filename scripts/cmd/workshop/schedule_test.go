package main

// The command around scripts/schedule, which has its own tests.

import (
	"errors"
	"os"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/testfiles"
)

// printsArguments replaces scripts/schedule.
const printsArguments = `package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	fmt.Printf("%q\n", os.Args[1:])
	text, err := os.ReadFile(os.Args[len(os.Args)-1])
	if os.Args[len(os.Args)-1] == "-" {
		text, err = io.ReadAll(os.Stdin)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%s\n", text)
}
`

func TestSchedule(t *testing.T) {
	writeSchedule(t, printsArguments)
	there := t.TempDir()
	t.Chdir(there)
	if err := os.WriteFile("a week.yaml", []byte("the file"), 0o600); err != nil {
		t.Fatal(err)
	}
	for sentence, test := range map[string]struct {
		args       []string
		wantStdout string
		wantStderr string
		wantErr    error
	}{
		"a file name is relative to the working directory": {[]string{"a week.yaml"}, `["--" "a week.yaml"]` + "\nthe file\n", "", nil},
		"a day":                              {[]string{"--from", "2026-03-26", "a week.yaml"}, `["-from" "2026-03-26" "--" "a week.yaml"]` + "\nthe file\n", "", nil},
		"a day after the file":               {[]string{"a week.yaml", "--from=2026-03-26"}, `["-from" "2026-03-26" "--" "a week.yaml"]` + "\nthe file\n", "", nil},
		"standard input":                     {[]string{"-"}, `["--" "-"]` + "\nstandard input\n", "", nil},
		"the program's error isn't repeated": {[]string{"none.yaml"}, `["--" "none.yaml"]` + "\n", "open none.yaml: no such file or directory\n", errReported},
	} {
		t.Run(sentence, func(t *testing.T) {
			var stdout, stderr strings.Builder
			command := newScheduleCommand()
			command.SilenceErrors, command.SilenceUsage = true, true
			command.SetArgs(test.args)
			command.SetIn(strings.NewReader("standard input"))
			command.SetOut(&stdout)
			command.SetErr(&stderr)
			if err := command.ExecuteContext(t.Context()); !errors.Is(err, test.wantErr) {
				t.Errorf("the error is %v, want %v", err, test.wantErr)
			}
			if stdout.String() != test.wantStdout || stderr.String() != test.wantStderr {
				t.Errorf("stdout is\n%s\nwant\n%s\nstderr is\n%s\nwant\n%s", &stdout, test.wantStdout, &stderr, test.wantStderr)
			}
		})
	}
}

func TestScheduleDoesNotBuild(t *testing.T) {
	writeSchedule(t, "package main\n\nfunc main() { undefined() }\n")
	_, err := buildSchedule(t.Context())
	if err == nil || !strings.Contains(err.Error(), "failed") || !strings.Contains(err.Error(), "undefined: undefined") {
		t.Errorf("the error is %v", err)
	}
}

func writeSchedule(t *testing.T, schedule string) {
	t.Helper()
	t.Setenv("WORKSHOP_ROOT", testfiles.Write(t, t.TempDir(), map[string]string{
		"scripts/schedule/go.mod": "module a\n\ngo 1.26\n", "scripts/schedule/main.go": schedule,
	}))
}
