package docs

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shirou/gopsutil/v4/process"
	"golang.org/x/sys/unix"
)

// These tests use the real bash, because they test signals, quotes and inherited files.

func TestCommandsThatMatchTheText(t *testing.T) {
	tests := map[string]struct {
		text     []string
		commands int
	}{
		"output, errors too, and an exit status": {
			text:     []string{"'''console exit=3", "$ echo out; echo err >&2", "out", "err", "$ (exit 3)", "'''"},
			commands: 2,
		},
		"no output in the text: any output": {
			text:     []string{"'''console", "$ echo out", "'''"},
			commands: 1,
		},
		"output without a newline at its end": {
			text:     []string{"'''console", "$ printf 'a\\nb'", "a", "b", "'''"},
			commands: 1,
		},
		"no output, and blank lines": {
			text:     []string{"'''console", "$ true", "", "$ echo", "", "'''"},
			commands: 2,
		},
		"directory, variables, functions and exit status last": {
			text: []string{
				"'''console", "$ cd sub", "$ export A='it'\\''s'", "$ f() { echo \"$A\" \"$@\"; }", "'''",
				"'''console exit=4", "$ f here; basename $PWD", "it's here", "sub", "$ (exit 4)", "'''",
				"'''console", "$ echo $?", "4", "'''",
			},
			commands: 6,
		},
		"each terminal is its own": {
			text: []string{
				"'''console", "$ A=1", "'''", "'''console terminal=two", "$ echo \"<$A>\"; test -f README.md", "<>", "'''",
				"'''console", "$ echo $A", "1", "'''",
			},
			commands: 3,
		},
		"lines that go on": {
			text: []string{
				"'''console", "$ echo a \\", "    b", "a b",
				"$ cat <<EOF | tr a-z A-Z", "> x", ">", ">   'y", "> EOF", "X", "", "  'Y", "'''",
			},
			commands: 2,
		},
		"a program that reads gets nothing, and not the next command": {
			text:     []string{"'''console", "$ cat", "$ echo next", "next", "'''"},
			commands: 2,
		},
		"a job in the background lasts, and doesn't hold its command": {
			text:     []string{"'''console", "$ sleep 1000 &", "$ kill $! && wait $!; test $? = 143", "'''"},
			commands: 2,
		},
		"a block that isn't run": {
			text: []string{"<!-- not run: it would fail -->", "'''console norun", "$ false", "'''"},
		},
		"a running command, more output, ^C, its last output, and the next command": {
			text: []string{
				"'''console running", "$ echo before", "before", "$ " + echoesUntilInterrupted, "ready", "'''",
				"'''console terminal=two", "$ echo more > fifo", "'''",
				"'''console", "got more", "'''",
				"'''console", "^C", "bye", "$ echo free", "free", "'''",
			},
			commands: 4,
		},
		"a running command with more output than in the text": {
			text:     []string{"'''console running", "$ echo a; echo b; echo c; sleep 1000", "a", "'''", "'''console", "…", "c", "'''", "'''console", "^C", "'''"},
			commands: 1,
		},
		"^C without output": {
			text:     []string{"'''console running", "$ sleep 1000", "'''", "'''console", "^C", "$ echo $?", "130", "'''"},
			commands: 2,
		},
		"^C ends a loop, and the rest of its line": {
			text: []string{
				"'''console running", "$ while :; do echo tick; sleep 0.1; done; echo over", "tick", "tick", "'''",
				"'''console", "^C", "$ echo $?", "130", "'''",
			},
			commands: 2,
		},
		"^C leaves jobs in the background alone": {
			text: []string{
				"'''console", `$ (set -m; bash -c 'trap "echo hit" INT; echo up > fifo; read <fifo; echo unhurt' &)`, "$ read <fifo", "'''",
				"'''console running", "$ sleep 1000", "'''",
				"'''console", "^C", "'''",
				"'''console running", "$ echo go > fifo; sleep 1000", "unhurt", "'''",
				"'''console", "^C", "'''",
			},
			commands: 4,
		},
		"a running command that ends before the next one is waited for": {
			text:     []string{"'''console running", "$ sleep 0.1; echo done", "'''", "'''console", "$ echo next", "next", "'''"},
			commands: 2,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := consoleRepository(t, test.text...)
			problems, commands, err := (&Runner{Root: root}).Run(t.Context(), "README.md")
			if err != nil {
				t.Fatal(err)
			}
			wantProblems(t, problems)
			if commands != test.commands {
				t.Errorf("%d commands were run, want %d", commands, test.commands)
			}
		})
	}
}

