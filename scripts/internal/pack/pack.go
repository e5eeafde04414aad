// Package pack makes one archive of all that the course needs, for a machine that has a shell and no network: the repository as
// committed, the control plane's programs and the workshop's, Go, and a module proxy made of files.
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

// folder is what the archive unpacks to.
const folder = "operators"

// The disk that is needed, in bytes. The parts are 0.7 GiB of modules, 0.6 of Go and 0.6 of programs. In the archive, Go and the programs
// shrink to less than half, and the modules, which are compressed already, don't shrink.
const (
	neededToGather  = 2 << 30
	neededToArchive = 3 << 29
)

// platforms are the platforms that an archive can be for.
var platforms = []controlplane.Platform{
	{OS: "linux", Arch: "amd64"}, {OS: "linux", Arch: "arm64"}, {OS: "darwin", Arch: "arm64"}, {OS: "darwin", Arch: "amd64"},
}

// Options say what is to be made.
type Options struct {
	Root     string // of the repository
	Platform controlplane.Platform
	Output   string // the archive, or a folder for it; "": a folder in .workshop
	UI       *ui.UI
	// Build builds what is missing of the control plane.
	Build func(context.Context, *controlplane.Builder) error
}

// Result is what was made.
type Result struct {
	Path     string
	Size     int64 // of the archive, in bytes
	Unpacked int64 // of all that is in it
	SHA256   string
	Elapsed  time.Duration
}

// packer is one run.
type packer struct {
	Options
	dir     string // for temporary files: .workshop/pack
	source  string // the repository as committed
	commit  string
	date    time.Time // of the commit
	goIs    string    // the version of Go, such as go1.26.8
	entries []entry   // of the archive
}

// Pack makes the archive, which has its name once it is whole. Built programs stay for the next try.
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

// gather creates all parts and adds them to the archive. The ones that can fail early come first.
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

// step does one part, and shows it. A part returns a short description of what it got.
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

// clean removes what can be had again in a moment. Go and the built programs stay for the next archive.
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

// size is a number of bytes as people say it.
func size(bytes int64) string {
	const mib = 1 << 20
	if bytes < 1000*mib {
		return fmt.Sprintf("%d MiB", (bytes+mib-1)/mib)
	}
	return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
}
