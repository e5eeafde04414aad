package checks

// Words to avoid. The course uses plain English, with terms that readers can search for.

import (
	"context"
	"path"
	"regexp"
	"strings"

	"example.com/operators/scripts/internal/chapters"
)

// avoid are words and phrases that sound translated, each with a replacement.
var avoid = []struct {
	phrase  *regexp.Regexp
	instead string
}{
	{phrase(`\bmend(s|ed|ing)?\b`), "fix"},
	{phrase(`\b(stands?|stood|standing) (in|at|by|beside|between|above|below|there|here|round|around|for itself)\b`), "is, is in"},
	{phrase(`\b(tells|told) whether\b`), "reports whether"},
	{phrase(`\banew\b`), "again"},
	{phrase(`\bfor ever\b`), "forever"},
	{phrase(`\bwho(so)?ever\b`), "if you, anyone who"},
	{phrase(`\b(takes?|taken|took|taking) (it |them |that |this )?away\b`), "delete, remove, revoke"},
	{phrase(`\b(comes?|came) of (it|this|that|them)\b`), "the result"},
	{phrase(`\ba word on\b`), "about"},
	{phrase(`\bdear\b`), "expensive"},
	{phrase(`\b(is|are|was|were|all) in order\b`), "healthy"},
	{phrase(`\b(is|are|was|were|be) given up\b`), "times out, is abandoned"},
	{phrase(`\b(key|keys|Foo|Foos|TDSet|TDSets) comes? (again|back)\b`), "is requeued, is processed again"},
	{phrase(`\bwhat (is|was) wanted\b`), "the desired state"},
	{phrase(`\b(which|what|it|that) is said\b`), "is reported"},
}

// phrase matches an expression in any case. Its words may be on two lines, of a comment too.
func phrase(expression string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)` + strings.ReplaceAll(expression, " ", between.String()))
}

// legitimate are phrases that contain one to avoid, and are plain English.
var legitimate = regexp.MustCompile(`(?i)\b(stands?|stood|standing) in (for|the way)\b`)

var (
	between   = regexp.MustCompile(`[\s/#]+`) // two words
	hasProse  = regexp.MustCompile(`\.(go|md|yaml|sh)$|(^|/)(Makefile|Dockerfile[^/]*)$`)
	generated = regexp.MustCompile(`(?m)^(//|#) Code generated .* DO NOT EDIT\.$`)
)

// words: no text, comment or message uses a phrase from avoid. No code uses one as a name, either.
func words(_ context.Context, r *repository) error {
	names, err := chapters.Files(r.root, func(name string) bool {
		return hasProse.MatchString(name) && path.Base(name) != "words.go" && path.Base(name) != "words_test.go" // which quote them
	})
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := r.read(name)
		if err != nil {
			return err
		}
		if generated.MatchString(text) {
			continue
		}
		text = legitimate.ReplaceAllString(text, "")
		for _, a := range avoid {
			for _, at := range a.phrase.FindAllStringIndex(text, -1) {
				r.report("%s:%d: %q: write %q", name, 1+strings.Count(text[:at[0]], "\n"), between.ReplaceAllString(text[at[0]:at[1]], " "), a.instead)
			}
		}
	}
	return nil
}
