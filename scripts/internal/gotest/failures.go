package gotest

import (
	"path"
	"regexp"
	"strings"
)

// Failure is a failed test in which no subtest failed.
type Failure struct {
	Package, Name string
	// Tests is how many failed tests this failure counts for: the test itself, and those of its
	// parents that don't count with an earlier failure.
	Tests int
}

// Pattern returns a value for go test's flag -run that selects only this test.
func (f Failure) Pattern() string {
	parts := strings.Split(f.Name, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}

// Failures returns the failed tests. onlyTests reports whether nothing else went wrong: no test was
// skipped, and no package failed by itself.
func (r Results) Failures() (failures []Failure, onlyTests bool) {
	onlyTests = true
	for _, p := range r {
		onlyTests = onlyTests && !p.failedByItself()
		counted := map[string]bool{}
		for _, t := range p.Tests {
			onlyTests = onlyTests && t.State != Skipped
			if t.State != Failed || p.hasFailedSubtest(t.Name) {
				continue
			}
			failure := Failure{Package: p.Path, Name: t.Name}
			for name := t.Name; name != "."; name = path.Dir(name) {
				if !counted[name] {
					counted[name] = true
					failure.Tests++
				}
			}
			failures = append(failures, failure)
		}
	}
	return failures, onlyTests
}

func (p *Package) hasFailedSubtest(name string) bool {
	for _, t := range p.Tests {
		if t.State == Failed && strings.HasPrefix(t.Name, name+"/") {
			return true
		}
	}
	return false
}
