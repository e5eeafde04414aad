package docs

// This file runs a document's console blocks. console.go reads them, terminal.go runs bash, and
// match.go compares the output.

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

const DefaultTimeout = 10 * time.Minute // some compile a lot: code generators, or a program for fuzzing

// excerpt is the number of lines that a problem shows before and after the one that differs.
const excerpt = 15

// Runner runs the console blocks of Markdown files as a reader would. It needs bash.
type Runner struct {
	Root    string        // the repository, in which the terminals start
	Env     []string      // of the terminals, besides this process's
	Timeout time.Duration // for a command to end, or for its output to appear; 0: DefaultTimeout
	Log     io.Writer     // gets a line for each command that starts; may be nil
}

// Run runs all console blocks of one file in order, and returns its problems and the number of
// commands that it started. The first problem ends the run, because later commands build on earlier
// ones. A command that still runs at the end is a problem, too, because the reader's would get in
// the way. A command without output in the text may print anything. When Run returns, all processes
// of its terminals have ended. The error is the context's or that of reading the file.
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
		if problem := run.block(ctx, b); ctx.Err() != nil {
			return nil, run.commands, ctx.Err()
		} else if problem != nil {
			problem.Message += "\nThe rest of this file was not run."
			return []Problem{*problem}, run.commands, nil
		}
	}
	return run.leftRunning(ctx), run.commands, nil
}

// run is one run of one file. Its methods return nil if there is no problem.
type run struct {
	Runner
	doc       *document
	terminals map[string]*terminal
	commands  int
}

// leftRunning reports the commands that still run, after a moment to end by themselves.
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

// judge waits until a command has exited, and compares all of its output and its exit status. With
// follow, it waits until the lines in the text are the next output of a running command.
func (r *run) judge(ctx context.Context, t *terminal, s step, follow bool, exit int) *Problem {
	now, err := t.await(ctx, r.Timeout, func(now state) bool {
		used, _, _ := match(s.output, now.lines[t.seen:])
		return now.ended || follow && used >= 0
	})
	lines := now.lines[t.seen:]
	if !follow {
		lines = trimBlank(lines)
	}
	used, line, why := match(s.output, lines)
	switch {
	case follow && used >= 0:
		t.seen += used
		return nil
	case follow && err != nil:
		why = fmt.Sprintf("after %v, %s", r.Timeout, why)
	case follow:
		why = fmt.Sprintf("the command has ended with exit status %d, and %s", now.status, why)
	case err != nil:
		why = fmt.Sprintf("the command still runs after %v", r.Timeout)
	case now.status != exit:
		why = fmt.Sprintf("exit status %d, expected %d", now.status, exit)
	case len(s.output) == 0 || why == "":
		t.seen = len(now.lines)
		return nil
	}
	return r.differ(s, lines, line, why)
}

func (s state) hasEnded() bool { return s.ended }

func (r *run) fail(line int, format string, args ...any) *Problem {
	problem := r.doc.problem(line, format, args...)
	return &problem
}

// differ shows the text and the output around the line that differs.
func (r *run) differ(s step, lines []string, line int, why string) *Problem {
	command := "(the output goes on)"
	if s.command != "" {
		command = "$ " + s.command
	}
	if len(s.output) == 0 {
		line = len(lines) // any output is right, so its end says most
	}
	from, to := max(0, line-excerpt), min(len(lines), line+excerpt)
	return r.fail(s.line, "%s\n%s\nexpected: %s\ncame (lines %d to %d of %d): %s",
		command, why, indent(s.output), from+1, to, len(lines), indent(lines[from:to]))
}

func indent(lines []string) string {
	return strings.Join(append([]string{""}, lines...), "\n    ")
}

func (r *run) close() {
	var closing sync.WaitGroup
	for _, t := range r.terminals {
		closing.Go(t.close)
	}
	closing.Wait()
}
