package chapterdiff

// This file pairs the files of two chapters, and sorts them for reading.

import (
	"cmp"
	"maps"
	"slices"

	"example.com/operators/scripts/internal/chapters"
)

// lessons are the files with what a chapter teaches, in reading order. The first has no diff. Files
// of the chapter before, which are gone, may be among them.
var lessons = map[string][]string{
	"02": {"informers.go", "read.go", "index.go"},
	"03": {"queue.go", "informers.go"},
	"04": {
		"pkg/apis/samplecontroller/v1alpha1/types.go", "pkg/apis/samplecontroller/v1alpha1/doc.go",
		"pkg/apis/samplecontroller/v1alpha1/register.go", "pkg/client/foos.go", "informers.go", "main.go",
		"write.go", "desired.go", "merge.go", "read.go", "reconcile.go",
	},
	"05": {"foo_controller.go", "main.go", "deployment.go", "status.go"},
	"06": {"pkg/apis/samplecontroller/v1alpha1/types.go", "foo_controller.go", "internal/webhook/v1alpha1/foo_webhook.go"},
	"07": {
		"internal/schedule/schedule.go", "internal/controller/tdset_controller.go",
		"internal/controller/drain.go", "internal/controller/conditions.go",
	},
}

// passes has a title for the first file of each pass, if a chapter's text reads the code in more
// than one.
var passes = map[string]map[string]string{
	"04": {
		"pkg/apis/samplecontroller/v1alpha1/types.go": "First pass: generated clients",
		"write.go": "Second pass: server-side apply",
	},
}

// skeleton is the order of the other files.
var skeleton = []string{
	"informers.go", "events.go", "queue.go", "read.go", "write.go", "reconcile.go", "desired.go", "main.go", "leader.go",
}

// Files are shown in the order of their states.
type state int

const (
	stateSame state = iota
	stateChanged
	stateNew  // in B only
	stateGone // in A only
)

// solves names the file that does the same as the solution of a chapter's exercise TDSet in the
// chapter before or after, where it is given.
var solves = map[string]string{
	"01": "run.go", "02": "run.go", "03": "queue.go",
	"04": "clients.go", "05": "tdset_controller.go", "06": "pkg/apis/schedule/v1/types.go",
}

// pair is a file in both chapters, or in one of them.
type pair struct {
	name           string // the one that all chapters use
	a, b           *file  // nil: not there
	nowGenerated   bool   // b is nil since a generator writes it now
	lesson         bool
	pass           string // the title of the pass that begins with this file, or ""
	hunks          []hunk
	removed, added tally
}

func (p pair) state() state {
	switch {
	case p.b == nil:
		return stateGone
	case p.a == nil:
		return stateNew
	case len(p.hunks) > 0:
		return stateChanged
	}
	return stateSame
}

func (p pair) kind() kind { return cmp.Or(p.b, p.a).kind }

// pairUp pairs files of the same name. If just one of them is generated, it counts as missing.
func pairUp(a, b map[string]*file) []pair {
	names := maps.Clone(a)
	maps.Copy(names, b)
	var pairs []pair
	for name := range names {
		p := pair{name: name, a: a[name], b: b[name]}
		if p.a != nil && p.b != nil && p.a.kind != p.b.kind {
			switch kindGenerated {
			case p.a.kind:
				p.a = nil
			case p.b.kind:
				p.b, p.nowGenerated = nil, true
			}
		}
		pairs = append(pairs, p)
	}
	return pairs
}

// byCommonName keys a chapter's files by the names that all chapters use.
func byCommonName(chapter chapters.Chapter, files []file) map[string]*file {
	renamed := chapters.InProject
	if chapter.Solved {
		renamed = map[string]string{solves[chapter.Number()]: "solution.go"}
	}
	named := map[string]*file{}
	for i := range files {
		named[files[i].path] = &files[i]
	}
	for common, theirs := range renamed {
		if f := named[theirs]; f != nil && named[common] == nil {
			delete(named, theirs)
			named[common] = f
		}
	}
	return named
}

// inReadingOrder marks the files of the lesson, and sorts them before the other code, warm-ups,
// tests, manifests and exercises: changed files before new ones before deleted ones.
func inReadingOrder(pairs []pair, lesson []string, passes map[string]string) {
	for i, p := range pairs {
		pairs[i].lesson = slices.Contains(lesson, p.name) && p.b != nil && len(passes) == 0 // else their titles say it
		pairs[i].pass = passes[p.name]
	}
	slices.SortFunc(pairs, func(p, q pair) int {
		return cmp.Or(
			cmp.Compare(rank(lesson, p), rank(lesson, q)),
			cmp.Compare(p.kind(), q.kind()),
			cmp.Compare(p.state(), q.state()),
			cmp.Compare(rank(skeleton, p), rank(skeleton, q)),
			cmp.Compare(p.name, q.name),
		)
	})
}

// rank returns the place of a file in names, or a higher number.
func rank(names []string, p pair) int {
	if i := slices.Index(names, p.name); i >= 0 {
		return i
	}
	return len(names)
}
