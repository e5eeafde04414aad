package docs

// This file runs a document's console blocks. console.go reads them, terminal.go runs bash, and
// match.go compares the output.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

const defaultTimeout = 10 * time.Minute // some compile a lot: code generators, or a program for fuzzing

// excerpt is the number of lines that a problem shows before and after the one that differs.
const excerpt = 15

// Runner runs the console blocks of Markdown files as a reader would. It needs bash.
type Runner struct {
	Root     string               // the repository, in which the terminals start
	Env      []string             // of the terminals, besides this process's
	Timeout  time.Duration        // for a command to end, or for its output to appear; 0: defaultTimeout
	Starting func(command string) // called with each command and its place; may be nil

	doc       *document
	terminals map[string]*terminal
	commands  int
}

// Run runs all console blocks of one file in order, and returns the number of commands that it
// started. The first problem ends the run, because later commands build on earlier ones. A command
// that still runs at the end is a problem, too, because the reader's would get in the way. A command
// without output in the text may print anything. When Run returns, all processes of its terminals
// have ended.
func (r *Runner) Run(ctx context.Context, file string) (commands int, err error) {
	doc, err := readDocument(os.DirFS(r.Root), file)
	if err != nil {
		return 0, err
	}
	blocks, err := consoleBlocks(doc)
	if err != nil {
		return 0, err
	}
	r.Timeout = cmp.Or(r.Timeout, defaultTimeout)
	r.doc, r.terminals, r.commands = doc, map[string]*terminal{}, 0
	defer r.close()
	for _, b := range blocks {
		err := r.block(ctx, b)
		if ctx.Err() != nil {
			return r.commands, ctx.Err()
		}
		if err != nil {
			return r.commands, fmt.Errorf("%w\nthe rest of this file was not run", err)
		}
	}
	return r.commands, r.leftRunning(ctx)
}

// leftRunning reports the commands that still run, after some time to end by themselves.
func (r *Runner) leftRunning(ctx context.Context) (err error) {
	for _, t := range r.terminals {
		if s, _ := t.await(ctx, grace, state.hasEnded); !s.ended {
			err = errors.Join(err, r.doc.problem(t.line, "this still runs at the end of the text: stop it there with ^C"))
		}
	}
	return err
}

func (r *Runner) block(ctx context.Context, b block) error {
	t, err := r.terminal(b.terminal)
	if err != nil {
		return r.doc.problem(b.line, "%w", err)
	}
	if b.interrupt {
		if err := t.interrupt(ctx, r.Timeout); err != nil {
			return r.doc.problem(b.line, "^C: %w", err)
		}
	}
	for i, s := range b.steps {
		running, exit := false, 0
		if i == len(b.steps)-1 {
			running, exit = b.running, b.exit
		}
		if s.command == "" && t.token == "" {
			return r.doc.problem(s.line, "output is shown of a terminal in which nothing was run")
		}
		if s.command != "" {
			if err := r.start(ctx, t, s, running); err != nil {
				return err
			}
		}
		if err := r.judge(ctx, t, s, running || s.command == "", exit); err != nil {
			return err
		}
	}
	return nil
}

func (r *Runner) terminal(name string) (*terminal, error) {
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
func (r *Runner) start(ctx context.Context, t *terminal, s step, running bool) error {
	if _, err := t.await(ctx, r.Timeout, state.hasEnded); err != nil {
		const text = "$ %s\nthe terminal is not free: the command before still runs after %v"
		return r.doc.problem(s.line, text, s.command, r.Timeout)
	}
	if r.Starting != nil {
		r.Starting(fmt.Sprintf("%s:%d: $ %s", r.doc.file, s.line, s.command))
	}
	if err := t.start(s.command, running); err != nil {
		return r.doc.problem(s.line, "$ %s\n%w", s.command, err)
	}
	r.commands++
	t.line = s.line
	return nil
}

// judge waits until a command has exited, and compares all of its output and its exit status. With
// follow, it waits until the lines in the text are the next output of a running command.
func (r *Runner) judge(ctx context.Context, t *terminal, s step, follow bool, exit int) error {
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

// differ shows the text and the output around the line that differs.
func (r *Runner) differ(s step, lines []string, line int, why string) error {
	command := "(the output goes on)"
	if s.command != "" {
		command = "$ " + s.command
	}
	if len(s.output) == 0 {
		line = len(lines) // any output is right, so its end says most
	}
	from, to := max(0, line-excerpt), min(len(lines), line+excerpt)
	return r.doc.problem(s.line, "%s\n%s\nexpected: %s\ncame (lines %d to %d of %d): %s",
		command, why, indent(s.output), from+1, to, len(lines), indent(lines[from:to]))
}

func indent(lines []string) string {
	return strings.Join(append([]string{""}, lines...), "\n    ")
}

func (r *Runner) close() {
	for _, t := range r.terminals {
		t.close()
	}
}
