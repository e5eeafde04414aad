package cluster

// kwokctl is run with an environment of its own: HOME is the cluster's folder, so that all state lies there and nobody's
// ~/.kwok or ~/.kube is touched; PATH has our kubectl, which it would download otherwise.

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/process"
)

func (c *Cluster) kwokctl(ctx context.Context, args ...string) error {
	log, err := os.OpenFile(c.kwokLog(), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	before, err := log.Stat()
	if err != nil {
		return err
	}
	cmd := process.NewCommand(ctx, time.Second, filepath.Join(c.bin, "kwokctl"), append([]string{"--name", c.name}, args...)...)
	cmd.Dir = c.dir
	cmd.Env = []string{"HOME=" + c.dir, "PATH=" + c.bin}
	cmd.Stdout, cmd.Stderr = log, log
	err = cmd.Run()
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	said := make([]byte, 64<<10)
	n, _ := log.ReadAt(said, before.Size())
	return c.kwokctlProblem(args, string(said[:n]), err)
}

func (c *Cluster) kwokctlProblem(args []string, said string, err error) error {
	p := &problem.Problem{
		What: fmt.Sprintf("kwokctl couldn't %s %s %q", args[0], args[1], c.name),
		Mend: "look at the log; \"./scripts/workshop down --purge\" starts afresh",
		Log:  c.kwokLog(),
		Err:  err,
	}
	if last := lastError(said); last != "" {
		p.Err = errors.New(last)
	}
	p.Explain(problem.OnMachine(), said)
	return p
}

// lastError finds the last complaint among kwokctl's log lines, which are JSON.
func lastError(log string) string {
	for _, text := range slices.Backward(strings.Split(log, "\n")) {
		var line struct{ Level, Msg, Err string }
		if json.Unmarshal([]byte(text), &line) == nil && line.Level == "ERROR" {
			return cmp.Or(line.Err, line.Msg)
		}
	}
	return ""
}
