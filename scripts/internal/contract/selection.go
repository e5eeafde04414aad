// Which tests are those of one promise or fault.

package contract

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/faults"
	"example.com/operators/scripts/internal/problem"
)

// Find returns what is called so, in any case: F4 is F4a, F4b and F4c, and F2a, a part, is F2.
func Find(wanted ...string) ([]Named, error) {
	if len(wanted) == 0 {
		wanted = []string{""} // matches nothing
	}
	var found []Named
	for _, name := range wanted {
		whole := faults.Whole(strings.TrimSpace(name))
		meant := regexp.MustCompile(`(?i)^` + regexp.QuoteMeta(whole) + `[a-z]?$`)
		before := len(found)
		for _, named := range Everything() {
			if meant.MatchString(named.Name) {
				found = append(found, named)
			}
		}
		if len(found) == before {
			return nil, problem.New("there is no promise or fault %q", name).
				ToDo(`name some of %s; "./scripts/workshop test --matrix" says what they are`, strings.Join(names(Everything()), ", "))
		}
	}
	return found, nil
}

// Everything is all promises of all contracts, and all faults.
func Everything() (all []Named) {
	for _, contract := range All() {
		all = append(all, contract.Promises...)
	}
	return append(all, Faults()...)
}

// Asked are those of wanted that the chapter's programs are asked for: what isn't has no tests.
func Tested(chapter chapters.Chapter, wanted []Named) []Named {
	return slices.DeleteFunc(slices.Clone(wanted), func(named Named) bool {
		return !slices.ContainsFunc(All(), func(c Contract) bool { return c.Tests(chapter, named) })
	})
}

// Asks reports whether the contract asks for any of these of the chapter's program.
func (c Contract) Tests(chapter chapters.Chapter, these ...Named) bool {
	return c.Judges(chapter) && slices.ContainsFunc(these, func(named Named) bool {
		return (named.IsFault() || slices.Contains(c.Promises, named)) && c.WhyNotTested(chapter, named.Name) == ""
	})
}

// Pattern is what go test -run takes to run just the tests of these promises and faults for a
// chapter.
func Pattern(chapter chapters.Chapter, wanted []Named) string {
	return fmt.Sprintf("/^%s$/^(%s)_", chapter.Name, strings.Join(names(wanted), "|"))
}

func names(all []Named) (names []string) {
	for _, named := range all {
		names = append(names, named.Name)
	}
	return names
}
