package pack

// What is built: the control plane, by the same code as `workshop up` does it, and the workshop's own program.

import (
	"cmp"
	"context"
	"debug/elf"
	"debug/macho"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"

	"example.com/operators/scripts/internal/controlplane"
	"example.com/operators/scripts/internal/gobuild"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/ui"
)

// buildControlPlane builds what is missing. For this machine, that is what clusters here run on as well; for another one, it stays in
// a folder of its own until the next time.
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
	for _, component := range controlplane.Components() {
		// With its stamp, which matches the packed go.mod, `up` knows that it has nothing to build.
		for _, name := range []string{component.Name, "." + component.Name + ".stamp"} {
			if err := p.add(".workshop/bin/"+name, filepath.Join(builder.Bin, name)); err != nil {
				return fmt.Errorf("%s for %s: %w", component.Name, p.Platform, err)
			}
		}
	}
	return nil
}

// buildTool builds the workshop's program, with nothing but the modules that are packed.
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

// checkProgram says whether a file is a program that runs on the platform: a stamp is about a go.mod only.
func checkProgram(path string, platform controlplane.Platform) error {
	var is bool
	var err error
	switch platform.OS {
	case "darwin":
		var file *macho.File
		if file, err = macho.Open(path); err == nil {
			is = file.Cpu == map[string]macho.Cpu{"amd64": macho.CpuAmd64, "arm64": macho.CpuArm64}[platform.Arch]
			err = file.Close()
		}
	default:
		var file *elf.File
		if file, err = elf.Open(path); err == nil {
			is = file.Machine == map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[platform.Arch]
			err = file.Close()
		}
	}
	if err == nil && is {
		return nil
	}
	return problem.New("%s isn't a program for %s", path, platform).
		ToDo("remove it, and pack again").
		Because(cmp.Or(err, errors.New("it is for another processor")))
}
