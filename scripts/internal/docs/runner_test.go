package docs

import (
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
		"a running command, more output, ^C, its last output, and the next command": {
			text: []string{
				"'''console running", "$ echo before", "before", "$ " + echoesUntilInterrupted, "ready", "'''",
				"'''console terminal=two", "$ echo more > fifo", "'''",
				"'''console", "got more", "'''",
				"'''console", "^C", "bye", "$ echo free", "free", "'''",
			},
			commands: 4,
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
				"'''console", `$ (set -m; bash -c 'trap "echo hit" INT; echo up > fifo; read <fifo; echo unhurt' &)`,
				"$ read <fifo", "'''",
				"'''console running", "$ sleep 1000", "'''",
				"'''console", "^C", "'''",
				"'''console running", "$ echo go > fifo; sleep 1000", "unhurt", "'''",
				"'''console", "^C", "'''",
			},
			commands: 4,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := consoleRepository(t, test.text...)
			commands, err := (&Runner{Root: root}).Run(t.Context(), "README.md")
			wantProblems(t, err)
			if commands != test.commands {
				t.Errorf("%d commands were run, want %d", commands, test.commands)
			}
		})
	}
}

// echoesUntilInterrupted prints ready, each line from the fifo, and bye when it is interrupted.
const echoesUntilInterrupted = `bash -c 'trap "echo bye; exit" INT; echo ready; ` +
	`while read -r line; do echo got $line; done <>fifo'`

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
				"README.md:4: $ printf", "\nthe output has no line \"b\" after its line 1\n",
				"expected: \n    a\n    b\n", "came (lines 1 to 2 of 2): \n    a\n    c\n", "the rest of this file was not run",
			},
			commands: 1,
		},
		"a failure shows its output, and ends the run": {
			text:     []string{"'''console", "$ echo sorry; false", "'''", "'''console", "$ true", "'''"},
			want:     []string{"README.md:2: $ echo sorry; false\nexit status 1, expected 0\n", "\n    sorry\n"},
			commands: 1,
		},
		"a command that doesn't end": {
			text:     []string{"'''console", "$ echo a; sleep 1000", "a", "'''"},
			timeout:  short,
			want:     []string{"the command still runs after 500ms", "\n    a\n"},
			commands: 1,
		},
		"a running command that never prints the line": {
			text:     []string{"'''console running", "$ echo a; sleep 1000", "a", "b", "'''"},
			timeout:  short,
			want:     []string{`after 500ms, the output has no line "b"`},
			commands: 1,
		},
		"^C where nothing was run": {
			text: []string{"'''console", "^C", "'''"},
			want: []string{"README.md:1: ^C: there is nothing to interrupt"},
		},
		"a terminal that isn't free": {
			text:     []string{"'''console running", "$ sleep 1000", "'''", "'''console", "$ true", "'''"},
			timeout:  short,
			want:     []string{"README.md:5: $ true\nthe terminal is not free: the command before still runs after 500ms"},
			commands: 1,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := consoleRepository(t, test.text...)
			commands, err := (&Runner{Root: root, Timeout: test.timeout}).Run(t.Context(), "README.md")
			if commands != test.commands {
				t.Errorf("%d commands were run, want %d", commands, test.commands)
			}
			wantProblems(t, err, test.want...)
		})
	}
}

func TestRunEndsAllProcesses(t *testing.T) {
	tests := map[string]struct {
		command  string // writes the id of the process into the file pid
		reported bool   // a problem is that it still runs
	}{
		"a running command":       {command: "echo $BASHPID > pid; echo ready; exec sleep 1000", reported: true},
		"a job in the background": {command: "sleep 1000 & echo $! > pid; echo ready"},
		"a process that ignores SIGTERM": {
			command:  `bash -c 'trap "" TERM; echo $$ > pid; echo ready; while :; do sleep 1; done'`,
			reported: true,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := []string{"'''console running", "$ " + test.command, "ready", "'''"}
			root := consoleRepository(t, text...)
			_, err := (&Runner{Root: root}).Run(t.Context(), "README.md")
			var want []string
			if test.reported {
				want = append(want, "README.md:2: this still runs at the end of the text")
			}
			wantProblems(t, err, want...)
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

// consoleRepository has this README, a file sub/inside, and a fifo to synchronize commands.
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
