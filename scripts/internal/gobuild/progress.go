package gobuild

// How far a build is: `go build -v` names each package that it compiles, and `go list` knows how
// many there are.

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"example.com/operators/scripts/internal/process"
)

// Progress is how far a build is. Of and Left are 0 while they are unknown.
type Progress struct {
	Packages int           // compiled so far
	Of       int           // packages that this build compiles; those in Go's cache don't count
	Left     time.Duration // an estimate, until the last package is compiled
	Modules  int           // fetched so far
}

func (p Progress) String() string {
	english := message.NewPrinter(language.English) // 1,927
	switch {
	case p.Packages == 0 && p.Modules > 0:
		return english.Sprintf("%d modules fetched", p.Modules)
	case p.Of == 0:
		return english.Sprintf("%d packages", p.Packages)
	}
	text := english.Sprintf("%d of %d packages", p.Packages, p.Of)
	if p.Packages == p.Of {
		return text + ", linking"
	}
	if minutes := p.Left.Round(time.Minute).Minutes(); minutes >= 1 {
		text += fmt.Sprintf(", about %.0f min left", minutes)
	} else if p.Left > 0 {
		text += ", less than a minute left"
	}
	return text
}

// lastMessages is how many of go's last messages an error shows.
const lastMessages = 20

// Watcher reads the output of `go build -v`: packages compiled, modules fetched, and messages.
type Watcher struct {
	process.Lines
	report   func(Progress)
	messages []string // the last lines that are neither

	mu       sync.Mutex // guards the fields below
	progress Progress
	begun    time.Time
	compiled []string
	sizes    map[string]int64 // of packages, in bytes; nil until counted
	all      int64            // bytes that this build compiles
	done     int64
}

// NewWatcher returns a Watcher that calls report, which may be nil, on progress.
func NewWatcher(report func(Progress)) *Watcher {
	if report == nil {
		report = func(Progress) {}
	}
	w := &Watcher{report: report, begun: time.Now()}
	w.Do = w.read
	return w
}

func (w *Watcher) read(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case line == "":
		return
	case strings.HasPrefix(line, "go: downloading "):
		w.progress.Modules++
	case !strings.ContainsAny(line, " :#"): // a package's path, and nothing else
		w.progress.Packages++
		w.compiled = append(w.compiled, line)
		w.done += w.sizes[line]
	default:
		w.messages = append(w.messages, line)
		w.messages = w.messages[max(0, len(w.messages)-lastMessages):]
		return
	}
	w.estimate()
	w.report(w.progress)
}

// count asks go how many packages it has to compile. A build that takes less than a second isn't
// counted.
func (b Build) count(ctx context.Context, w *Watcher) {
	select {
	case <-ctx.Done():
		return
	case <-time.After(time.Second):
	}
	if list, err := b.list(ctx); err == nil { // after an error, the build fails as well, and says why
		w.counted(bytes.NewReader(list))
	}
}

// list asks go for all packages of the build, whether they have to be compiled, and their files.
func (b Build) list(ctx context.Context) ([]byte, error) {
	args := slices.Clone(b.Args)
	if i := slices.Index(args, "-o"); i >= 0 {
		args = slices.Delete(args, i, i+2) // go list doesn't have this flag
	}
	// Unless go is asked for embedded files too, it takes packages that have some for stale.
	const fields = "-json=ImportPath,Stale,Dir,GoFiles,EmbedFiles"
	return b.command(ctx, append([]string{"list", "-deps", fields, "-mod=readonly", "-buildvcs=false"}, args...)...).Output()
}

// counted reads the output of go list.
func (w *Watcher) counted(list io.Reader) {
	sizes := map[string]int64{}
	stale := map[string]bool{}
	for decoder := json.NewDecoder(list); ; {
		var p struct {
			ImportPath, Dir string
			Stale           bool
			GoFiles         []string
		}
		if decoder.Decode(&p) != nil {
			break
		}
		stale[p.ImportPath] = p.Stale
		for _, file := range p.GoFiles {
			if info, err := os.Stat(filepath.Join(p.Dir, file)); err == nil {
				sizes[p.ImportPath] += info.Size()
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, name := range w.compiled { // some of them before go list looked
		w.done += sizes[name]
		stale[name] = true
	}
	for name, toCompile := range stale {
		if toCompile {
			w.progress.Of++
			w.all += sizes[name]
		}
	}
	w.sizes = sizes
	w.estimate()
	w.report(w.progress)
}

// estimate takes the time for each byte of source to be the same. It says nothing before a
// hundredth is done.
func (w *Watcher) estimate() {
	if w.done > 0 && w.done >= w.all/100 {
		w.progress.Left = time.Duration(float64(time.Since(w.begun)) * float64(w.all-w.done) / float64(w.done))
	}
}
