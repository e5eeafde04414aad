package gobuild

// What a build says about itself, and how that is read from go's output as it comes.

import (
	"bytes"
	"fmt"
	"strings"
)

// Progress says how far a build is.
type Progress struct {
	Packages int    // compiled so far
	Package  string // the last of them
	Modules  int    // fetched so far
}

func (p Progress) String() string {
	if p.Packages == 0 && p.Modules > 0 {
		return fmt.Sprintf("%d modules fetched", p.Modules)
	}
	return fmt.Sprintf("%d packages compiled", p.Packages)
}

// lastMessages is how many of go's messages are kept to show when it fails.
const lastMessages = 20

// Watcher reads what go prints with -v, as it comes: packages compiled, modules fetched, and messages.
type Watcher struct {
	progress Progress
	report   func(Progress)
	messages []string // the last few lines that are neither
	rest     []byte   // a line that hasn't ended yet
}

// NewWatcher returns a Watcher that calls report, which may be nil, whenever there is progress.
func NewWatcher(report func(Progress)) *Watcher {
	if report == nil {
		report = func(Progress) {}
	}
	return &Watcher{report: report}
}

// Messages are the last few lines that weren't progress.
func (w *Watcher) Messages() []string { return w.messages }

func (w *Watcher) Write(data []byte) (int, error) {
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

func (w *Watcher) read(line string) {
	switch {
	case line == "":
		return
	case strings.HasPrefix(line, "go: downloading "):
		w.progress.Modules++
	case !strings.ContainsAny(line, " :#"): // a package's path, and nothing else
		w.progress.Packages++
		w.progress.Package = line
	default:
		w.messages = append(w.messages, line)
		w.messages = w.messages[max(0, len(w.messages)-lastMessages):]
		return
	}
	w.report(w.progress)
}
