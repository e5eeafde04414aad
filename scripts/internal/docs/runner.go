package docs

// This file runs a document's console blocks and judges what comes. Reading them is console.go's, bash is terminal.go's,
// and what counts as equal match.go's.

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// DefaultTimeout is how long a command has when the Runner doesn't say.
const DefaultTimeout = 5 * time.Minute // some compile a lot: code generators, or a program for fuzzing

// excerpt is how many lines of output a problem shows before and after the one that differs.
const excerpt = 15

// Runner runs the console blocks of Markdown files as a reader would. It needs bash.
type Runner struct {
	Root    string        // the repository
	Env     []string      // of the terminals, as os.Environ has it; nil: this process's
	Dir     string        // where the terminals start; "": Root
	Timeout time.Duration // for a command to end, or for shown output to appear; 0: DefaultTimeout
	Log     io.Writer     // gets a line for each command that starts; nil: nobody
}

// Run runs all console blocks of one file in order, and returns its problems and the number of commands that it
// started. The first problem ends the run, since later commands build on earlier ones. A command that still runs at the end is one, too: the
// reader's goes on, and is in the way of what they read next. A command that no output is
// shown for may print anything: only its exit status counts. When Run returns, whatever the reason, every process of
// its terminals has ended. The error is the context's, or says why the file can't be read.
func (r *Runner) Run(ctx context.Context, file string) ([]Problem, int, error) {
	doc, err := readDocument(os.DirFS(r.Root), file)
	if err != nil {
		return nil, 0, err
	}
	blocks, problems := consoleBlocks(doc)
	if len(problems) > 0 {
		return problems, 0, nil
	}
	run := &run{Runner: *r, doc: doc, terminals: map[string]*terminal{}, started: map[*terminal]int{}}
	run.Timeout = cmp.Or(r.Timeout, DefaultTimeout)
	defer run.close()
	for _, b := range blocks {
		if b.norun {
			continue
		}
		if problem := run.block(ctx, b); ctx.Err() != nil {
			return nil, run.commands, ctx.Err()
		} else if problem != nil {
			problem.Message += "\nThe rest of this file was not run."
			return []Problem{*problem}, run.commands, nil
		}
	}
	return run.leftRunning(ctx), run.commands, nil
}

// run is one run of one file. Its methods return nil for a step that held.
type run struct {
	Runner
	doc       *document
	terminals map[string]*terminal
	started   map[*terminal]int // the line of the last command that doesn't end by itself
	commands  int
}

// leftRunning are the commands that nobody has ended. One that has just printed its last line has a moment to end.
func (r *run) leftRunning(ctx context.Context) (problems []Problem) {
	for t, line := range r.started {
		if s, _ := t.await(ctx, grace, func(s state) bool { return s.ended }); !s.ended {
			problems = append(problems, *r.fail(line, "this still runs at the end of the text: end it there, by ^C"))
		}
	}
	return problems
}

func (r *run) block(ctx context.Context, b block) *Problem {
	t, err := r.terminal(b.terminal)
	if err != nil {
		return r.fail(b.line, "%v", err)
	}
	if b.interrupt {
		if err := t.interrupt(ctx, r.Timeout); err != nil {
			return r.fail(b.line, "^C: %v", err)
		}
	}
	for i, s := range b.steps {
		running, exit := false, 0
		if i == len(b.steps)-1 {
			running, exit = b.running, b.exit
		}
		var problem *Problem
		if s.command != "" {
			problem = r.start(ctx, t, s, running)
		}
		switch {
		case problem != nil:
		case s.command == "" || running:
			problem = r.follow(ctx, t, s)
		default:
			problem = r.finish(ctx, t, s, exit)
		}
		if problem != nil {
			return problem
		}
	}
	return nil
}

// terminal is the terminal of this name, opened when it is first used.
func (r *run) terminal(name string) (*terminal, error) {
	if t := r.terminals[name]; t != nil {
		return t, nil
	}
	env := r.Env
	if env == nil {
		env = os.Environ()
	}
	t, err := openTerminal(cmp.Or(r.Dir, r.Root), env)
	if err == nil {
		r.terminals[name] = t
	}
	return t, err
}

