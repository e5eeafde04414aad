package suite

// Tests that need containers: the contract on a cluster of kind, and the ways in which readers run
// the programs there.

import (
	"context"
	"errors"
	"fmt"
	"io"

	"example.com/operators/scripts/internal/contract"
	"example.com/operators/scripts/internal/kind"
	"example.com/operators/scripts/internal/program"
	"example.com/operators/scripts/internal/ui"
)

// OnKind runs the tests that need containers on a new cluster of kind. It needs docker, and pulls
// only kind's node image and, for make test-e2e, cert-manager's manifests and images.
func (s *Suite) OnKind(ctx context.Context) error {
	c := kind.New(s.Root, testCluster)
	images := append(contract.Images(), kind.SampleImages()...)
	return s.run(ctx, func() {
		s.onCluster(ctx, c, func() {
			if s.step(ctx, "the stand-in for its Pods' images", func(*ui.Step) (string, error) {
				return "loaded", c.LoadStandIn(ctx, s.kubectl(c), images...)
			}) {
				s.withContainers(ctx, c)
			}
		})
	})
}

func (s *Suite) withContainers(ctx context.Context, c *kind.Cluster) {
	env := append(s.testEnvironment(c, s.Chapters...), "TEST_KIND_NODE="+c.Node(), "WORKSHOP_ON=kind")
	s.testStep(ctx, "kind, and deploy", "scripts", env, "-tags=kind", "-p=1", "./internal/kind", "./internal/program")
	for _, chapter := range s.Chapters {
		s.tour(ctx, chapter, c)
	}
	s.applyCRDs(ctx, s.kubectl(c))
	s.testStep(ctx, "the behavior contract", "scripts", env,
		fmt.Sprintf("-parallel=%d", contract.AtOnce), "-timeout=80m", "./acceptance")
	s.step(ctx, "removing the operators", func(*ui.Step) (string, error) {
		return "the end-to-end tests install their own", s.removeOperators(ctx, c)
	})
	// The projects' own end-to-end tests use images that are built without the golang image.
	endToEnd := append(s.kubectl(c).Environment(), // kind, which has made the cluster, is in kubectl's folder
		"GOWORK=off", "KIND_CLUSTER="+c.KindName(), "DOCKER_BUILD=docker-prebuilt")
	for _, chapter := range s.Chapters {
		if chapter.IsProject() {
			s.testStep(ctx, chapter.Name+": make test-e2e", chapter.Name, endToEnd,
				"-tags=e2e", "-timeout=30m", "./test/e2e")
		}
	}
}

// removeOperators deletes what the contract has left of the projects: CRDs, namespaces, permissions.
func (s *Suite) removeOperators(ctx context.Context, c *kind.Cluster) (err error) {
	for _, chapter := range s.Chapters {
		if !chapter.IsProject() {
			continue
		}
		p, readErr := program.OfChapter(chapter)
		if readErr != nil {
			return readErr
		}
		d := program.Deployment{Program: p, Root: s.Root, Cluster: c, Kubectl: s.kubectl(c), Out: io.Discard}
		err = errors.Join(err, d.Remove(ctx))
	}
	return err
}
