package suite

// The tests' clusters.

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/kubectl"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/program"
	"example.com/operators/scripts/internal/ui"
)

// onCluster runs tests on a new cluster of that name, which has the CRDs that they need. If all
// pass, it deletes the cluster. Otherwise it keeps it for you to look at.
func (s *Suite) onCluster(ctx context.Context, name string, tests func(*cluster.Cluster)) {
	c := s.cluster(name)
	if !s.freshCluster(ctx, c) {
		return
	}
	before := s.counts.NotPassed()
	if s.applyCRDs(ctx, s.kubectl(c)) {
		tests(c)
	}
	if ctx.Err() != nil || s.counts.NotPassed() == before {
		s.removeCluster(ctx, c)
		return
	}
	s.this.Keep(clusters + name)
	s.UI.Say("! cluster %q is left as it is; its logs are in %s", name, filepath.Dir(c.AuditLog()))
}

// freshCluster brings up a cluster with nothing in it, whatever was there under its name.
func (s *Suite) freshCluster(ctx context.Context, c *cluster.Cluster) bool {
	return s.step(ctx, fmt.Sprintf("cluster %q", c.Name()), func(ctx context.Context, step *ui.Step) (string, error) {
		if _, err := c.Down(ctx, true, func(holder string) { step.Update("waiting for %s", holder) }); err != nil {
			return "", err
		}
		result, err := c.Up(ctx, clusterOptions(step))
		return fmt.Sprintf("%d nodes", result.Nodes), err
	})
}

func clusterOptions(step *ui.Step) cluster.UpOptions {
	return cluster.UpOptions{Progress: func(what string) { step.Update("%s", what) }}
}

func (s *Suite) removeCluster(ctx context.Context, c *cluster.Cluster) {
	if _, err := c.Down(context.WithoutCancel(ctx), true, func(string) {}); err != nil {
		s.counts.Failed++
		s.UI.Say("%s", problem.Format(err))
	}
}

func (s *Suite) kubectl(c cluster.Backend) kubectl.Kubectl {
	return kubectl.Kubectl{Binary: filepath.Join(s.Bin, "kubectl"), Kubeconfig: c.Kubeconfig()}
}

// applyCRDs applies a CRD of each kind that the chapters' programs are about.
func (s *Suite) applyCRDs(ctx context.Context, k kubectl.Kubectl) bool {
	return s.step(ctx, "the kinds that tests are about", func(ctx context.Context, _ *ui.Step) (string, error) {
		programs, err := s.onePerKind()
		var applied []string
		for _, p := range programs {
			err = errors.Join(err, k.ApplyCRD(ctx, p.CRD))
			applied = append(applied, p.Kind)
		}
		return strings.Join(applied, ", "), err
	})
}

// onePerKind returns a program for each kind that the chapters' programs are about.
func (s *Suite) onePerKind() (programs []program.Program, err error) {
	for _, kind := range []string{chapters.Foo, chapters.TDSet} {
		for _, chapter := range s.Chapters {
			p, found, err := program.Of(chapter, kind)
			if err != nil {
				return nil, err
			}
			if found {
				programs = append(programs, p)
				break
			}
		}
	}
	return programs, nil
}
