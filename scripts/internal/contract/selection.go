package contract

// Which tests belong to a promise, fault or check.

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/problem"
)

// Find returns the promises, faults and checks of these names, in upper or lower case. F4 means F4a,
// F4b and F4c.
func Find(selected ...string) ([]Named, error) {
	if len(selected) == 0 {
		selected = []string{""} // matches nothing
	}
	var found []Named
	for _, name := range selected {
		meant := regexp.MustCompile(`(?i)^` + regexp.QuoteMeta(strings.TrimSpace(name)) + `[a-z]?$`)
		before := len(found)
		for _, named := range Everything() {
			if meant.MatchString(named.Name) {
				found = append(found, named)
			}
		}
		if len(found) == before {
			return nil, problem.New("there is no promise, fault or check %q", name).
				ToDo(`name some of %s; scripts/acceptance/MATRIX.md and "./scripts/workshop judge explain" say what they are`,
					strings.Join(names(Everything()), ", "))
		}
	}
	return found, nil
}

// Everything returns all promises of all contracts, all faults, and the judge's other checks.
func Everything() (all []Named) {
	for _, contract := range All() {
		all = append(all, contract.Promises...)
	}
	return slices.Concat(all, Faults(), Checks())
}

// Tested returns those of selected that are tested for the chapter's programs.
func Tested(chapter chapters.Chapter, selected []Named) []Named {
	return slices.DeleteFunc(slices.Clone(selected), func(named Named) bool {
		return !slices.ContainsFunc(All(), func(c Contract) bool { return c.Tests(chapter, named) })
	})
}

// Tests reports whether the contract tests any of these for the chapter's program.
func (c Contract) Tests(chapter chapters.Chapter, these ...Named) bool {
	applies := c.Kind == chapters.TDSet || c.Kind == chapter.Kind()
	return applies && slices.ContainsFunc(these, func(named Named) bool {
		return (named.Means == "" || slices.Contains(c.Promises, named)) && c.WhyNotTested(chapter, named.Name) == ""
	})
}

// Pattern returns the -run flag of go test that selects these for a chapter.
func Pattern(chapter chapters.Chapter, selected []Named) string {
	tests := names(selected)
	for _, named := range selected {
		tests = append(tests, named.Proofs()...)
	}
	return fmt.Sprintf("/^%s$/^(%s)_", chapter.Name, strings.Join(tests, "|"))
}

// faultOf has the faults that chapters are about, by chapter number.
var faultOf = map[string]string{
	"01": "F2",  // a watch resumes from a version that the server has forgotten
	"02": "F9",  // the cache lags behind
	"03": "F4a", // failed work is retried
	"04": "F4c", // conflicts
	"05": "F7",  // another replica takes over
	"06": "F8",  // a permission is missing
	"07": "F5",  // the program is killed
}

// Lessons returns the -run flag of go test that selects what acceptance tests while nothing goes
// wrong, the judge's checks that prove B4 and B11, and the one fault that each of these chapters is
// about. The judge's other proofs take minutes, so they are left to the run of a chapter.
func Lessons(all []chapters.Chapter) string {
	patterns := []string{"^(TestContract|TestPermissions|TestTDSets|TestUpgradeAndDowngrade|TestOldClients)$"}
	for _, chapter := range all {
		var checks []string
		for _, promise := range Of(chapter.Kind()).Promises {
			if promise.Name == "B4" || promise.Name == "B11" {
				checks = append(checks, promise.Proofs()...)
			}
		}
		patterns = append(patterns, fmt.Sprintf("^TestJudge$/^%s$/^(%s)_", chapter.Name, strings.Join(checks, "|")))
		if fault, known := faultOf[chapter.Number()]; known {
			patterns = append(patterns, fmt.Sprintf("^TestFaults$/^%s$/^%s_", chapter.Name, fault))
		}
	}
	return strings.Join(patterns, "|")
}

func names(all []Named) (names []string) {
	for _, named := range all {
		names = append(names, named.Name)
	}
	return names
}
