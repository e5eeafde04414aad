// Package pack makes one archive of all that the course needs on a machine with a shell and no
// network: the repository as committed, the programs of the control plane and the workshop, Go, and
// a module proxy of files.
package pack

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"example.com/operators/scripts/internal/gobuild"
	"example.com/operators/scripts/internal/process"
	"example.com/operators/scripts/internal/ui"
)

const folder = "operators" // the archive's top folder

type Options struct {
	Root     string // of the repository
	OS, Arch string // of the machines that the archive is for, as in GOOS and GOARCH
	UI       *ui.UI
}

type packer struct {
	Options
	dir    string // .workshop/pack
	source string // the repository as committed, which becomes the archive
}

// Pack makes the archive in .workshop/pack, and returns its path.
func Pack(ctx context.Context, o Options) (archive string, err error) {
	p := &packer{Options: o, dir: filepath.Join(o.Root, ".workshop", "pack")}
	p.source = filepath.Join(p.new(), folder)
	if err := errors.Join(os.RemoveAll(p.new()), os.MkdirAll(p.new(), 0o700)); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(p.new())) }()

	archive = filepath.Join(p.dir, fmt.Sprintf("%s-%s-%s.tar.gz", folder, o.OS, o.Arch))
	for _, part := range []struct {
		what string
		add  func(context.Context, *ui.Step) error
	}{
		{"the repository as committed", p.cloneRepository},
		{"Go for " + o.OS + "/" + o.Arch, p.fetchGo},
		{"modules", p.fetchModules},
		{"the control plane", p.buildControlPlane},
		{"the workshop's program", p.buildTool},
		{"the proxy's files", p.addProxy},
		{"writing " + archive, func(ctx context.Context, _ *ui.Step) error { return p.write(ctx, archive) }},
	} {
		err := o.UI.While(part.what, func(step *ui.Step) (string, error) { return part.what, part.add(ctx, step) })
		if err != nil {
			return "", err
		}
	}
	return archive, nil
}

// new is the folder for everything temporary.
func (p *packer) new() string { return filepath.Join(p.dir, "new") }

// brought is the path of something in the archive's .workshop.
func (p *packer) brought(name string) string { return filepath.Join(p.source, ".workshop", name) }

// cloneRepository takes the last commit. It is a git repository in the archive, too, because
// `workshop` reads the given version of an exercise from git.
func (p *packer) cloneRepository(ctx context.Context, step *ui.Step) error {
	changes, err := process.Git(ctx, p.Root, "status", "--porcelain")
	if err != nil {
		return err
	}
	if len(changes) > 0 {
		step.Note("! these changes aren't committed, so they aren't in the archive:\n%s", changes)
	}
	from := (&url.URL{Scheme: "file", Path: p.Root}).String()
	if _, err := process.Git(ctx, p.dir, "clone", "--quiet", "--depth=1", "--no-tags", "--template=", from, p.source); err != nil {
		return err
	}
	if _, err := process.Git(ctx, p.source, "remote", "remove", "origin"); err != nil {
		return err
	}
	if err := os.Mkdir(p.brought(""), 0o700); err != nil {
		return err
	}
	return os.WriteFile(p.brought(marker), nil, 0o600)
}

func (p *packer) platform() []string { return []string{"GOOS=" + p.OS, "GOARCH=" + p.Arch} }

// buildControlPlane builds it in the archive's folder. If the archive is for this platform, most of
// its packages are in Go's cache already.
func (p *packer) buildControlPlane(ctx context.Context, step *ui.Step) error {
	controlPlane := gobuild.NewControlPlane(p.source)
	controlPlane.Env = p.platform()
	return controlPlane.Build(ctx, nil, func(done gobuild.Progress) { step.Update("%s", done) })
}

// buildTool builds the workshop's program with only the packed modules.
func (p *packer) buildTool(ctx context.Context, step *ui.Step) error {
	return gobuild.Build{
		What:     "the workshop's program",
		Dir:      filepath.Join(p.source, "scripts"),
		Args:     []string{"-trimpath", "-ldflags=-s -w", "-o", p.brought("bin/workshop"), "./cmd/workshop"},
		Env:      append(p.platform(), "GOMODCACHE="+p.modules(), "GOPROXY=off", "GOFLAGS=-modcacherw"),
		Progress: func(done gobuild.Progress) { step.Update("%s", done) },
	}.Run(ctx)
}
