package docs

// This file reads console blocks: fenced blocks with the info string `console`, with the commands
// and output of a terminal. runner.go runs them.
//
//	$ command           goes on in the next line if it ends in a backslash, or if the next line
//	> continued         begins with `> `, the prompt of a here-document
//	output              never begins with `$ `; match.go compares it
//	^C                  as a block's first line, interrupts the command in this terminal
//
// A block that begins with output shows more output of the running command. Words after `console`, in
// this order:
//
//	terminal=NAME       the terminal; the default one has no name
//	exit=N              the exit status of the block's last command; all others exit with 0
//	running             the last command doesn't end: the block is done when its output has
//	                    appeared. It is a job of its own, so its cd doesn't last

import (
	"errors"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
)

const consoleLanguage = "console"

var consoleInfo = regexp.MustCompile(`^console(?: terminal=(\S+))?(?: exit=(\d+))?( running)?$`)

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

// HasCommands reports whether a Runner would run commands of a file.
func HasCommands(root, file string) bool {
	doc, err := readDocument(os.DirFS(root), file)
	if err != nil {
		return false
	}
	blocks, err := consoleBlocks(doc)
	return err == nil && len(blocks) > 0
}

func consoleBlocks(doc *document) (blocks []block, problems error) {
	for _, fenced := range all[*ast.FencedCodeBlock](doc.root) {
		if string(fenced.Language(doc.source)) != consoleLanguage {
			continue
		}
		info := consoleInfo.FindStringSubmatch(string(fenced.Info.Value(doc.source)))
		if info == nil {
			problems = errors.Join(problems, doc.problem(doc.line(fenced), "console block: known are terminal=NAME, exit=N and "+
				"running, in this order"))
			continue
		}
		b := block{line: doc.line(fenced), terminal: info[1], running: info[3] != ""}
		b.exit, _ = strconv.Atoi(info[2]) // "" is 0
		b.readLines(strings.TrimRight(string(fenced.Lines().Value(doc.source)), "\n"))
		blocks = append(blocks, b)
	}
	return blocks, problems
}

func (b *block) readLines(text string) {
	for i, line := range strings.Split(text, "\n") {
		var last *step
		if len(b.steps) > 0 {
			last = &b.steps[len(b.steps)-1]
		}
		command, typed := strings.CutPrefix(line, "$ ")
		switch {
		case line == "^C" && i == 0:
			b.interrupt = true
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
}

func (s *step) continues(line string) bool {
	return s.command != "" && s.output == nil &&
		(strings.HasSuffix(s.command, `\`) || line == ">" || strings.HasPrefix(line, "> "))
}
