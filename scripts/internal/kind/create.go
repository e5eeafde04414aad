package kind

// Creating a cluster, and kind's configuration for it.

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unicode"

	"k8s.io/apimachinery/pkg/util/wait"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/process"
)

// create creates the cluster, after removing what is left of an unfinished one.
func (c *Cluster) create(ctx context.Context, progress func(string)) error {
	if _, err := c.remove(ctx); err != nil {
		return err
	}
	err := errors.Join(
		os.RemoveAll(c.logs()),
		os.MkdirAll(c.logs(), 0o700),
		os.MkdirAll(filepath.Dir(c.AuditLog()), 0o700),
		os.WriteFile(c.auditPolicy(), cluster.AuditPolicy, 0o600),
		// The API server runs as root, but appends to an existing file, so the log stays readable
		// for us, even after it rotates one.
		os.WriteFile(c.AuditLog(), nil, 0o600),
		os.WriteFile(c.madeFile(), nil, 0o600), // the creation has begun
	)
	if err == nil {
		err = c.runKind(ctx, progress)
	}
	if err != nil {
		_, removeErr := c.remove(context.WithoutCancel(ctx))
		return errors.Join(err, removeErr)
	}
	node, err := inspect(ctx, c.Node())
	if err != nil {
		return err
	}
	return os.WriteFile(c.madeFile(), []byte(node.ID), 0o600)
}

// runKind runs kind create cluster. It leaves the node of a failure to the caller.
func (c *Cluster) runKind(ctx context.Context, progress func(string)) error {
	progress("pulling the node image")
	if err := pull(ctx, c.image()); err != nil {
		return err
	}
	command, err := c.kind(ctx, progress, "create", "cluster", "--config", "-",
		"--image", c.image(), "--kubeconfig", c.Kubeconfig(), "--retain") // for its logs
	if err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(c.logs(), "kind.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	var printed strings.Builder
	all := io.MultiWriter(log, &printed, &process.Lines{Do: func(line string) { showStep(line, progress) }})
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(c.config()), all, all
	// docker can't always remove a container that it is still creating, and goes on creating it when
	// its client is interrupted. So kind is only interrupted once the node runs.
	interrupt := command.Cancel
	command.Cancel = func() error {
		_ = wait.PollUntilContextCancel(context.WithoutCancel(ctx), 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
			node, err := inspect(ctx, c.Node())
			ended := command.Process.Signal(syscall.Signal(0)) != nil
			return ended || err == nil && node.State.Running, nil
		})
		return interrupt()
	}
	progress("kind: creating the cluster")
	err = command.Run()
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	if export, err := c.kind(ctx, progress, "export", "logs", c.logs()); err == nil {
		_ = export.Run() // there may be no node yet
	}
	if _, message, found := strings.Cut(printed.String(), "ERROR: "); found {
		message, _, _ = strings.Cut(message, "\n")
		err = errors.New(message)
	}
	return explain(err, printed.String(), fmt.Sprintf("kind couldn't create the cluster %q", c.KindName()), c.logs())
}

// showStep shows a line that kind prints when a step begins: " • Preparing nodes 📦  ...".
func showStep(line string, progress func(string)) {
	if step, found := strings.CutPrefix(line, " • "); found {
		isPicture := func(r rune) bool { return r > unicode.MaxLatin1 || r == ' ' || r == '.' }
		progress("kind: " + strings.ToLower(strings.TrimRightFunc(step, isPicture)))
	}
}

//go:embed kubeadm-patch.yaml
var kubeadmPatch string

// config is kind's configuration for a single node that writes an audit log, as kind's
// documentation shows. A string that is quoted for Go is one for YAML, too.
func (c *Cluster) config() string {
	return fmt.Sprintf(`apiVersion: kind.x-k8s.io/v1alpha4
kind: Cluster
nodes:
- role: control-plane
  extraMounts:
  - {hostPath: %q, containerPath: /etc/kubernetes/audit-policy.yaml, readOnly: true}
  - {hostPath: %q, containerPath: /var/log/kubernetes-audit}
kubeadmConfigPatches: [%q]
`, c.auditPolicy(), filepath.Dir(c.AuditLog()), kubeadmPatch)
}
