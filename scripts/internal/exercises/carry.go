package exercises

// Carrying work over from one exercise to a later one that continues the same program. The later
// exercise has the course's version of the same functions in a file of its own, so learners can
// also go on without their own work.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"example.com/operators/scripts/internal/carry"
	"example.com/operators/scripts/internal/git"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/process"
)

// CarryFile says what a learner can carry over to this exercise. Few exercises have it.
const CarryFile = "carry.yaml"

// Carry is an entry of a CarryFile: functions that the learner wrote in an earlier exercise, and
// the file that has them here.
type Carry struct {
	From string   `json:"from"` // the earlier exercise, such as 01/5
	Take []string `json:"take"` // names of functions
	To   string   `json:"to"`   // a file of this exercise
}

// Carries returns what a learner can carry over to e, or nothing if e has no CarryFile.
func (e Exercise) Carries() ([]Carry, error) {
	content, err := os.ReadFile(e.File(CarryFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Carry
	if err := yaml.UnmarshalStrict(content, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", e.Path(CarryFile), err)
	}
	for i, c := range all {
		if c.From == "" || len(c.Take) == 0 || c.To == "" {
			return nil, fmt.Errorf("%s: entry %d needs the fields from, take and to", e.Path(CarryFile), i+1)
		}
	}
	return all, nil
}

// Into returns the text of the file c.To of e, with the functions from another exercise. file is
// that exercise's exercise.go or solution.go.
func (c Carry) Into(e, from Exercise, file string) (string, error) {
	given, err := os.ReadFile(e.File(c.To))
	if err != nil {
		return "", err
	}
	written, err := os.ReadFile(from.File(file))
	if err != nil {
		return "", err
	}
	take, _, err := c.Split(e, from.Path(file), strings.ReplaceAll(string(written), modulePath(from), modulePath(e)))
	return carry.Head(string(given)) + take, err
}

// Split divides the text of a Go file into what e gets and the rest, both from the package clause
// on. The file's name is only for errors.
func (c Carry) Split(e Exercise, name, text string) (take, rest string, err error) {
	source, err := carry.Parse(name, text)
	if err != nil {
		return "", "", err
	}
	elsewhere, err := c.elsewhere(e)
	if err != nil {
		return "", "", err
	}
	return source.Split(c.Take, elsewhere)
}

// modulePath is the beginning of the import paths of an exercise's own packages.
func modulePath(e Exercise) string {
	return "example.com/operators/" + e.Chapter.Name + "/"
}

// elsewhere returns the names that the exercise declares in its other files.
func (c Carry) elsewhere(e Exercise) (names []string, err error) {
	files, _ := filepath.Glob(e.File("*.go")) // the pattern is valid
	for _, file := range files {
		switch name := filepath.Base(file); {
		case name == c.To, name == SolutionFile, strings.HasSuffix(name, "_test.go"):
			continue
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		source, err := carry.Parse(file, string(content))
		if err != nil {
			return nil, err
		}
		names = append(names, source.Names()...)
	}
	return names, nil
}

// ToCarry returns what the learner can carry over to e, but hasn't yet. That is their own work from
// exercises that they have passed, as long as nobody has changed the file in e that gets it.
func ToCarry(ctx context.Context, root string, e Exercise) ([]Carry, error) {
	all, err := e.Carries()
	if err != nil || len(all) == 0 {
		return nil, err
	}
	progress, err := ReadProgress(root)
	if err != nil {
		return nil, err
	}
	var open []Carry
	for _, c := range all {
		from, err := FindOne(root, c.From)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Path(CarryFile), err)
		}
		if progress.Of(from).Passed == nil || from.HasSolution() || !progress.Of(from).Passing {
			continue
		}
		if !c.IsOwn(ctx, root, e) {
			open = append(open, c)
		}
	}
	return open, nil
}

// IsOwn reports whether the learner has replaced the file c.To of e. Without git, nobody knows.
func (c Carry) IsOwn(ctx context.Context, root string, e Exercise) bool {
	given, err := git.Run(ctx, root, "cat-file", "blob", "HEAD:./"+e.Path(c.To))
	own, readErr := os.ReadFile(e.File(c.To))
	return err == nil && readErr == nil && !bytes.Equal(own, given)
}

// CarryOffer returns a line to print after the advice, which tells the learner what ToCarry
// returns. If there is nothing to carry over, it returns "".
func CarryOffer(ctx context.Context, root string, e Exercise) (string, error) {
	open, err := ToCarry(ctx, root, e)
	if err != nil || len(open) == 0 {
		return "", err
	}
	var own []string
	for _, c := range open {
		own = append(own, fmt.Sprintf("%s from %s", strings.Join(c.Take, " and "), c.From))
	}
	return fmt.Sprintf("\nThis program can have your own %s: ./scripts/workshop carry %s", strings.Join(own, ", and "), e.Name()), nil
}

// CarryOver puts the learner's functions into the file that has them in e. If the program doesn't
// compile with them, the file stays as it is, and the error has the compiler's message.
func CarryOver(ctx context.Context, root string, e Exercise, c Carry) error {
	from, err := FindOne(root, c.From)
	if err != nil {
		return err
	}
	carried, err := c.Into(e, from, ExerciseFile)
	if err != nil {
		return problem.New("can't carry %s over from %s", strings.Join(c.Take, " and "), c.From).
			ToDo("your program can go on with the course's %s", c.To).Because(err)
	}
	given, err := os.ReadFile(e.File(c.To))
	if err != nil {
		return err
	}
	return update(ctx, root, func(Progress) error {
		if err := replaceFile(e.File(c.To), []byte(carried), 0o644); err != nil {
			return err
		}
		if message := compiles(ctx, e); message != "" {
			return errors.Join(
				problem.New("your %s from %s doesn't compile in %s, so %s is still the course's", strings.Join(c.Take, " and "), c.From, e.Name(), c.To).
					ToDo("copy by hand what you need, or go on with the course's").Because(errors.New(message)),
				replaceFile(e.File(c.To), given, 0o644))
		}
		return nil
	})
}

// compiles builds e's program, and returns the compiler's message, or "" if there is no error.
func compiles(ctx context.Context, e Exercise) string {
	command := process.NewCommand(ctx, 5*time.Second, "go", "build", "-tags="+TagCheck, "-o", os.DevNull, "./"+Folder+"/"+e.Folder)
	command.Dir = e.Chapter.Dir
	command.Env = append(os.Environ(), "GOWORK=off")
	output, err := command.CombinedOutput()
	if err == nil {
		return ""
	}
	return string(bytes.TrimSpace(append(output, err.Error()...)))
}

// UndoCarry restores the course's version of the files that a learner can carry work over to. It
// returns the names of the files that it has changed.
func UndoCarry(ctx context.Context, root string, e Exercise) (restored []string, err error) {
	all, err := e.Carries()
	if err != nil {
		return nil, err
	}
	err = update(ctx, root, func(Progress) error {
		for _, c := range all {
			given, err := git.Run(ctx, root, "cat-file", "blob", "HEAD:./"+e.Path(c.To))
			if err != nil {
				return fmt.Errorf("restore %s: %w", e.Path(c.To), err)
			}
			if own, err := readIfExists(e.File(c.To)); err == nil && bytes.Equal(own, given) {
				continue
			}
			if err := replaceFile(e.File(c.To), given, 0o644); err != nil {
				return fmt.Errorf("restore %s: %w", e.Path(c.To), err)
			}
			restored = append(restored, c.To)
		}
		return nil
	})
	return restored, err
}
