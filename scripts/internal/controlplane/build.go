package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"example.com/operators/scripts/internal/gobuild"
	"example.com/operators/scripts/internal/lock"
	"example.com/operators/scripts/internal/problem"
)

// Build builds the program unless it is up to date. It calls waiting if another command builds at
// the moment. A build that was cancelled continues at the next call, from what is in Go's cache.
func (b *Builder) Build(ctx context.Context, p Program, waiting func(holder string), progress func(gobuild.Progress)) (err error) {
	release, err := lock.Acquire(ctx, b.State, waiting)
	if err != nil {
		return err
	}
	defer release()
	if built, err := b.IsBuilt(p); err != nil || built { // under the lock: another command may have built it meanwhile
		return err
	}
	if err := b.checkDisk(ctx, p); err != nil {
		return err
	}
	// go's temporary files are in this folder too, so a finished program is renamed and never
	// partial.
	dir := filepath.Join(b.Bin, ".new")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700), os.MkdirAll(filepath.Dir(b.Log), 0o700)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	stamp, err := b.Stamp()
	if err != nil {
		return err
	}
	if err := b.goBuild(ctx, p, dir, progress); err != nil {
		return err
	}
	// A process that runs the old program isn't disturbed. The stamp comes last, so the next build
	// repeats one that was interrupted.
	if err := os.Rename(filepath.Join(dir, p.Name), b.binary(p)); err != nil {
		return err
	}
	if p == ControlPlane {
		for _, name := range Links() {
			link := filepath.Join(dir, name)
			if err := errors.Join(os.Symlink(p.Name, link), os.Rename(link, filepath.Join(b.Bin, name))); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(b.stampFile(p), []byte(stamp), 0o600)
}

func (b *Builder) goBuild(ctx context.Context, p Program, dir string, progress func(gobuild.Progress)) error {
	log, err := os.Create(b.Log)
	if err != nil {
		return err
	}
	defer log.Close()
	flags, err := b.linkerFlags()
	if err != nil {
		return err
	}
	what := p.String()
	if b.Platform != (Platform{}) {
		what += " for " + b.Platform.String()
	}
	err = gobuild.Build{
		What:     what,
		Dir:      b.Module,
		Args:     []string{"-ldflags", flags, "-o", filepath.Join(dir, p.Name), p.Package},
		Env:      append(b.Platform.Environment(), "GOTMPDIR="+dir),
		Log:      log,
		Progress: progress,
	}.Run(ctx)
	if failed, ok := errors.AsType[*problem.Problem](err); ok {
		failed.Log = b.Log
		if failed.Fix == "" {
			failed.Fix = "see the log"
		}
	}
	return err
}

// linkerFlags turn off debug information, and set the version of Kubernetes that go.mod pins.
// Without it, kubectl and the API server report v0.0.0-master.
func (b *Builder) linkerFlags() (string, error) {
	path := filepath.Join(b.Module, "go.mod")
	content, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	file, err := modfile.Parse(path, content, nil)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(file.Require, func(r *modfile.Require) bool { return r.Mod.Path == "k8s.io/kubernetes" })
	if i < 0 {
		return "", fmt.Errorf("%s doesn't require k8s.io/kubernetes", path)
	}
	version := file.Require[i].Mod.Version
	parts := strings.Split(strings.TrimPrefix(version, "v"), ".") // modfile has checked that there are three
	const at = " -X k8s.io/component-base/version."
	return "-s -w" + at + "gitVersion=" + version + at + "gitMajor=" + parts[0] + at + "gitMinor=" + parts[1], nil
}
