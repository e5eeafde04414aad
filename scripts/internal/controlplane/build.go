package controlplane

// The build: one go build for all missing components, so that it links one while it compiles
// another.

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

type Progress struct {
	Waiting string // for another command that builds; if set, all else is empty
	gobuild.Progress
	Built, Of int      // components
	Linking   []string // components that are compiled already
}

func (p Progress) String() string {
	switch {
	case p.Waiting != "":
		return "waiting for " + p.Waiting
	case p.Built == 0 && len(p.Linking) == 0:
		return p.Progress.String()
	}
	text := fmt.Sprintf("%s, %d of %d programs built", p.Progress, p.Built, p.Of)
	if len(p.Linking) > 0 {
		text += ", linking " + strings.Join(p.Linking, ", ")
	}
	return text
}

// Build builds the missing components and reports progress. If it fails or is cancelled, it keeps
// the finished ones.
func (b *Builder) Build(ctx context.Context, progress func(Progress)) (err error) {
	release, err := lock.Acquire(ctx, b.State, func(holder string) {
		progress(Progress{Waiting: holder})
	})
	if err != nil {
		return err
	}
	defer release()

	missing, err := b.Missing() // under the lock: another command may have built them meanwhile
	if err != nil || len(missing) == 0 {
		return err
	}
	if err := b.checkDisk(ctx, len(missing)); err != nil {
		return err
	}
	// go's temporary files are in this folder too, so finished programs are renamed and never
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
	buildErr := b.goBuild(ctx, missing, dir, progress)
	for _, c := range missing {
		if !isFile(filepath.Join(dir, c.output())) {
			continue
		}
		if err := b.keep(c, filepath.Join(dir, c.output()), stamp); err != nil {
			return fmt.Errorf("keeping %s: %w", c.Name, err)
		}
	}
	return buildErr
}

func (b *Builder) goBuild(ctx context.Context, missing []Component, dir string, progress func(Progress)) error {
	log, err := os.Create(b.Log)
	if err != nil {
		return err
	}
	defer log.Close()
	flags, err := b.linkerFlags()
	if err != nil {
		return err
	}
	what := "the control plane"
	if len(missing) == 1 {
		what = missing[0].Name
	}
	if b.Platform != (Platform{}) {
		what += " for " + b.Platform.String()
	}
	var packages []string
	for _, c := range missing {
		packages = append(packages, c.Package)
	}
	var compiled []Component
	err = gobuild.Build{
		What: what,
		Dir:  b.Module,
		Args: slices.Concat([]string{compilerFlags, "-ldflags", flags, "-o", dir + string(filepath.Separator)}, packages),
		Env:  append(b.Platform.Environment(), "GOTMPDIR="+dir),
		Log:  log,
		Progress: func(p gobuild.Progress) {
			if i := slices.Index(packages, p.Package); i >= 0 {
				compiled = append(compiled, missing[i])
			}
			now := Progress{Progress: p, Of: len(missing)}
			for _, c := range compiled {
				if isFile(filepath.Join(dir, c.output())) {
					now.Built++
				} else {
					now.Linking = append(now.Linking, c.Name)
				}
			}
			progress(now)
		},
	}.Run(ctx)
	var p *problem.Problem
	if errors.As(err, &p) {
		p.Log = b.Log
		if p.Fix == "" {
			p.Fix = "see the log"
		}
	}
	return err
}

// compilerFlags turn off debug information, and inlining in Kubernetes' own packages, which are
// most of the build. That saves a third of the CPU time (75 s instead of 108 s for client-go and
// the core API), and encoding, decoding and copying a Pod stay as fast. The chapters use other
// versions of these packages.
const compilerFlags = "-gcflags=k8s.io/...=-l -dwarf=false"

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
