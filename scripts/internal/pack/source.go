package pack

// The rest of the archive: the control plane and the workshop's program, built as `workshop up`
// builds them, and a clone of the repository's last commit. It is a git repository in the archive
// too, because `workshop` reads the given version of an exercise from git.

import (
	"cmp"
	"context"
	"debug/elf"
	"debug/macho"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"example.com/operators/scripts/internal/controlplane"
	"example.com/operators/scripts/internal/gobuild"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/process"
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
	last, err := run(ctx, p.Root, "log", "-1", "--format=%H %cI")
	if err != nil {
		return "", err
	}
	commit, date, _ := strings.Cut(last, " ")
	p.commit = commit
	if p.date, err = time.Parse(time.RFC3339, date); err != nil {
		return "", fmt.Errorf("git log: unexpected output %q", last)
	}
	changes, err := run(ctx, p.Root, "status", "--porcelain", "--untracked-files=normal")
	if err != nil {
		return "", err
	}
	if changes != "" {
		step.Note("! %s not committed; the archive has the last commit:\n%s", ui.Plural(strings.Count(changes, "\n")+1, "change"), shorten(changes))
	}
	p.source = p.path("source")
	from := (&url.URL{Scheme: "file", Path: p.Root}).String()
	// An empty template has no hooks. autocrlf=false keeps line ends as they are.
	if _, err := run(ctx, p.dir, "-c", "core.autocrlf=false", "-c", "advice.detachedHead=false",
		"clone", "--quiet", "--depth=1", "--no-tags", "--template=", "--origin=origin", from, p.source); err != nil {
		return "", err
	}
	return fmt.Sprintf("commit %.12s", p.commit), nil
}

// anonymize removes traces of this machine: go's changes to go.work.sum, where the clone came from,
// and what the index knows of its files.
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

// run runs git in dir, and returns its output without the last newline.
func run(ctx context.Context, dir string, args ...string) (string, error) {
	output, err := process.Git(ctx, dir, args...)
	if err != nil && ctx.Err() == nil {
		err = problem.New("git can't tell what is committed").
			ToDo("install git, or take a fresh clone of the course's repository").
			Because(err)
	}
	return strings.TrimRight(string(output), "\n"), err
}

func shorten(lines string) string {
	const most = 5
	all := strings.Split(lines, "\n")
	if len(all) > most {
		all = append(all[:most], fmt.Sprintf("and %d more", len(all)-most))
	}
	return "    " + strings.Join(all, "\n    ")
}

// buildControlPlane builds the control plane. The one for this machine is also used by clusters
// here. Those for others stay in their own folder for the next archive.
func (p *packer) buildControlPlane(ctx context.Context) error {
	builder := controlplane.New(p.Root)
	builder.Module = filepath.Join(p.source, "scripts", "controlplane") // as committed
	if p.Platform != (controlplane.Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}) {
		builder.Platform = p.Platform
		builder.Bin = p.path(fmt.Sprintf("%s-%s", p.Platform.OS, p.Platform.Arch))
		builder.Log = filepath.Join(p.dir, "build.log")
	}
	if err := p.Build(ctx, builder); err != nil {
		return err
	}
	for _, name := range controlplane.Files() {
		if err := p.add(".workshop/bin/"+name, filepath.Join(builder.Bin, name)); err != nil {
			return fmt.Errorf("%s for %s: %w", name, p.Platform, err)
		}
	}
	return nil
}

// buildTool builds the workshop's program with only the packed modules.
func (p *packer) buildTool(ctx context.Context, step *ui.Step) (string, error) {
	tool := p.path("workshop")
	err := gobuild.Build{
		What:     "the workshop's program",
		Dir:      filepath.Join(p.source, "scripts"),
		Args:     []string{"-trimpath", "-ldflags=-s -w", "-o", tool, "./cmd/workshop"},
		Env:      append(p.Platform.Environment(), "GOMODCACHE="+p.path("modules"), "GOPROXY=off", "GOFLAGS=-modcacherw"),
		Progress: func(done gobuild.Progress) { step.Update("%s", done) },
	}.Run(ctx)
	if err != nil {
		return "", err
	}
	return "built for " + p.Platform.String(), p.add(".workshop/bin/workshop", tool)
}

// checkProgram returns an error unless the file is a program for the platform, because a stamp is
// only about go.mod.
func checkProgram(path string, platform controlplane.Platform) error {
	var machine any
	var err error
	if platform.OS == "darwin" {
		var file *macho.File
		if file, err = macho.Open(path); err == nil {
			machine, err = file.Cpu, file.Close()
		}
	} else {
		var file *elf.File
		if file, err = elf.Open(path); err == nil {
			machine, err = file.Machine, file.Close()
		}
	}
	want := map[controlplane.Platform]any{
		{OS: "linux", Arch: "amd64"}: elf.EM_X86_64, {OS: "linux", Arch: "arm64"}: elf.EM_AARCH64,
		{OS: "darwin", Arch: "amd64"}: macho.CpuAmd64, {OS: "darwin", Arch: "arm64"}: macho.CpuArm64,
	}[platform]
	if err == nil && machine == want {
		return nil
	}
	return problem.New("%s isn't a program for %s", path, platform).
		ToDo("remove it, and pack again").
		Because(cmp.Or(err, errors.New("it is for another processor")))
}
