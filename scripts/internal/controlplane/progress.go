package controlplane

// What a build says about itself, and how that is read from go's output as it comes.

import (
	"bytes"
	"fmt"
	"strings"
)

// Progress says how far a build is.
type Progress struct {
	Waiting    string // another command that is building, and waited for; all else is empty then
	Component  string
	Number, Of int  // this component's place among those to build, counted from 1
	Packages   int  // compiled so far, for this component
	Downloads  int  // modules fetched so far, for this component
	Built      bool // the component is finished
}

func (p Progress) String() string {
	switch {
	case p.Waiting != "":
		return "waiting for " + p.Waiting
	case p.Packages == 0 && p.Downloads > 0:
		return fmt.Sprintf("%s (%d of %d), %d modules fetched", p.Component, p.Number, p.Of, p.Downloads)
	default:
		return fmt.Sprintf("%s (%d of %d), %d packages compiled", p.Component, p.Number, p.Of, p.Packages)
	}
}

// lastWords is how many of go's messages are kept to show when it fails.
const lastWords = 8

// watcher reads what `go build -v` prints, as it comes: packages compiled, modules fetched, and messages.
type watcher struct {
	progress Progress
	report   func(Progress)
	messages []string // the last few lines that are neither
	rest     []byte   // a line that hasn't ended yet
}

func (w *watcher) Write(data []byte) (int, error) {
	w.rest = append(w.rest, data...)
	for {
		line, rest, ended := bytes.Cut(w.rest, []byte("\n"))
		if !ended {
			return len(data), nil
		}
		w.rest = rest
		w.read(string(line))
	}
}

func (w *watcher) read(line string) {
	switch {
	case line == "":
		return
	case strings.HasPrefix(line, "go: downloading "):
		w.progress.Downloads++
	case !strings.ContainsAny(line, " :#"): // a package's path, and nothing else
		w.progress.Packages++
	default:
		w.messages = append(w.messages, line)
		w.messages = w.messages[max(0, len(w.messages)-lastWords):]
		return
	}
	w.report(w.progress)
}
