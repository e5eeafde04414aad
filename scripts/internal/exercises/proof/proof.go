// Package proof checks the exercises of a chapter for `workshop test`. Lint only reads and compiles
// them. Prove runs their tests: each exercise fails as given for the right reason, passes as solved,
// and rejects wrong answers. Both use the last commit, so that a learner's work can't fail them.
// judge.go and mistakes.go have the rules.
package proof

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/exercises/verdict"
	"example.com/operators/scripts/internal/git"
	"example.com/operators/scripts/internal/gotest"
	"example.com/operators/scripts/internal/process"
)

// limit is for an exercise's tests on a slow machine. Learners wait at most verdict.DefaultLimit.
const limit = 10 * time.Minute

type Options struct {
	Root        string // of the repository
	Chapter     chapters.Chapter
	Env         []string          // more environment variables for the tests
	Staticcheck string            // for Lint: the program's path; "": only vet
	Progress    func(test string) // called with each test's name as it starts; may be nil
}

type Proof struct {
	gotest.Counts
	Problems  []string // a sentence each
	Exercises int      // their number
	Notes     []string // on differences from the last commit
}

// Lint checks the files of a chapter's exercises, and runs vet and perhaps staticcheck on the
// exercises as given and as solved.
func Lint(ctx context.Context, o Options) (Proof, error) { return forAll(ctx, o, (*Proof).lint) }

// Prove runs the tests of a chapter's exercises.
func Prove(ctx context.Context, o Options) (Proof, error) { return forAll(ctx, o, (*Proof).judge) }

// forAll calls check for the exercises in the last commit, and for new ones, or for all files if
// there is no git.
func forAll(ctx context.Context, o Options, check func(*Proof, context.Context, Options, []exercises.Exercise) error) (Proof, error) {
	var p Proof
	here, others, err := exercises.Folders(o.Chapter)
	if err != nil {
		return p, err
	}
	exported := filepath.Join(o.Root, ".workshop", "prove", o.Chapter.Name)
	defer os.RemoveAll(exported)
	committed, err := p.committed(ctx, o, exported)
	if err != nil {
		return p, err
	}
	here = slices.DeleteFunc(here, func(e exercises.Exercise) bool {
		return slices.ContainsFunc(committed, func(c exercises.Exercise) bool { return c.Folder == e.Folder })
	})
	p.numbers(slices.Concat(committed, here))
	for _, name := range others {
		p.fail("%s/%s/%s: an exercise's folder is called K-slug, such as 1-resume", o.Chapter.Name, exercises.Folder, name)
	}
	for _, all := range [][]exercises.Exercise{committed, here} {
		if len(all) > 0 {
			err = errors.Join(err, check(&p, ctx, o, all))
		}
	}
	return p, err
}

// committed returns the exercises in the last commit: in place if the chapter is unchanged, or else
// in an export. That is always the same folder, because Go's build cache depends on it.
func (p *Proof) committed(ctx context.Context, o Options, folder string) ([]exercises.Exercise, error) {
	tree, err := exercises.Committed(ctx, o.Root, o.Chapter.Name)
	switch {
	case errors.Is(err, exercises.ErrNoGit):
		p.Notes = append(p.Notes, fmt.Sprintf("the exercises of %s are judged as they are: %v", o.Chapter.Name, err))
		return nil, nil
	case errors.Is(err, exercises.ErrNotCommitted):
		return nil, nil
	case err != nil:
		return nil, err
	}
	changed, err := changedFiles(ctx, o)
	if err != nil {
		return nil, err
	}
	chapter := o.Chapter
	if len(changed) > 0 {
		chapter.Dir = folder
		if err := export(ctx, o.Root, tree, folder); err != nil {
			return nil, fmt.Errorf("export %s as committed: %w", chapter.Name, err)
		}
	}
	p.note(changed)
	return exercises.In(chapter)
}

// changedFiles returns the chapter's files that differ from the last commit, relative to the root.
func changedFiles(ctx context.Context, o Options) ([]string, error) {
	var all []string
	for _, args := range [][]string{
		{"diff", "--name-only", "--relative", "-z", "HEAD", "--", o.Chapter.Name},
		{"ls-files", "--others", "--exclude-standard", "-z", "--", o.Chapter.Name},
	} {
		output, err := git.Run(ctx, o.Root, args...)
		if err != nil {
			return nil, err
		}
		all = append(all, strings.FieldsFunc(string(output), func(r rune) bool { return r == 0 })...)
	}
	slices.Sort(all)
	return all, nil
}

