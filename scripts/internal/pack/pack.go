// Package pack makes one archive of all that the course needs on a machine with a shell and no
// network: the repository as committed, the programs of the control plane and the workshop, Go, and
// a module proxy of files.
package pack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.com/operators/scripts/internal/controlplane"
	"example.com/operators/scripts/internal/lock"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/ui"
)

const folder = "operators" // the archive's top folder

// The free disk space that packing needs, in bytes: 0.7 GiB for modules, 0.6 for Go and 0.6 for
// programs. In the archive, Go and the programs shrink to less than half. The modules are
// compressed already.
const (
	neededToGather  = 2 << 30
	neededToArchive = 3 << 29
)

var platforms = []controlplane.Platform{
	{OS: "linux", Arch: "amd64"}, {OS: "linux", Arch: "arm64"}, {OS: "darwin", Arch: "arm64"}, {OS: "darwin", Arch: "amd64"},
}

type Options struct {
	Root     string // of the repository
	Platform controlplane.Platform
	Output   string // the archive, or a folder for it; "": a folder in .workshop
	UI       *ui.UI
	// Build builds the missing components of the control plane.
	Build func(context.Context, *controlplane.Builder) error
}

type Result struct {
	Path     string
	Size     int64 // of the archive, in bytes
	Unpacked int64 // of all that is in it
	SHA256   string
	Elapsed  time.Duration
}

type packer struct {
	Options
	dir       string // for temporary files: .workshop/pack
	source    string // the repository as committed
	commit    string
	date      time.Time // of the commit
	goVersion string    // such as go1.26.8
	entries   []entry   // of the archive
}

// Pack makes the archive. It keeps the programs that it has built for the next archive.
func Pack(ctx context.Context, o Options) (Result, error) {
	start := time.Now()
	if err := checkPlatform(o.Platform); err != nil {
		return Result{}, err
	}
	p := &packer{Options: o, dir: filepath.Join(o.Root, ".workshop", "pack")}
	output, err := p.output()
	if err != nil {
		return Result{}, err
	}
	release, err := lock.Acquire(ctx, p.dir, func(holder string) { o.UI.Say("waiting for %s", holder) })
	if err != nil {
		return Result{}, err
	}
	defer release()
	const elsewhere = "choose another disk (--output for the archive)"
	if err := errors.Join(controlplane.CheckFree(p.dir, neededToGather, "to gather what goes into the archive", elsewhere),
		controlplane.CheckFree(filepath.Dir(output), neededToArchive, "for the archive", elsewhere)); err != nil {
		return Result{}, err
	}
	if err := p.gather(ctx); err != nil {
		return Result{}, err
	}
	result, err := p.write(ctx, output)
	result.Elapsed = time.Since(start)
	return result, errors.Join(err, p.clean())
}

// gather creates all parts and adds them to the archive. Those that can fail early come first.
func (p *packer) gather(ctx context.Context) error {
	for _, part := range []func() error{
		p.clean,
		func() error { return p.step(ctx, "the repository as committed", p.takeSource) },
		func() error { return p.step(ctx, "Go", p.fetchGo) },
		func() error { return p.step(ctx, "modules", p.fetchModules) },
		func() error { return p.buildControlPlane(ctx) },
		func() error { return p.step(ctx, "the workshop's program", p.buildTool) },
		func() error { return p.anonymize(ctx) },
		func() error { return p.add("", p.source) },
		p.addMarker,
	} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

// step runs one part and shows it. A part returns a short description of its result.
func (p *packer) step(ctx context.Context, what string, part func(context.Context, *ui.Step) (string, error)) error {
	err := p.UI.While(what, func(step *ui.Step) (string, error) {
		summary, err := part(ctx, step)
		return what + ": " + summary, err
	})
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// clean removes temporary files. Go and the built programs stay for the next archive.
func (p *packer) clean() error {
	return errors.Join(os.RemoveAll(p.path("source")), os.RemoveAll(p.path("modules")), os.RemoveAll(p.path("workshop")), os.RemoveAll(p.path(marker)))
}

func (p *packer) path(name string) string { return filepath.Join(p.dir, name) }

func (p *packer) output() (string, error) {
	name := fmt.Sprintf("%s-%s-%s.tar.gz", folder, p.Platform.OS, p.Platform.Arch)
	if p.Output == "" {
		return p.path(name), nil
	}
	path, err := filepath.Abs(p.Output)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, name)
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return "", problem.New("--output %s: there is no folder %s", p.Output, filepath.Dir(path)).
			ToDo("create it first, or choose another")
	}
	return path, nil
}

func checkPlatform(platform controlplane.Platform) error {
	if slices.Contains(platforms, platform) {
		return nil
	}
	var known []string
	for _, k := range platforms {
		known = append(known, fmt.Sprintf("--os %s --arch %s", k.OS, k.Arch))
	}
	p := problem.New("there is no archive for %s", platform).
		ToDo("choose one of: %s", strings.Join(known, ", "))
	if platform.OS == "windows" {
		p.Fix = "for WSL2 take --os linux; " + p.Fix
	}
	return p
}

func size(bytes int64) string {
	const mib = 1 << 20
	if bytes < 1000*mib {
		return fmt.Sprintf("%d MiB", (bytes+mib-1)/mib)
	}
	return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
}
