package docs

// This file is one terminal: a bash for the whole file, so that cd, export, functions and
// background jobs last from command to command.
//
// The bash leads its own session, as in a terminal window, and the session identifies its
// processes. A daemon that leaves the session, such as the workshop's cluster, keeps running.

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	gopsutil "github.com/shirou/gopsutil/v4/process"
	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/util/wait"

	"example.com/operators/scripts/internal/process"
)

const (
	pollInterval        = 20 * time.Millisecond // the processes aren't our children, so we can't wait for them
	grace               = 5 * time.Second       // between SIGTERM and SIGKILL
	interruptAgainAfter = 20 * time.Second      // a second ^C would kill the workshop before it has cleaned up
)

type terminal struct {
	bash   *exec.Cmd
	stdin  io.WriteCloser
	output process.Buffer // of the present command and of background jobs

	token string // the end of the present command's output; "" before the first command
	seen  int    // lines of the present command that were already compared
	line  int    // of the text, with the current command
}

// state is the present command's.
type state struct {
	lines  []string // complete lines only, until it has ended
	ended  bool
	status int // if it has ended
}

func openTerminal(dir string, env []string) (*terminal, error) {
	t := &terminal{bash: exec.Command("bash", "--noprofile", "--norc")}
	t.bash.Dir = dir
	t.bash.Env = slices.Concat(os.Environ(), env, []string{"BASH_ENV="}) // bash would read that file
	t.bash.Stdout, t.bash.Stderr = &t.output, &t.output
	t.bash.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	t.bash.WaitDelay = time.Second // a job may hold the output open after bash has exited
	var err error
	if t.stdin, err = t.bash.StdinPipe(); err != nil {
		return nil, fmt.Errorf("opening a terminal: %w", err)
	}
	if signal.Ignored(unix.SIGINT) { // bash would inherit that, and ^C couldn't interrupt it
		signal.Notify(make(chan os.Signal, 1), unix.SIGINT)
	}
	if err := t.bash.Start(); err != nil {
		return nil, fmt.Errorf("opening a terminal: %w", err)
	}
	// Without a trap, bash would exit with a job that SIGINT has ended.
	_, err = io.WriteString(t.stdin, "trap : INT\n")
	return t, err
}

// start types a command. The one before must have ended. A command that keeps running gets a
// subshell, so that an interrupt also ends loops and lists, and its own process group, so that the
// interrupt reaches neither bash nor background jobs.
func (t *terminal) start(command string, running bool) error {
	status := t.look().status
	t.seen, t.token = 0, rand.Text()
	t.output.Reset()
	// With eval, an unclosed quote can't include the next line, and without stdin, a program can't
	// read it. $? is the last command's.
	quoted := "'" + strings.ReplaceAll(command, "'", `'\''`) + "'"
	typed := fmt.Sprintf("(exit %d); eval %s </dev/null", status, quoted)
	if running {
		typed = "set -m\n(set +m; " + typed + ")"
	}
	_, err := fmt.Fprintf(t.stdin, "%s\nprintf '%%s %%d\\n' %s $?\nset +m\n", typed, t.token)
	return err
}

func (t *terminal) look() state {
	if t.token == "" {
		return state{ended: true}
	}
	text, after, _ := strings.Cut(t.output.String(), t.token+" ")
	number, _, ended := strings.Cut(after, "\n")
	s := state{lines: strings.Split(text, "\n"), ended: ended}
	s.status, _ = strconv.Atoi(number)
	if rest := len(s.lines) - 1; !s.ended || s.lines[rest] == "" {
		s.lines = s.lines[:rest]
	}
	s.lines = slices.DeleteFunc(s.lines, isDownload)
	return s
}

// await polls until done returns true, and returns the last state.
func (t *terminal) await(ctx context.Context, timeout time.Duration, done func(state) bool) (state, error) {
	var s state
	err := wait.PollUntilContextTimeout(ctx, pollInterval, timeout, true, func(context.Context) (bool, error) {
		s = t.look()
		return done(s), nil
	})
	return s, err
}

// interrupt sends SIGINT to the running command's process group, as ^C does. It repeats that after
// a while, because a shell that was just forked may lose a signal.
func (t *terminal) interrupt(ctx context.Context, timeout time.Duration) error {
	if s := t.look(); s.ended {
		return fmt.Errorf("there is nothing to interrupt: the command had already ended, with exit status %d", s.status)
	}
	var next time.Time
	_, err := t.await(ctx, timeout, func(s state) bool {
		if !s.ended && time.Now().After(next) {
			// Of bash's children, only the running command leads a group. There may be none yet.
			jobs, _ := (&gopsutil.Process{Pid: int32(t.bash.Process.Pid)}).Children()
			for _, job := range jobs {
				if unix.Kill(-int(job.Pid), unix.SIGINT) == nil {
					next = time.Now().Add(interruptAgainAfter)
				}
			}
		}
		return s.ended
	})
	if err != nil {
		return fmt.Errorf("the command still runs %v after SIGINT", timeout)
	}
	return nil
}

// close ends all processes in the terminal.
func (t *terminal) close() {
	_ = t.stdin.Close()
	_ = process.End(context.Background(), grace, t.processes) // even if the run was cancelled
	_ = t.bash.Wait()
}

// processes returns the session's processes, including bash.
func (t *terminal) processes(ctx context.Context) ([]*gopsutil.Process, error) {
	return process.Find(ctx, func(p *gopsutil.Process) (*gopsutil.Process, bool) {
		sid, err := unix.Getsid(int(p.Pid))
		return p, err == nil && sid == t.bash.Process.Pid
	})
}
