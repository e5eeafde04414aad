package chapterdiff

// This file says which files of two chapters mean the same, and in which order a reader wants them.

import (
	"cmp"
	"maps"
	"slices"
)

var (
	// lessons are the candidates for the file that holds the lesson. The others are read after it,
	// in this order.
	lessons = []string{"informers.go", "events.go", "queue.go", "read.go", "write.go", "reconcile.go", "desired.go", "leader.go"}
	// skeleton adds files that change a lot but teach little: flags, wiring, fields.
	skeleton = slices.Concat(lessons, []string{"main.go", "pkg/apis/samplecontroller/v1alpha1/types.go"})
)

// counterparts are the names that files of the earlier chapters have in kubebuilder's layout, from
// chapter 06 on.
var counterparts = map[string]string{
	"api/v1alpha1/foo_types.go":             "pkg/apis/samplecontroller/v1alpha1/types.go",
	"api/v1alpha1/groupversion_info.go":     "pkg/apis/samplecontroller/v1alpha1/doc.go",
	"cmd/main.go":                           "main.go",
	"cmd/manager.go":                        "manager.go",
	"cmd/waitforcrd.go":                     "waitforcrd.go",
	"cmd/idletimeout.go":                    "idletimeout.go",
	"cmd/watcherrors.go":                    "watcherrors.go",
	"internal/controller/desired.go":        "desired.go",
	"internal/controller/foo_controller.go": "foo_controller.go",
	"internal/controller/index.go":          "index.go",
	"internal/controller/reconcile.go":      "reconcile.go",
	"internal/controller/recorder.go":       "recorder.go",
	"internal/controller/read.go":           "read.go",
	"internal/controller/terminating.go":    "terminating.go",
	"internal/controller/write.go":          "write.go",
}

// state is what became of a file, in the order in which files are shown.
type state int

const (
	stateSame state = iota
	stateChanged
	stateGone // in A only
	stateNew  // in B only
)

// pair is a file in both chapters, or in one of them.
type pair struct {
	name           string // the one that all chapters use
	a, b           *file  // nil: not there
	nowGenerated   bool   // b is nil since a generator writes it now
	lesson         bool
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

// pairUp pairs files of the same name. A generated one is as good as not there, unless the other is
// generated too.
func pairUp(filesA, filesB []file) []pair {
	a, b := byCommonName(filesA), byCommonName(filesB)
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

// byCommonName finds a chapter's files by the names that all chapters use: the skeleton's, else
// their own.
func byCommonName(files []file) map[string]*file {
	named := map[string]*file{}
	for i := range files {
		named[files[i].path] = &files[i]
	}
	for theirs, common := range counterparts {
		if f := named[theirs]; f != nil && named[common] == nil {
			delete(named, theirs)
			named[common] = f
		}
	}
	return named
}

// inReadingOrder marks the lesson's file, then sorts: what changed, the lesson first, then what is
// gone, then what is new.
func inReadingOrder(pairs []pair) {
	if lesson := findLesson(pairs); lesson != nil {
		lesson.lesson = true
	}
	rank := func(p pair) int {
		switch i := slices.Index(skeleton, p.name); {
		case p.lesson:
			return -1
		case i >= 0:
			return i
		}
		return len(skeleton)
	}
	slices.SortFunc(pairs, func(p, q pair) int {
		return cmp.Or(
			cmp.Compare(p.state(), q.state()),
			cmp.Compare(p.kind(), q.kind()),
			cmp.Compare(rank(p), rank(q)),
			cmp.Compare(p.name, q.name),
		)
	})
}

// findLesson returns the pair from lessons whose code changed most, not counting comments. Both
// chapters must have the file. It returns nil if there is no such pair.
func findLesson(pairs []pair) *pair {
	var lesson *pair
	most := 0
	for _, name := range lessons {
		for i, p := range pairs {
			if lines := p.added.code + p.removed.code; p.name == name && p.state() == stateChanged && lines > most {
				lesson, most = &pairs[i], lines
			}
		}
	}
	return lesson
}