// echoesUntilInterrupted prints ready, each line from the fifo, and bye when it is interrupted.
const echoesUntilInterrupted = `bash -c 'trap "echo bye; exit" INT; echo ready; while read -r line; do echo got $line; done <>fifo'`

func TestCommandsThatDiffer(t *testing.T) {
	const short = 500 * time.Millisecond
	tests := map[string]struct {
		text     []string
		timeout  time.Duration
		want     []string // parts of the problem
		commands int
	}{
		"another output": {
			text: []string{"text", "", "'''console", "$ printf 'a\\nc\\n'", "a", "b", "'''"},
			want: []string{
				"README.md:4: $ printf", "\nline 2 of the output is \"c\", expected \"b\"\n",
				"expected: \n    a\n    b\n", "came: \n    a\n    c\n", "The rest of this file was not run.",
			},
			commands: 1,
		},
		"no output": {
			text:     []string{"'''console", "$ true", "a", "'''"},
			want:     []string{`the output has no line "a" where it is expected`, "came: nothing"},
			commands: 1,
		},
		"a failure shows its output, and ends the run": {
			text:     []string{"'''console", "$ echo sorry; false", "'''", "'''console", "$ true", "'''"},
			want:     []string{"README.md:2: $ echo sorry; false\nexit status 1, expected 0\nexpected: anything\ncame: \n    sorry\n"},
			commands: 1,
		},
		"an exit status is the last command's only": {
			text:     []string{"'''console exit=1", "$ false", "$ false", "'''"},
			want:     []string{"README.md:2: $ false\nexit status 1, expected 0"},
			commands: 1,
		},
		"a success that should fail": {
			text:     []string{"'''console exit=1", "$ true", "'''"},
			want:     []string{"exit status 0, expected 1"},
			commands: 1,
		},
		"an excerpt of much output": {
			text:     []string{"'''console", "$ seq 100; echo x; seq 100", "…", "100", "y", "…", "'''"},
			want:     []string{`has no line "y"`, "came: (lines 187 to 201 of 201)\n    86\n"},
			commands: 1,
		},
		"an unclosed quote": {
			text:     []string{"'''console", "$ echo 'a", "'''"},
			want:     []string{"unexpected EOF while looking for matching", "expected 0"},
			commands: 1,
		},
		"a command that doesn't end": {
			text:     []string{"'''console", "$ echo a; sleep 1000", "a", "'''"},
			timeout:  short,
			want:     []string{"the command still runs after 500ms", "came: \n    a\n"},
			commands: 1,
		},
		"a command that ends the terminal": {
			text:     []string{"'''console exit=3", "$ exit 3", "'''", "'''console", "$ true", "'''"},
			want:     []string{"README.md:5: $ true\nthe terminal's bash has ended"},
			commands: 1,
		},
		"a running command that never prints the line": {
			text:     []string{"'''console running", "$ echo a; sleep 1000", "a", "b", "'''"},
			timeout:  short,
			want:     []string{`after 500ms, the output has no line "b" where it is expected`},
			commands: 1,
		},
		"a running command with another line before fails at once": {
			text:     []string{"'''console running", "$ echo x; echo a; sleep 1000", "a", "'''"},
			want:     []string{`line 1 of the output is "x", expected "a"`},
			commands: 1,
		},
		"a running command that ends": {
			text:     []string{"'''console running", "$ echo a; (exit 2)", "a", "b", "'''"},
			want:     []string{`the command has ended with exit status 2, and the output has no line "b"`},
			commands: 1,
		},
		"more output that never appears": {
			text:     []string{"'''console running", "$ echo a; sleep 1000", "a", "'''", "'''console", "b", "'''"},
			timeout:  short,
			want:     []string{"README.md:6: (the output goes on)\nafter 500ms, the output has no line \"b\""},
			commands: 1,
		},
		"more output where nothing was run": {
			text: []string{"'''console", "b", "'''"},
			want: []string{"README.md:2: output is shown of a terminal in which nothing was run"},
		},
		"^C where nothing was run": {
			text: []string{"'''console", "^C", "'''"},
			want: []string{"README.md:1: ^C: there is nothing to interrupt"},
		},
		"^C on a command that should run and has crashed": {
			text:     []string{"'''console running", "$ echo a; (exit 2)", "a", "…", "'''", "'''console", "…", "b", "'''"},
			want:     []string{"the command has ended with exit status 2"},
			commands: 1,
		},
		"^C that the command ignores": {
			text:     []string{"'''console running", "$ bash -c 'trap \"\" INT; echo a; sleep 1000'", "a", "'''", "'''console", "^C", "'''"},
			timeout:  short,
			want:     []string{"README.md:5: ^C: the command still runs 500ms after SIGINT"},
			commands: 1,
		},
		"a terminal that isn't free": {
			text:     []string{"'''console running", "$ sleep 1000", "'''", "'''console", "$ true", "'''"},
			timeout:  short,
			want:     []string{"README.md:5: $ true\nthe terminal is not free: the command before still runs after 500ms"},
			commands: 1,
		},
		"an invalid block: nothing is run": {
			text: []string{"'''console", "$ false", "'''", "'''console norun", "$ true", "'''"},
			want: []string{"README.md:4: console block: norun needs its reason"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := consoleRepository(t, test.text...)
			problems, commands, err := (&Runner{Root: root, Timeout: test.timeout}).Run(t.Context(), "README.md")
			if err != nil {
				t.Fatal(err)
			}
			if commands != test.commands {
				t.Errorf("%d commands were run, want %d", commands, test.commands)
			}
			wantProblems(t, problems, test.want[0])
			for _, part := range test.want {
				wantProblems(t, problems, part)
			}
		})
	}
}

