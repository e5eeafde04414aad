package kind

// Creating the cluster, and the configuration that kind creates it from.

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

// create makes the cluster. What is left of one that was never finished goes first.
func (c *Cluster) create(ctx context.Context, docker engine, progress func(string)) error {
	if _, err := c.remove(ctx); err != nil {
		return err
	}
	err := errors.Join(
		os.RemoveAll(c.logs()),
		os.MkdirAll(c.logs(), 0o700),
		os.MkdirAll(c.dir, 0o700),
		os.WriteFile(c.madeFile(), nil, 0o600), // marks it as begun
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

// breakOff aborts the creation of a cluster. kind can't be interrupted, but fails soon after its node is gone. The node has to run first,
// because removing what docker is still creating doesn't always work. What is mounted into it stays until the end, because docker would create
// it again, and not as ours.
func (c *Cluster) breakOff(created <-chan error) error {
	ctx := context.Background()
	again := time.NewTicker(time.Second)
	defer again.Stop()
	for {
		if node, _, err := c.find(ctx); err == nil && node.State.Running {
			_, _ = c.removeNode(ctx) // tried again, until kind has ended
		}
		select {
		case <-created:
			_, err := c.remove(ctx)
			return err
		case <-again.C:
		}
	}
}

// auditPatch has the API server write an audit log, as kind's documentation on auditing shows.
//
//go:embed audit-patch.yaml
var auditPatch string

// oldCgroups lets the kubelet run on a machine that still has cgroups of version 1.
const oldCgroups = "kind: KubeletConfiguration\nfailCgroupV1: false\n"

// config is for one node, which runs everything.
func (c *Cluster) config(docker engine) (*v1alpha4.Cluster, error) {
	audit := filepath.Dir(c.AuditLog())
	policy := filepath.Join(c.dir, "audit-policy.yaml")
	err := errors.Join(
		os.MkdirAll(audit, 0o700),
		os.WriteFile(policy, cluster.AuditPolicy, 0o600),
		// The API server is root, and appends to a file that is there: so the log stays ours to read, even when it moves a full one aside.
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

// logger is kind's log.Logger, and its log.InfoLogger. All goes to the writer; what kind is doing, to progress.
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
