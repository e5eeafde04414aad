package gobuild

// How far a build is: `go build -v` names each package that it compiles, and `go list` knows how
// many there are.

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"k8s.io/apimachinery/pkg/util/sets"

	"example.com/operators/scripts/internal/process"
)

// Progress is how far a build is.
type Progress struct {
	Packages int // compiled so far
	Of       int // packages that this build compiles, without those in Go's cache; 0 if not known yet
	Modules  int // fetched so far
}

func (p Progress) String() string {
	english := message.NewPrinter(language.English) // 1,927
	switch {
	case p.Packages == 0 && p.Modules > 0:
		return english.Sprintf("%d modules fetched", p.Modules)
	case p.Of == 0:
		return english.Sprintf("package %d", p.Packages)
	case p.Packages == p.Of:
		return "linking"
	}
	return english.Sprintf("package %d of %d", p.Packages, p.Of)
}

// lastMessages is how many of go's last messages an error shows.
const lastMessages = 20

// watcher reads the output of `go build -v`: packages compiled, modules fetched, and messages.
type watcher struct {
	process.Lines
	report   func(Progress)
	messages []string // the last lines that are neither

	mu       sync.Mutex // guards the fields below
	progress Progress
	compiled sets.Set[string]
}

// newWatcher returns a watcher that calls report, which may be nil, on progress.
func newWatcher(report func(Progress)) *watcher {
	if report == nil {
		report = func(Progress) {}
	}
	w := &watcher{report: report, compiled: sets.New[string]()}
	w.Do = w.read
	return w
}

func (w *watcher) read(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case line == "":
		return
	case strings.HasPrefix(line, "go: downloading "):
		w.progress.Modules++
	case !strings.ContainsAny(line, " :#"): // a package's path, and nothing else
		w.progress.Packages++
		w.compiled.Insert(line)
	default:
		w.messages = append(w.messages, line)
		w.messages = w.messages[max(0, len(w.messages)-lastMessages):]
		return
	}
	w.report(w.progress)
}

// count asks go how many packages it has to compile. A build that takes less than a second isn't
// counted.
func (b Build) count(ctx context.Context, w *watcher) {
	select {
	case <-ctx.Done():
		return
	case <-time.After(time.Second):
	}
	if stale, err := b.Stale(ctx); err == nil { // after an error, the build fails as well, and says why
		w.counted(stale)
	}
}

// Stale asks go for the packages of the build that have to be compiled. With -test in Args, that
// includes those that tests need.
func (b Build) Stale(ctx context.Context) (stale []string, err error) {
	const format = "{{if .Stale}}{{.ImportPath}}{{end}}"
	args := append([]string{"list", "-deps", "-f", format, "-mod=readonly", "-buildvcs=false"}, b.Args...)
	if i := slices.Index(args, "-o"); i >= 0 {
		args = slices.Delete(args, i, i+2) // go list doesn't have this flag
	}
	output, err := b.command(ctx, args...).Output()
	return strings.Fields(string(output)), err
}

// counted learns what the build compiles, besides the packages that it had compiled before go list
// looked.
func (w *watcher) counted(stale []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.progress.Of = w.compiled.Union(sets.New(stale...)).Len()
	w.report(w.progress)
}
