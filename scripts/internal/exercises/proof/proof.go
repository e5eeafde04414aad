// Package proof proves for `workshop test` that every exercise of a chapter compiles, fails as
// given for the right reason, passes as solved, and rejects wrong answers. It uses the last commit,
// so that a learner's work can't fail the proof. judge.go and mistakes.go have the rules.
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

// limit is for an exercise's tests on a busy machine.
const limit = 5 * verdict.DefaultLimit

type Options struct {
	Root        string // of the repository
	Chapter     chapters.Chapter
	Env         []string          // more environment variables for the tests
	Staticcheck string            // the program's path; "": it isn't run
	Mistakes    int               // how many of each exercise's mistakes are tried; 0: all
	Progress    func(test string) // called with each test's name as it starts; may be nil
}

type Proof struct {
	gotest.Counts
	Problems  []string // a sentence each
	Exercises int      // their number
	Notes     []string // on differences from the last commit
}

// Prove checks a chapter's exercises in the last commit, and new ones, or all files if there is no
// git.
func Prove(ctx context.Context, o Options) (Proof, error) {
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
	return p, errors.Join(p.judge(ctx, o, committed), p.judge(ctx, o, here))
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

// judge checks exercises of one chapter: their files, as given, and solved.
func (p *Proof) judge(ctx context.Context, o Options, all []exercises.Exercise) error {
	if len(all) == 0 {
		return nil
	}
	// `workshop check` runs a part of vet, to be quick.
	run := verdict.Run{Tag: exercises.TagCheck, Args: []string{"-vet=all"}, Env: o.Env, Limit: limit, Progress: o.Progress}
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
		p.files(e)
		p.asGiven(given[i])
		p.solved(solved[i])
		if p.Failed == before {
			sound = append(sound, e)
		}
	}
	if err := p.mistakes(ctx, o, sound); err != nil {
		return err
	}
	return p.staticcheck(ctx, o, all)
}

// staticcheck runs that program on the source with both build tags.
func (p *Proof) staticcheck(ctx context.Context, o Options, all []exercises.Exercise) error {
	if o.Staticcheck == "" {
		return nil
	}
	command := process.NewCommand(ctx, 5*time.Second, o.Staticcheck, "-matrix")
	for _, e := range all {
		command.Args = append(command.Args, "./"+exercises.Folder+"/"+e.Folder)
	}
	command.Stdin = strings.NewReader("given: -tags=" + exercises.TagCheck + "\nsolved: -tags=" + exercises.TagSolution + "\n")
	command.Dir = all[0].Chapter.Dir
	command.Env = append(os.Environ(), "GOWORK=off")
	output, err := command.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &exit):
		p.fail("%s: staticcheck:\n%s", o.Chapter.Name, output)
	case err != nil:
		return fmt.Errorf("staticcheck the exercises of %s: %w", o.Chapter.Name, err)
	}
	return nil
}
