package checks

// Exercises in place: a chapter introduces each exercise where its section ends, so that readers
// practise what they have just read, and read no solution before they have tried.

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"example.com/operators/scripts/internal/exercises"
)

// introductions: above its list of exercises, a chapter has one line for each of them, such as
//
//	**Now do [exercise 03/1](exercises/1-worker/README.md) (15 minutes).**
//
// A passage whose summary says "do exercise 03/1 first" comes after that line. Exercise 0 is for
// the time before a chapter can be read, so it has no such line.
func introductions(_ context.Context, r *repository) error {
	found, err := exercises.All(r.root)
	if err != nil {
		return err
	}
	for _, e := range found {
		text, err := r.read(e.Chapter.Name, "README.md")
		if err != nil {
			return err
		}
		if text == "" || e.Number == 0 || e.Minutes == 0 { // other checks report missing files
			continue
		}
		text, _, _ = strings.Cut(text, "\n## Exercises\n")
		lines := strings.Split(text, "\n")
		want := introduction(e)
		at := slices.Index(lines, want)
		if at < 0 || slices.Index(lines[at+1:], want) >= 0 {
			r.report("%s/README.md: above \"## Exercises\", one line should be %q", e.Chapter.Name, want)
			continue
		}
		if strings.Contains(strings.Join(lines[:at], "\n"), "(do exercise "+e.Name()+" first)") {
			r.report("%s/README.md: it has a passage \"(do exercise %s first)\" above the line that introduces this exercise", e.Chapter.Name, e.Name())
		}
	}
	return nil
}

// introduction is the line that introduces an exercise.
func introduction(e exercises.Exercise) string {
	return fmt.Sprintf("**Now do [exercise %s](%s/%s/%s) (%d minutes).**", e.Name(), exercises.Folder, e.Folder, exercises.ReadmeFile, e.Minutes)
}
