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
	"time"
	"unicode"

	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	kind "sigs.k8s.io/kind/pkg/cluster"
	kindexec "sigs.k8s.io/kind/pkg/exec"
	"sigs.k8s.io/kind/pkg/log"

	"example.com/operators/scripts/internal/cluster"
)

// create creates the cluster, after removing what is left of an unfinished one.
func (c *Cluster) create(ctx context.Context, docker engine, progress func(string)) error {
	if _, err := c.remove(ctx); err != nil {
		return err
	}
	err := errors.Join(
		os.RemoveAll(c.logs()),
		os.MkdirAll(c.logs(), 0o700),
		os.MkdirAll(c.dir, 0o700),
		os.WriteFile(c.madeFile(), nil, 0o600), // the creation has begun
	)
	if err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(c.logs(), "kind.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	progress("pulling the node image")
	if err := pull(ctx, c.image()); err != nil {
		return errors.Join(err, os.RemoveAll(c.dir))
	}
	config, err := c.config(docker)
	if err != nil {
		return err
	}
	progress("kind: creating the cluster")
	provider := c.provider(logger{w: log, progress: progress})
	created := make(chan error, 1)
	go func() {
		created <- provider.Create(c.KindName(),
			kind.CreateWithV1Alpha4Config(config),
			kind.CreateWithKubeconfigPath(c.Kubeconfig()),
			kind.CreateWithRetain(true), // for its logs
		)
	}()
	select {
	case err = <-created:
	case <-ctx.Done():
		return errors.Join(ctx.Err(), c.breakOff(created))
	}
	if err != nil {
		fmt.Fprintln(log, err)
		if run := kindexec.RunErrorForError(err); run != nil {
			fmt.Fprintf(log, "%s\n", run.Output)
		}
		_ = provider.CollectLogs(c.KindName(), c.logs()) // there may be no node yet
		err = explain(err, fmt.Sprintf("kind couldn't create the cluster %q", c.KindName()), c.logs())
		_, removeErr := c.remove(context.WithoutCancel(ctx))
		return errors.Join(err, removeErr)
	}
	node, err := inspect(ctx, c.Node())
	if err != nil {
		return err
	}
	return os.WriteFile(c.madeFile(), []byte(node.ID), 0o600)
}

// breakOff aborts the creation of a cluster. kind can't be interrupted, but it fails soon after its
// node is removed. The node has to run first, because docker can't always remove what it is still
// creating. The mounted folders are removed last, because docker would create them again, as
// root's.
func (c *Cluster) breakOff(created <-chan error) error {
	ctx := context.Background()
	again := time.NewTicker(time.Second)
	defer again.Stop()
	for {
		if node, _, err := c.find(ctx); err == nil && node.State.Running {
			_, _ = c.removeNode(ctx) // repeated until kind has ended
		}
		select {
		case <-created:
			_, err := c.remove(ctx)
			return err
		case <-again.C:
		}
	}
}

// auditPatch makes the API server write an audit log, as kind's documentation shows.
//
//go:embed audit-patch.yaml
var auditPatch string

// oldCgroups lets the kubelet run on a machine that still has cgroups of version 1.
const oldCgroups = "kind: KubeletConfiguration\nfailCgroupV1: false\n"

// config is for a single node.
func (c *Cluster) config(docker engine) (*v1alpha4.Cluster, error) {
	audit := filepath.Dir(c.AuditLog())
	policy := filepath.Join(c.dir, "audit-policy.yaml")
	err := errors.Join(
		os.MkdirAll(audit, 0o700),
		os.WriteFile(policy, cluster.AuditPolicy, 0o600),
		// The API server runs as root, but appends to an existing file, so the log stays readable
		// for us, even after it rotates one.
		os.WriteFile(c.AuditLog(), nil, 0o600),
	)
	if err != nil {
		return nil, err
	}
	patches := []string{auditPatch}
	if docker.CgroupVersion == "1" {
		patches = append(patches, oldCgroups)
	}
	return &v1alpha4.Cluster{
		Nodes: []v1alpha4.Node{{
			Role:  v1alpha4.ControlPlaneRole,
			Image: c.image(),
			ExtraMounts: []v1alpha4.Mount{
				{HostPath: policy, ContainerPath: "/etc/kubernetes/audit-policy.yaml", Readonly: true},
				{HostPath: audit, ContainerPath: "/var/log/kubernetes-audit"},
			},
		}},
		KubeadmConfigPatches: patches,
	}, nil
}

// logger is kind's log.Logger and log.InfoLogger. It writes everything to w, and kind's steps to
// progress.
type logger struct {
	w        io.Writer
	progress func(string)
	level    log.Level
}

func (l logger) Warn(message string)               { fmt.Fprintln(l.w, "warning:", message) }
func (l logger) Warnf(format string, args ...any)  { l.Warn(fmt.Sprintf(format, args...)) }
func (l logger) Error(message string)              { fmt.Fprintln(l.w, "error:", message) }
func (l logger) Errorf(format string, args ...any) { l.Error(fmt.Sprintf(format, args...)) }
func (l logger) Infof(format string, args ...any)  { l.Info(fmt.Sprintf(format, args...)) }
func (l logger) Enabled() bool                     { return l.level <= 1 }

func (l logger) V(level log.Level) log.InfoLogger {
	l.level = level
	return l
}

func (l logger) Info(message string) {
	if !l.Enabled() {
		return
	}
	message = strings.TrimSpace(message)
	fmt.Fprintln(l.w, message)
	if step, found := strings.CutPrefix(message, "• "); found && l.progress != nil {
		isPicture := func(r rune) bool { return r > unicode.MaxLatin1 || r == ' ' || r == '.' }
		l.progress("kind: " + strings.ToLower(strings.TrimRightFunc(step, isPicture)))
	}
}
