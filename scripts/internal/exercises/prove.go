package exercises

// The proof that every exercise of a chapter is one: it compiles and fails as given, for the reason that it should, and its
// solution passes. It is judged as committed, so that what learners write fails nothing.
// What is demanded of one exercise stands in judge.go.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/gotest"
	"example.com/operators/scripts/internal/lock"
)

// solutionLimit is how long a chapter's solutions may take, each: the race detector makes them slow.
const solutionLimit = 5 * defaultLimit

// ProofOptions say what is to be proved, and how.
type ProofOptions struct {
	Root    string // of the repository
	Chapter chapters.Chapter
	// Args go to go test when the solutions are tested, such as -race.
	Args []string
	// Env is what the tests find in their environment beyond this process's own.
	Env []string
	// Staticcheck is that program's path; "": it isn't run.
	Staticcheck string
	// AsTheyAre judges the files that are here, not those that were committed: for whoever is writing an exercise.
	AsTheyAre bool
	// Progress is called with each test's name as it starts; may be nil.
	Progress func(test string)
}

// Proof is what came of it.
type Proof struct {
	gotest.Counts
	// Problems say what is wrong, a sentence each.
	Problems []string
	// Exercises is their number.
	Exercises int
	// Notes say which exercises differ here from what was judged.
	Notes []string
}

// Prove judges all exercises of a chapter. New ones are judged as they are, and so are all where there is no git.
func Prove(ctx context.Context, o ProofOptions) (Proof, error) {
	var proof Proof
	here, err := In(o.Chapter)
	if err != nil {
		return proof, err
	}
	given, remove, err := o.export(ctx)
	if err != nil {
		return proof, err
	}
	defer remove()
	committed, err := In(given)
	if err != nil {
		return proof, err
	}
	here = slices.DeleteFunc(here, func(e Exercise) bool {
		return slices.ContainsFunc(committed, func(c Exercise) bool { return c.Folder == e.Folder })
	})

	for _, e := range committed {
		if changed := changedSince(e, o.Chapter); len(changed) > 0 {
			proof.Notes = append(proof.Notes, fmt.Sprintf("%s is judged as committed; what was changed here since: %s", e.Name(), strings.Join(changed, ", ")))
		}
	}
	proof.Exercises = len(committed) + len(here)
	proof.numbering(append(slices.Clone(committed), here...))
	if err := proof.folders(o.Chapter, given); err != nil {
		return proof, err
	}
	return proof, errors.Join(proof.judge(ctx, o, given, committed), proof.judge(ctx, o, o.Chapter, here))
}

// export writes the chapter as committed to a folder of its own, and returns it: always to the same one, since Go's build
// cache knows packages by their folder. If there is nothing committed, or it isn't wanted, the chapter returned is empty.
func (o ProofOptions) export(ctx context.Context) (given chapters.Chapter, remove func(), err error) {
	dir := filepath.Join(o.Root, ".workshop", "prove")
	given = chapters.Chapter{Name: o.Chapter.Name, Dir: filepath.Join(dir, o.Chapter.Name)}
	release, err := lock.Acquire(ctx, dir, nil)
	if err != nil {
		return given, nil, err
	}
	remove = func() {
		_ = os.RemoveAll(given.Dir)
		release()
	}
	if err := os.RemoveAll(given.Dir); err != nil {
		remove()
		return given, nil, err
	}
	if o.AsTheyAre {
		return given, remove, nil
	}
	err = exportCommitted(ctx, o.Root, o.Chapter.Name, given.Dir)
	if errors.Is(err, errNoGit) || errors.Is(err, errNotCommitted) {
		err = nil
	}
	if err != nil {
		remove()
		return given, nil, err
	}
	return given, remove, nil
}

