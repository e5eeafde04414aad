package docs

// This file is one terminal: a bash that lives as long as the file's run, so that cd, export, functions and background
// jobs last from command to command. It knows nothing of Markdown or of what output is right.
//
// The bash leads a session of its own, as it would in a terminal window; what it starts is found by that session. A
// daemon that leaves the session (the workshop's cluster does) has asked to outlive its terminal, and does.

import (
	"context"
	"crypto/rand"
	"errors"
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

	"example.com/operators/scripts/internal/output"
	"example.com/operators/scripts/internal/process"
)

const (
	// pollInterval is how often a terminal is looked at: the processes in it aren't our children, so there is nothing
	// else to wait on.
	pollInterval = 20 * time.Millisecond
	// grace is what processes get between SIGTERM and SIGKILL.
	grace = 5 * time.Second
	// again is how long a command has to heed a ^C before it gets another.
	interruptAgainAfter = 5 * time.Second
)

type terminal struct {
	bash   *exec.Cmd
	stdin  io.WriteCloser
	output output.Buffer // of the present command, and what other jobs say meanwhile
	gone   chan struct{} // closed when bash has ended

	token string // the end of the present command's output; "" before the first command
	seen  int    // lines of the present command that were already compared
	line  int    // of the text, with the current command
}

// state is what a look at a terminal shows of the present command.
type state struct {
	lines  []string // complete lines only, until it has ended
	ended  bool
	status int // if it has ended
}

func openTerminal(dir string, env []string) (*terminal, error) {
	t := &terminal{bash: exec.Command("bash", "--noprofile", "--norc"), gone: make(chan struct{})}
	t.bash.Dir = dir
	t.bash.Env = slices.Concat(os.Environ(), env, []string{"BASH_ENV="}) // which a bash fed by a pipe would read
	t.bash.Stdout, t.bash.Stderr = &t.output, &t.output
	t.bash.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	t.bash.WaitDelay = time.Second // a job may hold the output open after bash has exited
	var err error
	if t.stdin, err = t.bash.StdinPipe(); err != nil {
		return nil, fmt.Errorf("opening a terminal: %w", err)
	}
	if signal.Ignored(unix.SIGINT) { // as in a script's background; what bash inherits so, ^C could never interrupt
		signal.Notify(make(chan os.Signal, 1), unix.SIGINT)
	}
	if err := t.bash.Start(); err != nil {
		return nil, fmt.Errorf("opening a terminal: %w", err)
	}
	// Where bash has a trap, a job that dies by SIGINT doesn't take bash along.
	_, _ = io.WriteString(t.stdin, "trap : INT\n")
	go func() {
		defer close(t.gone)
		_ = t.bash.Wait() // its status is in ProcessState
	}()
	return t, nil
}

// start types a command. The one before must have ended. What runs on until it is interrupted is a job of its own, as
// everything is in an interactive bash: in a subshell, so that an interrupt ends loops and lists too, and in a process
// group of its own, so that it reaches neither bash nor jobs in the background.
func (t *terminal) start(command string, running bool) error {
	status := t.look().status
	t.seen, t.token = 0, rand.Text()
	t.output.Reset()
	// eval, so that an unclosed quote can't swallow the next line; no stdin, so that a program can't either; and $? is
	// the last command's, as the reader would see it.
	quoted := "'" + strings.ReplaceAll(command, "'", `'\''`) + "'"
	typed := fmt.Sprintf("(exit %d); eval %s </dev/null", status, quoted)
	if running {
		typed = "set -m\n(set +m; " + typed + ")"
	}
	if _, err := fmt.Fprintf(t.stdin, "%s\nprintf '%%s %%d\\n' %s $?\nset +m\n", typed, t.token); err != nil {
		return errors.New("the terminal's bash has ended")
	}
	return nil
}

func (t *terminal) look() state {
	if t.token == "" {
		return state{ended: true}
	}
	gone := false
	select {
	case <-t.gone: // before the output is read, which is complete then
		gone = true
	default:
	}
	text, after, found := strings.Cut(t.output.String(), t.token+" ")
	number, _, ended := strings.Cut(after, "\n")
	s := state{lines: strings.Split(text, "\n"), ended: ended || gone}
	switch {
	case found && ended:
		s.status, _ = strconv.Atoi(number)
	case gone:
		s.status = t.bash.ProcessState.ExitCode()
	}
	if rest := len(s.lines) - 1; !s.ended || s.lines[rest] == "" {
		s.lines = s.lines[:rest]
	}
	return s
}

// await looks until done says so, and returns what it saw last.
func (t *terminal) await(ctx context.Context, timeout time.Duration, done func(state) bool) (state, error) {
	var s state
	err := wait.PollUntilContextTimeout(ctx, pollInterval, timeout, true, func(context.Context) (bool, error) {
		s = t.look()
		return done(s), nil
	})
	return s, err
}

// interrupt does what ^C does to a running command: SIGINT to its process group. As a reader would, it tries again if that has
// no effect for a while: a shell that has just been forked may lose a signal.
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

// close ends everything in the terminal, and returns when nothing is left.
func (t *terminal) close() {
	_ = t.stdin.Close()
	_ = process.End(context.Background(), grace, t.processes) // also, and above all, when the run was cancelled
	<-t.gone
}

// processes are those of the terminal's session that live, bash included.
func (t *terminal) processes(ctx context.Context) ([]*gopsutil.Process, error) {
	return process.Find(ctx, func(p *gopsutil.Process) (*gopsutil.Process, bool) {
		sid, err := unix.Getsid(int(p.Pid))
		return p, err == nil && sid == t.bash.Process.Pid
	})
}
