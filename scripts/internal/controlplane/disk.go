package controlplane

// Free disk space, looked at before a build.

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/shirou/gopsutil/v4/disk"

	"example.com/operators/scripts/internal/problem"
)

const gib = 1 << 30

// What a first build takes, in bytes (3.4 GiB of cache, 0.6 of programs), on the disk of Go's build cache and on that of
// .workshop, with some room for a cluster. Where both are one disk, the first number is enough.
const (
	NeededForCache  = 5 * gib
	NeededForBinary = 1 * gib
)

// checkDisk looks before the build whether it will fit: to fail after minutes would be worse.
func (b *Builder) checkDisk(ctx context.Context, missing int) error {
	cache, err := exec.CommandContext(ctx, "go", "env", "GOCACHE").Output()
	if err != nil {
		return fmt.Errorf("asking go for its build cache: %w", err)
	}
	needed := uint64(NeededForCache)
	if missing < len(Components()) {
		needed = NeededForBinary // components share most packages: the bulk is compiled
	}
	return errors.Join(
		CheckFree(strings.TrimSpace(string(cache)), needed, "to build the control plane", Elsewhere),
		CheckFree(b.Bin, NeededForBinary, "for the control plane", Elsewhere),
	)
}

// Elsewhere is the advice to move a build to another disk.
const Elsewhere = "set GOCACHE to a folder on a disk that has more, or copy the repository to one"

// CheckFree returns an error if the disk of dir has less than needed bytes left for that purpose.
// elsewhere is what the user can do instead of freeing space.
func CheckFree(dir string, needed uint64, purpose, elsewhere string) error {
	free, err := freeDisk(dir)
	if err != nil || free >= needed {
		return err
	}
	return problem.New("the disk of %s has %.1f GiB left, %.1f GiB are needed %s", dir, float64(free)/gib, float64(needed)/gib, purpose).
		ToDo("free some space, or %s", elsewhere)
}

// freeDisk returns how many bytes are free below dir, which need not exist yet.
func freeDisk(dir string) (uint64, error) {
	for {
		usage, err := disk.Usage(dir)
		parent := filepath.Dir(dir)
		switch {
		case err == nil:
			return usage.Free, nil
		case parent == dir:
			return 0, fmt.Errorf("looking for free space in %s: %w", dir, err)
		}
		dir = parent
	}
}
