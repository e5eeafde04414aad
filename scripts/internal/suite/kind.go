package suite

// Tests that need containers: the contract on a cluster of kind, and the ways in which readers run
// the programs there.

import (
	"context"
	"errors"
	"fmt"
	"io"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/contract"
	"example.com/operators/scripts/internal/kind"
	"example.com/operators/scripts/internal/program"
	"example.com/operators/scripts/internal/ui"
)

type onKind struct {
	*Suite
	cluster *kind.Cluster
	kubectl cluster.Kubectl
}

// OnKind runs the tests that need containers on a new cluster of kind. It needs docker, and pulls
// only kind's node image and, for make test-e2e, cert-manager's manifests and images.
func (s *Suite) OnKind(ctx context.Context) error {
	c := kind.New(s.Root, testCluster)
	k := &onKind{s, c, s.kubectl(c)}
	return s.run(ctx, func() {
		s.onCluster(ctx, c, func() {
			if s.step(ctx, "the stand-in for its Pods' images", k.loadImages) {
				k.all(ctx)
			}
		})
	})
}

func (k *onKind) loadImages(ctx context.Context, _ *ui.Step) (string, error) {
	return "loaded", k.cluster.LoadStandIn(ctx, append(contract.Images(), kind.SampleImages()...)...)
}

func (k *onKind) all(ctx context.Context) {
	k.step(ctx, "kind, and deploy", func(ctx context.Context, step *ui.Step) (string, error) {
		return k.goTest(ctx, step, "scripts", k.environment(), "-tags=kind", "-p=1",
			"./internal/kind", "./internal/program")
	})
	for _, chapter := range k.Chapters {
		k.tour(ctx, chapter, k.cluster)
	}
	k.applyCRDs(ctx, k.kubectl)
	k.step(ctx, "the behavior contract", func(ctx context.Context, step *ui.Step) (string, error) {
		return k.goTest(ctx, step, "scripts", k.environment(),
			fmt.Sprintf("-parallel=%d", contract.AtOnce), "-timeout=80m", "./acceptance")
	})
	k.step(ctx, "removing the operators", func(ctx context.Context, _ *ui.Step) (string, error) {
		return "the end-to-end tests install their own", k.removeOperators(ctx)
	})
	for _, chapter := range k.Chapters {
		if chapter.IsProject() {
			k.step(ctx, chapter.Name+": make test-e2e", func(ctx context.Context, step *ui.Step) (string, error) {
				return k.endToEnd(ctx, step, chapter)
			})
		}
	}
}

func (k *onKind) environment() []string {
	return append(k.testEnvironment(k.cluster, k.Chapters...),
		"TEST_KIND_NODE="+k.cluster.Node(), "WORKSHOP_ON=kind")
}

// removeOperators deletes what the contract has left of the projects: CRDs, namespaces, permissions.
func (k *onKind) removeOperators(ctx context.Context) (err error) {
	for _, chapter := range k.Chapters {
		if !chapter.IsProject() {
			continue
		}
		p, readErr := program.OfChapter(chapter)
		if readErr != nil {
			return readErr
		}
		d := program.Deployment{Program: p, Root: k.Root, Cluster: k.cluster, Kubectl: k.kubectl, Out: io.Discard}
		err = errors.Join(err, d.Remove(ctx))
	}
	return err
}

// endToEnd runs a project's own end-to-end tests on this cluster, with images that are built
// without the golang image.
func (k *onKind) endToEnd(ctx context.Context, step *ui.Step, chapter chapters.Chapter) (string, error) {
	env := append(k.kubectl.Environment(), // kind, which has made the cluster, is in kubectl's folder
		"GOWORK=off",
		"KIND_CLUSTER="+k.cluster.KindName(),
		"DOCKER_BUILD=docker-prebuilt",
	)
	return k.goTest(ctx, step, chapter.Name, env, "-tags=e2e", "-timeout=30m", "./test/e2e")
}
