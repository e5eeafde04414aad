package pack

// The repository as committed: a clone of the last commit alone. It is a git repository there too, since exercises are put back, and
// proved, by what git has of them.

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"example.com/operators/scripts/internal/git"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/ui"
)

func (p *packer) takeSource(ctx context.Context, step *ui.Step) (string, error) {
	up, err := run(ctx, p.Root, "rev-parse", "--show-cdup") // such as ../
	if err != nil {
		return "", err
	}
	if up != "" {
		return "", problem.New("%s isn't a git repository of its own, but a part of %s", p.Root, filepath.Join(p.Root, up)).
			ToDo("clone the course's repository, and pack that")
	}
	said, err := run(ctx, p.Root, "log", "-1", "--format=%H %cI")
	if err != nil {
		return "", err
	}
	id, date, _ := strings.Cut(said, " ")
	p.commit = id
	if p.date, err = time.Parse(time.RFC3339, date); err != nil {
		return "", fmt.Errorf("git log: odd answer %q", said)
	}
	changes, err := run(ctx, p.Root, "status", "--porcelain", "--untracked-files=normal")
	if err != nil {
		return "", err
	}
	if changes != "" {
		step.Note("! %s not as committed; the archive has the last commit:\n%s", ui.Plural(strings.Count(changes, "\n")+1, "path"), shorten(changes))
	}
	p.source = p.path("source")
	from := (&url.URL{Scheme: "file", Path: p.Root}).String()
	// An empty template has no hooks. Line ends stay as they are.
	if _, err := run(ctx, p.dir, "-c", "core.autocrlf=false", "-c", "advice.detachedHead=false",
		"clone", "--quiet", "--depth=1", "--no-tags", "--template=", "--origin=origin", from, p.source); err != nil {
		return "", err
	}
	return fmt.Sprintf("commit %.12s", p.commit), nil
}

// anonymize takes away what tells of this machine: what go has noted in go.work.sum, where the clone came from, and the index's notes
// on its files.
func (p *packer) anonymize(ctx context.Context) error {
	for _, args := range [][]string{{"checkout", "--quiet", "--", "."}, {"remote", "remove", "origin"}} {
		if _, err := run(ctx, p.source, args...); err != nil {
			return err
		}
	}
	dir := filepath.Join(p.source, ".git")
	for _, name := range []string{"index", "logs", "FETCH_HEAD", "ORIG_HEAD"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	_, err := run(ctx, p.source, "read-tree", "HEAD")
	return err
}

// run runs git in dir, and returns what it printed, without the last line's end.
func run(ctx context.Context, dir string, args ...string) (string, error) {
	output, err := git.Run(ctx, dir, args...)
	if err != nil && ctx.Err() == nil {
		err = problem.New("git can't tell what is committed").
			ToDo("install git, or take a fresh clone of the course's repository").
			Because(err)
	}
	return strings.TrimRight(string(output), "\n"), err
}

// shorten is the beginning of a list of lines, indented.
func shorten(lines string) string {
	const most = 5
	all := strings.Split(lines, "\n")
	if len(all) > most {
		all = append(all[:most], fmt.Sprintf("and %d more", len(all)-most))
	}
	return "    " + strings.Join(all, "\n    ")
}
