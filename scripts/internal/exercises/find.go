package exercises

// Finding exercises by the names that users type.

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/ui"
)

// Find returns the exercises of a chapter (1, 01, 01-raw-watch), or one, by chapter and number
// (1/2, 01/2) or by its folder or a file in it (01-raw-watch/exercises/2-slug/exercise.go). An
// empty name, such as an unset variable, is an error, because some commands replace a learner's
// work.
func Find(root, name string) ([]Exercise, error) {
	if name == "" {
		return nil, notFound("the exercise's name is empty")
	}
	path := strings.Trim(strings.TrimPrefix(name, "./"), "/")
	chapter, rest, _ := strings.Cut(path, "/")
	rest = strings.TrimPrefix(strings.TrimPrefix(rest, Folder), "/")
	wanted, _, _ := strings.Cut(rest, "/")
	found, err := chapters.Find(root, chapter)
	if err != nil {
		return nil, notFound("%v", err)
	}
	all, err := In(found[0])
	switch {
	case err != nil:
		return nil, err
	case len(all) == 0:
		return nil, notFound("chapter %s has no exercises", found[0].Name)
	case wanted == "":
		return all, nil
	}
	i := slices.IndexFunc(all, func(e Exercise) bool { return wanted == e.Folder || wanted == strconv.Itoa(e.Number) })
	if i < 0 {
		return nil, notFound("there is no exercise %q; chapter %s has %s", name, found[0].Number(), namesOf(all))
	}
	return all[i : i+1], nil
}

// FindOne is Find for commands that take one exercise.
func FindOne(root, name string) (Exercise, error) {
	found, err := Find(root, name)
	if err != nil {
		return Exercise{}, err
	}
	if len(found) > 1 {
		return Exercise{}, notFound("%q is a chapter; which of its exercises, %s?", name, namesOf(found))
	}
	return found[0], nil
}

func notFound(format string, args ...any) error {
	return problem.New(format, args...).
		ToDo(`name an exercise by chapter and number, such as 01/2; "./scripts/workshop progress --all" lists them`)
}

func namesOf(exercises []Exercise) string {
	var names []string
	for _, exercise := range exercises {
		names = append(names, exercise.Name())
	}
	return strings.Join(names, ", ")
}

// NextOpen returns the first exercise after another that isn't passed or, if there is none, before it.
// It stays on the core path as long as that has one, unless the other isn't on it.
func NextOpen(root string, all []Exercise, after Exercise) (open Exercise, found bool, err error) {
	progress, err := ReadProgress(root)
	if err != nil {
		return Exercise{}, false, err
	}
	at := 1 + slices.Index(all, after)
	others := slices.Concat(all[at:], all[:max(0, at-1)])
	others = slices.DeleteFunc(others, func(e Exercise) bool { return progress.Of(e).Passing })
	if len(others) == 0 {
		return Exercise{}, false, nil
	}
	leftCore := after != Exercise{} && !after.Core
	i := slices.IndexFunc(others, func(e Exercise) bool { return e.Core || leftCore })
	return others[max(0, i)], true, nil
}

// Next says which exercise is the next open one.
func Next(root string, all []Exercise, after Exercise) (string, error) {
	next, found, err := NextOpen(root, all, after)
	if !found {
		return "No other exercise is left to do.", err
	}
	what := "The next"
	if next.Core {
		what = "The next exercise on the core path"
	}
	text := fmt.Sprintf("%s: %s %s, %s", what, next.Name(), next.Title, next.Path(ReadmeFile))
	if next.Core && next.Chapter != after.Chapter {
		text += ". First read the core path up to there, also in chapters without an exercise"
	}
	return ui.Wrap(text), nil
}
