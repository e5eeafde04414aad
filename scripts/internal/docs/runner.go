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
	Root    string        // the repository, in which the terminals start
	Env     []string      // of the terminals, besides this process's
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
	run := &run{Runner: *r, doc: doc, terminals: map[string]*terminal{}}
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
	commands  int
}

// leftRunning are the commands that nobody has ended. One that has just printed its last line has a moment to end.
func (r *run) leftRunning(ctx context.Context) (problems []Problem) {
	for _, t := range r.terminals {
		if s, _ := t.await(ctx, grace, state.hasEnded); !s.ended {
			problems = append(problems, *r.fail(t.line, "this still runs at the end of the text: stop it there with ^C"))
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
		if s.command == "" && t.token == "" {
			return r.fail(s.line, "output is shown of a terminal in which nothing was run")
		}
		if s.command != "" {
			if problem := r.start(ctx, t, s, running); problem != nil {
				return problem
			}
		}
		if problem := r.judge(ctx, t, s, running || s.command == "", exit); problem != nil {
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
	t, err := openTerminal(r.Root, r.Env)
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
	t.line = s.line
	return nil
}

// judge waits until a command has exited, then compares all of its output and its exit status. If
// the command keeps running, judge waits until the lines in the text appear after the output so
// far. More output may follow them, but none may come before or between them.
func (r *run) judge(ctx context.Context, t *terminal, s step, follow bool, exit int) *Problem {
	p := compile(s.output)
	now, err := t.await(ctx, r.Timeout, func(now state) bool {
		m := p.match(now.lines[t.seen:])
		return now.ended || follow && (m.used >= 0 || m.stuck)
	})
	lines := now.lines[t.seen:]
	if !follow {
		lines = trimBlank(lines)
	}
	m := p.match(lines)
	why := m.why(s.output, lines)
	switch {
	case follow && m.used >= 0:
		t.seen += m.used
		return nil
	case follow && err != nil:
		why = fmt.Sprintf("after %v, %s", r.Timeout, why)
	case follow && now.ended:
		why = fmt.Sprintf("the command has ended with exit status %d, and %s", now.status, why)
	case follow: // the output differs already
	case err != nil:
		why = fmt.Sprintf("the command still runs after %v", r.Timeout)
	case now.status != exit:
		why = fmt.Sprintf("exit status %d, expected %d", now.status, exit)
	case len(s.output) == 0 || m.whole:
		t.seen = len(now.lines)
		return nil
	}
	return r.differ(s, lines, m, why)
}

func (s state) hasEnded() bool { return s.ended }

func (r *run) fail(line int, format string, args ...any) *Problem {
	problem := r.doc.problem(line, format, args...)
	return &problem
}

func (r *run) differ(s step, lines []string, m match, why string) *Problem {
	command := "(the output goes on)"
	if s.command != "" {
		command = "$ " + s.command
	}
	expected, came := "anything", "nothing"
	from, to := max(0, len(lines)-2*excerpt), len(lines)
	if len(s.output) > 0 {
		expected = indent(s.output)
		from, to = max(0, m.line-excerpt), min(len(lines), m.line+excerpt+1)
	}
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
