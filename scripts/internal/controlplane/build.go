package controlplane

// The build itself: go, component after component, with a temporary name each.

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.com/operators/scripts/internal/lock"
	"example.com/operators/scripts/internal/problem"
)

// Build builds what is missing and calls progress as it goes on. Cancelled, it keeps the components that are finished.
func (b *Builder) Build(ctx context.Context, progress func(Progress)) error {
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
	return b.build(ctx, missing, progress)
}

func (b *Builder) build(ctx context.Context, missing []Component, progress func(Progress)) error {
	for _, dir := range []string{b.Bin, filepath.Dir(b.Log)} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	log, err := os.Create(b.Log)
	if err != nil {
		return err
	}
	defer log.Close()
	stamp, err := b.stamp()
	if err != nil {
		return err
	}
	flags, err := b.linkerFlags(ctx)
	if err != nil {
		return err
	}
	for i, c := range missing {
		p := Progress{Component: c.Name, Number: i + 1, Of: len(missing)}
		built := filepath.Join(b.Bin, "."+c.Name+".new")
		if err := b.goBuild(ctx, c, flags, built, log, p, progress); err != nil {
			_ = os.Remove(built)
			return err
		}
		if err := b.keep(c, built, stamp); err != nil {
			return fmt.Errorf("keeping %s: %w", c.Name, err)
		}
		p.Built = true
		progress(p)
	}
	return nil
}

// goBuild builds one component. Flags that a user may have in GOFLAGS and that would break it are overridden.
func (b *Builder) goBuild(ctx context.Context, c Component, linkerFlags, out string, log io.Writer, p Progress, progress func(Progress)) error {
	progress(p)
	watch := &watcher{progress: p, report: progress}
	cmd := exec.CommandContext(ctx, "go", "build", "-v", "-mod=readonly", "-buildvcs=false", "-trimpath",
		"-ldflags", linkerFlags, "-o", out, c.Package)
	cmd.Dir = b.Module
	cmd.Env = slices.Concat(os.Environ(), []string{"GOWORK=off", "CGO_ENABLED=0"}, b.Platform.Environment())
	cmd.Stderr = io.MultiWriter(log, watch)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // lets go remove its temporary files
	cmd.WaitDelay = 5 * time.Second
	fmt.Fprintf(log, "# %s\n", cmd)
	err := cmd.Run()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	default:
		return b.failure(c, watch.messages, err)
	}
}

// failure turns what go said into a sentence: a cause that is known, or else go's own last words.
func (b *Builder) failure(c Component, messages []string, err error) error {
	what := "building " + c.Name
	if b.Platform != (Platform{}) {
		what += " for " + b.Platform.String()
	}
	p := &problem.Problem{What: what + " failed", Mend: "see the log", Log: b.Log, Err: err}
	if len(messages) > 0 {
		p.Err = fmt.Errorf("go said:\n    %s", strings.Join(messages, "\n    "))
	}
	if what, mend, known := problem.Cause(strings.Join(messages, "\n")); known {
		p.What += ", since " + what
		p.Mend = mend
	}
	return p
}

// linkerFlags make the binaries report the version of Kubernetes that go.mod pins; without it kubectl and the API server
// say v0.0.0-master.
func (b *Builder) linkerFlags(ctx context.Context) (string, error) {
	version, err := b.kubernetesVersion(ctx)
	if err != nil {
		return "", err
	}
	parts := strings.Split(strings.TrimPrefix(version, "v"), ".")
	if len(parts) < 3 {
		return "", fmt.Errorf("k8s.io/kubernetes has the odd version %q", version)
	}
	const at = " -X k8s.io/component-base/version."
	return "-s -w" + at + "gitVersion=" + version + at + "gitMajor=" + parts[0] + at + "gitMinor=" + parts[1], nil
}

func (b *Builder) kubernetesVersion(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "edit", "-json")
	cmd.Dir = b.Module
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("reading %s/go.mod: %w", b.Module, err)
	}
	var mod struct {
		Require []struct{ Path, Version string }
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		return "", fmt.Errorf("reading %s/go.mod: %w", b.Module, err)
	}
	for _, r := range mod.Require {
		if r.Path == "k8s.io/kubernetes" {
			return r.Version, nil
		}
	}
	return "", fmt.Errorf("%s/go.mod doesn't require k8s.io/kubernetes", b.Module)
}