// start types a command, once the one before it has ended.
func (r *run) start(ctx context.Context, t *terminal, s step, running bool) *Problem {
	if _, err := t.await(ctx, r.Timeout, state.hasEnded); err != nil {
		return r.fail(s.line, "$ %s\nthe terminal is not free: the command before still runs after %v", s.command, r.Timeout)
	}
	if r.Log != nil {
		_, _ = fmt.Fprintf(r.Log, "%s:%d: $ %s\n", r.doc.file, s.line, s.command)
	}
	if err := t.start(s.command, running); err != nil {
		return r.fail(s.line, "$ %s\n%v", s.command, err)
	}
	r.commands++
	if running {
		r.started[t] = s.line
	}
	return nil
}

// finish waits until the command has ended, and judges all of its output and its exit status.
func (r *run) finish(ctx context.Context, t *terminal, s step, exit int) *Problem {
	end, err := t.await(ctx, r.Timeout, state.hasEnded)
	lines := trimBlank(end.lines)
	m := compile(s.output).match(lines)
	t.seen = len(end.lines)
	switch {
	case err != nil:
		return r.differ(s, lines, m, fmt.Sprintf("the command still runs after %v", r.Timeout))
	case end.status != exit:
		return r.differ(s, lines, m, fmt.Sprintf("exit status %d, expected %d", end.status, exit))
	case len(s.output) > 0 && !m.whole:
		return r.differ(s, lines, m, m.why(s.output, lines))
	}
	return nil
}

// follow waits until what is shown has appeared after what was already seen. More may follow; nothing may stand before
// or between.
func (r *run) follow(ctx context.Context, t *terminal, s step) *Problem {
	if t.token == "" {
		return r.fail(s.line, "output is shown of a terminal in which nothing was run")
	}
	p := compile(s.output)
	var m match
	var lines []string
	now, err := t.await(ctx, r.Timeout, func(now state) bool {
		lines = now.lines[t.seen:]
		m = p.match(lines)
		return m.used >= 0 || m.stuck || now.ended
	})
	switch {
	case m.used >= 0:
		t.seen += m.used
		return nil
	case err != nil:
		return r.differ(s, lines, m, fmt.Sprintf("after %v, ", r.Timeout)+m.why(s.output, lines))
	case now.ended:
		ended := fmt.Sprintf("the command has ended with exit status %d, and ", now.status)
		return r.differ(s, lines, m, ended+m.why(s.output, lines))
	}
	return r.differ(s, lines, m, m.why(s.output, lines))
}

func (s state) hasEnded() bool { return s.ended }

func (r *run) fail(line int, format string, args ...any) *Problem {
	problem := r.doc.problem(line, format, args...)
	return &problem
}

// differ shows why a step failed, with what was expected and what came.
func (r *run) differ(s step, lines []string, m match, why string) *Problem {
	command := "(the output goes on)"
	if s.command != "" {
		command = "$ " + s.command
	}
	expected := "anything"
	if len(s.output) > 0 {
		expected = indent(s.output)
	}
	from, to := max(0, m.line-excerpt), min(len(lines), m.line+excerpt+1)
	if len(s.output) == 0 {
		from, to = max(0, len(lines)-2*excerpt), len(lines)
	}
	came := "nothing"
	if len(lines) > 0 {
		came = indent(lines[from:to])
	}
	if to-from < len(lines) {
		came = fmt.Sprintf("(lines %d to %d of %d)%s", from+1, to, len(lines), came)
	}
	return r.fail(s.line, "%s\n%s\nexpected: %s\ncame: %s", command, why, expected, came)
}

// indent lays out lines below a problem's sentence, each cut to what a terminal shows in a few lines.
func indent(lines []string) string {
	const most = 300
	var indented strings.Builder
	for _, line := range lines {
		if len(line) > most {
			line = strings.ToValidUTF8(line[:most], "") + fmt.Sprintf("… (%d bytes)", len(line))
		}
		indented.WriteString("\n    " + line)
	}
	return indented.String()
}

func (r *run) close() {
	var closing sync.WaitGroup
	for _, t := range r.terminals {
		closing.Go(t.close)
	}
	closing.Wait()
}