// export writes a git tree to a folder, and replaces the export of an interrupted run.
func export(ctx context.Context, root, tree, dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	archive, err := git.Run(ctx, root, "archive", "--format=zip", tree)
	if err != nil {
		return err
	}
	files, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return err
	}
	return os.CopyFS(dir, files)
}

// note tells maintainers that their changes aren't checked. Learners only change exercise.go.
func (p *Proof) note(changed []string) {
	files := slices.DeleteFunc(changed, func(file string) bool {
		return path.Base(file) == exercises.ExerciseFile || strings.HasSuffix(file, "~")
	})
	if len(files) > 0 {
		p.Notes = append(p.Notes, "judged as committed, without your changes to "+strings.Join(files, ", "))
	}
}

func (p *Proof) fail(format string, args ...any) {
	p.Failed++
	p.Problems = append(p.Problems, fmt.Sprintf(format, args...))
}

// numbers checks that the exercises are numbered from 1, or from 0 if there is an exercise 0,
// without a gap.
func (p *Proof) numbers(all []exercises.Exercise) {
	p.Exercises = len(all)
	slices.SortStableFunc(all, func(a, b exercises.Exercise) int { return a.Number - b.Number })
	first := 1
	if len(all) > 0 && all[0].Number == 0 {
		first = 0
	}
	for i, e := range all {
		if e.Number != first+i {
			p.fail("%s: exercise %d of the chapter should have the number %d", e.Path(""), i+1, first+i)
			return // the others would only repeat it
		}
	}
}

// judge runs the tests of exercises of one chapter: as given, as solved, and with wrong answers.
func (p *Proof) judge(ctx context.Context, o Options, all []exercises.Exercise) error {
	run := verdict.Run{Tag: exercises.TagCheck, Args: []string{"-vet=off"}, Env: o.Env, Limit: limit, Progress: o.Progress}
	given, err := run.Test(ctx, all...)
	if err != nil {
		return fmt.Errorf("test the exercises of %s as given: %w", o.Chapter.Name, err)
	}
	run.Tag = exercises.TagSolution
	solved, err := run.Test(ctx, all...)
	if err != nil {
		return fmt.Errorf("test the solutions of %s: %w", o.Chapter.Name, err)
	}
	var sound []exercises.Exercise
	for i, e := range all {
		before := p.Failed
		p.asGiven(given[i])
		p.solved(solved[i])
		if p.Failed == before {
			sound = append(sound, e)
		}
	}
	return p.mistakes(ctx, o, sound)
}

// lint checks everything that needs no test run.
func (p *Proof) lint(ctx context.Context, o Options, all []exercises.Exercise) error {
	var packages []string
	for _, e := range all {
		p.files(e)
		packages = append(packages, "./"+exercises.Folder+"/"+e.Folder)
	}
	const given, solved = "-tags=" + exercises.TagCheck, "-tags=" + exercises.TagSolution
	chapter := all[0].Chapter
	err := errors.Join(
		p.runIn(ctx, chapter, "", "go", append([]string{"vet", given}, packages...)...),
		p.runIn(ctx, chapter, "", "go", append([]string{"vet", solved}, packages...)...),
	)
	if o.Staticcheck != "" {
		matrix := "given: " + given + "\nsolved: " + solved + "\n"
		err = errors.Join(err, p.runIn(ctx, chapter, matrix, o.Staticcheck, append([]string{"-matrix"}, packages...)...))
	}
	return err
}

// runIn runs a program in the chapter's folder. If it fails, what it prints is a problem.
func (p *Proof) runIn(ctx context.Context, chapter chapters.Chapter, stdin, program string, args ...string) error {
	command := process.NewCommand(ctx, 5*time.Second, program, args...)
	command.Dir = chapter.Dir
	command.Stdin = strings.NewReader(stdin)
	command.Env = append(os.Environ(), "GOWORK=off")
	output, err := command.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &exit):
		p.fail("%s: %s:\n%s", chapter.Name, filepath.Base(program), output)
	case err != nil:
		return fmt.Errorf("%s on the exercises of %s: %w", filepath.Base(program), chapter.Name, err)
	default:
		p.Passed++
	}
	return nil
}
