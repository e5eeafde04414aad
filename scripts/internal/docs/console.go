package docs

// This file reads console blocks: fenced blocks with the info string `console`, with the commands
// and output of a terminal. runner.go runs them.
//
//	$ command           goes on in the next line if it ends in a backslash, or if the next line
//	> continued         begins with `> `, the prompt of a here-document
//	output              never begins with `$ `; match.go compares it
//	^C                  as a block's first line, interrupts the command in this terminal
//
// A block that begins with output shows more output of the running command. Words after `console`:
//
//	terminal=NAME       the terminal; the default one has no name
//	exit=N              the exit status of the block's last command; all others exit with 0
//	running             the last command doesn't end: the block is done when its output has
//	                    appeared. It is a job of its own, so its cd doesn't last

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
)

const consoleLanguage = "console"

type block struct {
	line      int // its fence's
	terminal  string
	exit      int
	running   bool
	interrupt bool
	steps     []step
}

type step struct {
	line    int
	command string // "" for more output of the command that runs
	output  []string
}

// Commands returns how many commands of a file a Runner runs.
func Commands(root, file string) (int, error) {
	doc, err := readDocument(os.DirFS(root), file)
	if err != nil {
		return 0, err
	}
	blocks, err := consoleBlocks(doc)
	commands := 0
	for _, b := range blocks {
		commands += len(slices.DeleteFunc(b.steps, func(s step) bool { return s.command == "" }))
	}
	return commands, err
}

func consoleBlocks(doc *document) (blocks []block, problems error) {
	for _, fenced := range all[*ast.FencedCodeBlock](doc.root) {
		if string(fenced.Language(doc.source)) != consoleLanguage {
			continue
		}
		b := block{line: doc.line(fenced)}
		err := b.readInfo(string(fenced.Info.Value(doc.source)))
		if err == nil {
			err = b.readLines(strings.TrimRight(string(fenced.Lines().Value(doc.source)), "\n"))
		}
		if err != nil {
			problems = errors.Join(problems, doc.problem(fenced, "console block: %w", err))
			continue
		}
		blocks = append(blocks, b)
	}
	return blocks, problems
}

func (b *block) readInfo(info string) (err error) {
	for _, word := range strings.Fields(info)[1:] {
		name, value, _ := strings.Cut(word, "=")
		switch {
		case name == "terminal" && value != "":
			b.terminal = value
		case name == "exit" && value != "":
			if b.exit, err = strconv.Atoi(value); err != nil {
				return fmt.Errorf("exit=%s is no exit status", value)
			}
		case word == "running":
			b.running = true
		default:
			return fmt.Errorf("%q means nothing here: known are terminal=NAME, exit=N and running", word)
		}
	}
	return nil
}

func (b *block) readLines(text string) error {
	for i, line := range strings.Split(text, "\n") {
		var last *step
		if len(b.steps) > 0 {
			last = &b.steps[len(b.steps)-1]
		}
		command, typed := strings.CutPrefix(line, "$ ")
		switch {
		case line == "^C" && i == 0:
			b.interrupt = true
		case line == "^C":
			return fmt.Errorf("^C can only be a block's first line: begin a new block")
		case last != nil && last.continues(line):
			if line == ">" { // an empty line, whose prompt has lost its space
				line = ""
			}
			last.command += "\n" + strings.TrimPrefix(line, "> ")
		case typed:
			b.steps = append(b.steps, step{line: b.line + 1 + i, command: command})
		case last != nil:
			last.output = append(last.output, line)
		case strings.TrimSpace(line) != "":
			b.steps = []step{{line: b.line + 1 + i, output: []string{line}}}
		}
	}
	for i := range b.steps {
		b.steps[i].output = trimBlank(b.steps[i].output)
	}
	return nil
}

func (s *step) continues(line string) bool {
	return s.command != "" && s.output == nil &&
		(strings.HasSuffix(s.command, `\`) || line == ">" || strings.HasPrefix(line, "> "))
}
