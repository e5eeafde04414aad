package kind

// Creating a cluster, and kind's configuration for it.

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"example.com/operators/scripts/internal/cluster"
)

// create creates the cluster, after removing what is left of an unfinished one.
func (c *Cluster) create(ctx context.Context, progress func(string)) error {
	if _, err := c.removeNode(ctx); err != nil {
		return err
	}
	err := errors.Join(
		os.RemoveAll(c.dir),
		os.MkdirAll(filepath.Dir(c.AuditLog()), 0o700),
		os.WriteFile(c.auditPolicy(), cluster.AuditPolicy, 0o600),
		// The API server runs as root, but appends to an existing file, so the log stays readable
		// for us, even after it rotates one.
		os.WriteFile(c.AuditLog(), nil, 0o600),
	)
	if err != nil {
		return err
	}
	err = c.runKind(ctx, progress)
	if err == nil {
		return nil
	}
	_, removeErr := c.removeNode(context.WithoutCancel(ctx))
	if ctx.Err() == nil { // docker may still be creating the container, which the next call removes
		removeErr = errors.Join(removeErr, os.RemoveAll(c.dir))
	}
	return errors.Join(err, removeErr)
}

// runKind runs kind create cluster.
func (c *Cluster) runKind(ctx context.Context, progress func(string)) error {
	image := cmp.Or(c.Image, DefaultImage)
	args := []string{"create", "cluster", "--config", "-", "--image", image, "--kubeconfig", c.Kubeconfig()}
	command, err := c.kind(ctx, progress, args...)
	if err != nil {
		return err
	}
	path := filepath.Join(c.state, "logs", "kind.log")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	log, err := os.Create(path)
	if err != nil {
		return err
	}
	defer log.Close()
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(c.config()), log, log
	progress("kind: creating the cluster")
	err = command.Run()
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	printed, _ := os.ReadFile(path)
	if _, message, found := strings.Cut(string(printed), "ERROR: "); found {
		message, _, _ = strings.Cut(message, "\n")
		err = errors.New(message)
	}
	return explain(fmt.Sprintf("kind couldn't create the cluster %q", c.KindName()), err, string(printed)).SeeLog(path)
}

func (c *Cluster) auditPolicy() string { return filepath.Join(c.dir, "audit-policy.yaml") }

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
