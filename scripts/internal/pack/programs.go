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
	"slices"

	"example.com/operators/scripts/internal/controlplane"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/ui"
)

// buildControlPlane builds what is missing. For this machine, that is what clusters here run on as well; for another one, it stays in
// a folder of its own until the next time.
func (p *packer) buildControlPlane(ctx context.Context) error {
	builder := controlplane.New(p.Root)
	builder.Module = filepath.Join(p.source, "scripts", "controlplane") // as committed
	if !p.native() {
		builder.Platform = p.Platform
		builder.Bin = p.path(fmt.Sprintf("%s-%s", p.Platform.OS, p.Platform.Arch))
		builder.Log = filepath.Join(p.dir, "build.log")
	}
	p.bin = builder.Bin
	return p.Build(ctx, builder)
}

// buildTool builds the workshop's program, with nothing but the modules that are packed.
func (p *packer) buildTool(ctx context.Context, _ *ui.Step) (string, error) {
	p.tool = p.path("workshop")
	env := slices.Concat(buildEnvironment(p.Platform), []string{"GOMODCACHE=" + p.path("modules"), "GOPROXY=off", "GOFLAGS=-modcacherw"})
	_, err := p.goCommand(ctx, "scripts", env, "build", "-mod=readonly", "-buildvcs=false", "-trimpath", "-ldflags=-s -w",
		"-o", p.tool, "./cmd/workshop")
	return "built for " + p.Platform.String(), err
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
	return &problem.Problem{
		What: fmt.Sprintf("%s isn't a program for %s", path, platform),
		Mend: "remove it, and pack again",
		Err:  cmp.Or(err, errors.New("it is for another processor")),
	}
}