func TestTheRunnersEnvRootAndLog(t *testing.T) {
	root := consoleRepository(t, "'''console", "$ echo $WHO; test -f sub/inside", "me", "'''")
	var log bytes.Buffer
	runner := Runner{Root: root, Env: []string{"WHO=me"}, Log: &log}
	problems, _, err := runner.Run(t.Context(), "README.md")
	if err != nil {
		t.Fatal(err)
	}
	wantProblems(t, problems)
	if want := "README.md:2: $ echo $WHO; test -f sub/inside\n"; log.String() != want {
		t.Errorf("log is %q, want %q", log.String(), want)
	}
}

func TestRunEndsAllProcesses(t *testing.T) {
	tests := map[string]struct {
		command  string // writes the id of the process into the file pid
		cancel   bool   // the run is cancelled after that
		reported bool   // a problem is that it still runs
	}{
		"a running command":                 {command: "echo $BASHPID > pid; echo ready; exec sleep 1000", reported: true},
		"a running command, when cancelled": {command: "echo $BASHPID > pid; echo > fifo; sleep 1000", cancel: true},
		"a job in the background":           {command: "sleep 1000 & echo $! > pid; echo ready"},
		"a process whose parent has ended":  {command: "(sleep 1000 & echo $! > pid); echo ready"},
		"a process in another group":        {command: "set -m; sleep 1000 & echo $! > pid; set +m; echo ready"},
		"a process that ignores SIGTERM":    {command: "bash -c 'trap \"\" TERM; echo $$ > pid; echo ready; while :; do sleep 1; done'", reported: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := []string{"'''console running", "$ " + test.command, "ready", "'''"}
			root := consoleRepository(t, text...)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if test.cancel {
				go func() {
					_, _ = os.ReadFile(filepath.Join(root, "fifo")) // returns when the command has written to it
					cancel()
				}()
			}

			problems, _, err := (&Runner{Root: root}).Run(ctx, "README.md")
			if test.cancel != errors.Is(err, context.Canceled) {
				t.Fatalf("error: %v", err)
			}
			var want []string
			if test.reported {
				want = append(want, "README.md:2: this still runs at the end of the text")
			}
			wantProblems(t, problems, want...)
			content, err := os.ReadFile(filepath.Join(root, "pid"))
			if err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
			if err != nil {
				t.Fatal(err)
			}
			if alive(pid) {
				t.Errorf("process %d still runs", pid)
			}
		})
	}
}

// consoleRepository has this README, a file sub/inside, and a fifo to synchronise commands.
func consoleRepository(t *testing.T, text ...string) (root string) {
	t.Helper()
	root = repository(t, map[string]string{"README.md": markdownText(text...), "sub/inside": ""})
	if err := unix.Mkfifo(filepath.Join(root, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	return root
}

func alive(pid int) bool {
	p, err := process.NewProcess(int32(pid))
	if err != nil {
		return false
	}
	status, err := p.Status()
	return err == nil && !slices.Contains(status, process.Zombie)
}