// changedSince are the files of a committed exercise that are not so in the chapter at hand, other than the learner's own.
func changedSince(committed Exercise, chapter chapters.Chapter) []string {
	here := committed
	here.Chapter = chapter
	names := map[string]bool{}
	for _, dir := range []string{committed.Dir(), here.Dir()} {
		entries, _ := os.ReadDir(dir) // one that isn't there differs in all its files
		for _, entry := range entries {
			if name := entry.Name(); name != exerciseFile && !entry.IsDir() && !strings.HasPrefix(name, ".") && !strings.HasSuffix(name, "~") {
				names[name] = true
			}
		}
	}
	var changed []string
	for name := range names {
		before, errBefore := os.ReadFile(committed.File(name))
		now, errNow := os.ReadFile(here.File(name))
		if (errBefore == nil) != (errNow == nil) || string(before) != string(now) {
			changed = append(changed, name)
		}
	}
	slices.Sort(changed)
	return changed
}

func (p *Proof) fail(format string, args ...any) {
	p.Failed++
	p.Problems = append(p.Problems, fmt.Sprintf(format, args...))
}

func (p *Proof) numbering(exercises []Exercise) {
	slices.SortStableFunc(exercises, func(a, b Exercise) int { return a.Number - b.Number })
	for i, e := range exercises {
		if e.Number != i+1 {
			p.fail("%s: exercise %d of the chapter should have the number %d", e.Path(""), i+1, i+1)
			return // the others would only repeat it
		}
	}
}

func (p *Proof) folders(all ...chapters.Chapter) error {
	for _, chapter := range all {
		names, err := subfolders(chapter)
		if err != nil {
			return err
		}
		for _, name := range names {
			path := chapter.Name + "/" + folder + "/" + name + ": "
			said := slices.ContainsFunc(p.Problems, func(problem string) bool { return strings.HasPrefix(problem, path) })
			if !folderName.MatchString(name) && !said {
				p.fail("%san exercise's folder is called K-slug, such as 1-resume", path)
			}
		}
	}
	return nil
}

// judge proves exercises of one chapter: their files, then as given, then solved.
func (p *Proof) judge(ctx context.Context, o ProofOptions, chapter chapters.Chapter, exercises []Exercise) error {
	if len(exercises) == 0 {
		return nil
	}
	r := request{module: chapter.Dir, env: o.Env, progress: o.Progress}
	for _, e := range exercises {
		p.files(e)
		r.packages = append(r.packages, "./"+folder+"/"+e.Folder)
	}
	vet := []string{"-vet=all"} // a check leaves most of it out, to be quick
	r.tag, r.limit, r.args = tagCheck, defaultLimit, vet
	given, err := goTest(ctx, r)
	if err != nil {
		return fmt.Errorf("test the exercises of %s as given: %w", chapter.Name, err)
	}
	r.tag, r.limit, r.args = tagSolution, solutionLimit, append(vet, o.Args...)
	solved, err := goTest(ctx, r)
	if err != nil {
		return fmt.Errorf("test the solutions of %s: %w", chapter.Name, err)
	}
	for _, e := range exercises {
		p.asGiven(e, explain(e, resultOf(e, given), 0))
		p.solved(e, explain(e, resultOf(e, solved), 0))
	}
	if o.Staticcheck == "" {
		return nil
	}
	for _, tag := range []string{tagCheck, tagSolution} {
		if err := p.staticcheck(ctx, o.Staticcheck, chapter, append([]string{"-tags=" + tag}, r.packages...)); err != nil {
			return err
		}
	}
	return nil
}

// staticcheck judges the source beyond what the compiler and vet say.
func (p *Proof) staticcheck(ctx context.Context, program string, chapter chapters.Chapter, args []string) error {
	command := exec.CommandContext(ctx, program, args...)
	command.Dir = chapter.Dir
	command.Env = append(os.Environ(), "GOWORK=off")
	output, err := command.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &exit):
		p.fail("%s: staticcheck %s:\n%s", chapter.Name, args[0], output)
	case err != nil:
		return fmt.Errorf("staticcheck the exercises of %s: %w", chapter.Name, err)
	}
	return nil
}
