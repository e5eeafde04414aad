package suite

// What only containers can show: the contract on a cluster of kind, from outside and with the programs in it, and the ways by which
// readers run them there.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/contract"
	"example.com/operators/scripts/internal/demo"
	"example.com/operators/scripts/internal/deploy"
	"example.com/operators/scripts/internal/gotest"
	"example.com/operators/scripts/internal/kind"
	"example.com/operators/scripts/internal/kubectl"
	"example.com/operators/scripts/internal/program"
	"example.com/operators/scripts/internal/ui"
)

// onKind is a run on a cluster of kind.
type onKind struct {
	*Suite
	cluster *kind.Cluster
	kubectl kubectl.Kubectl
}

// OnKind runs what only containers can show, on a new cluster of kind with that node image ("": kind's own), and returns the number of tests. It
// needs docker, and pulls no image but the node's.
func (s *Suite) OnKind(ctx context.Context, image string) (counts gotest.Counts, err error) {
	end, err := s.begin(ctx)
	if err != nil {
		return s.counts, err
	}
	defer end(&err)
	if err := s.findRace(ctx); err != nil {
		return s.counts, err
	}
	c := kind.New(s.Root, contractCluster)
	c.Image = image
	k := &onKind{s, c, s.kubectl(c)}
	switch green := k.step(ctx, fmt.Sprintf("cluster %q of kind", c.Name()), k.fresh) && k.all(ctx); {
	case green, ctx.Err() != nil:
		if _, err := c.Down(context.WithoutCancel(ctx), true, nil); err != nil {
			return s.counts, err
		}
	case c.Exists():
		s.UI.Say("! cluster %q of kind is left as it is: WORKSHOP_CLUSTER=%[1]s ./scripts/workshop --on kind status", c.Name())
	}
	switch {
	case ctx.Err() != nil:
		return s.counts, ctx.Err()
	case s.counts.Failed+s.counts.Skipped > 0:
		return s.counts, errors.New("not all is green: the reasons stand above")
	}
	return s.counts, nil
}

// fresh makes the cluster anew, with the images that its Pods will ask for.
func (k *onKind) fresh(ctx context.Context, step *ui.Step) (string, error) {
	waiting := func(holder string) { step.Update("waiting for %s", holder) }
	if _, err := k.cluster.Down(ctx, true, waiting); err != nil {
		return "", err
	}
	result, err := k.cluster.Up(ctx, clusterOptions(step))
	if err != nil {
		return "", err
	}
	step.Update("the stand-in for its Pods' images")
	if err := k.cluster.LoadStandIn(ctx, append(contract.Images(), kind.SampleImages()...)...); err != nil {
		return "", err
	}
	status, err := k.cluster.Status(ctx)
	return fmt.Sprintf("Kubernetes %s, in %s", status.Version, result.Elapsed), err
}

// all runs everything there is to run on the cluster, and tells whether all was green.
func (k *onKind) all(ctx context.Context) bool {
	green := k.step(ctx, "kind, and deploy", func(ctx context.Context, step *ui.Step) (string, error) {
		return k.goTest(ctx, step, "scripts", k.environment(), "-tags=kind", "-p=1", "./internal/kind", "./internal/deploy")
	})
	for _, chapter := range k.Chapters {
		green = k.step(ctx, chapter.Name+": the guided tour", func(ctx context.Context, _ *ui.Step) (string, error) {
			tour := demo.Demo{Root: k.Root, Bin: k.Bin, Chapter: chapter, Cluster: k.cluster, Out: io.Discard}
			return "every step held", tour.Run(ctx)
		}) && green
		green = k.step(ctx, chapter.Name+": by kubectl apply and go run", func(ctx context.Context, step *ui.Step) (string, error) {
			return "the sample has what it asks for", k.plainWay(ctx, chapter)
		}) && green
	}
	green = k.step(ctx, "the kinds that tests are about", func(ctx context.Context, _ *ui.Step) (string, error) {
		return k.applyCRDs(ctx, k.kubectl)
	}) && green
	green = k.step(ctx, "the behaviour contract, from outside", func(ctx context.Context, step *ui.Step) (string, error) {
		return k.goTest(ctx, step, "scripts", k.environment(), fmt.Sprintf("-parallel=%d", contract.AtOnce), "-timeout=60m", "./acceptance")
	}) && green
	green = k.step(ctx, "the behaviour contract, in the cluster", k.contractInside) && green
	green = k.step(ctx, "no kinds any more", func(ctx context.Context, _ *ui.Step) (string, error) {
		return "end-to-end tests bring their own", k.deleteCRDs(ctx)
	}) && green
	for _, chapter := range k.Chapters {
		if chapter.IsProject() {
			green = k.step(ctx, chapter.Name+": make test-e2e", func(ctx context.Context, step *ui.Step) (string, error) {
				return k.endToEnd(ctx, step, chapter)
			}) && green
		}
	}
	return green
}

// environment is what tests find in theirs.
func (k *onKind) environment() []string {
	return append(k.testEnvironment(k.cluster, k.Chapters...),
		"TEST_KIND_NODE="+k.cluster.Node(), "TEST_KIND_IMAGE="+k.cluster.Image, "WORKSHOP_ON=kind")
}

// contractInside has the programs run as Pods, those of the chapters that can.
func (k *onKind) contractInside(ctx context.Context, step *ui.Step) (string, error) {
	inside := slices.DeleteFunc(slices.Clone(k.Chapters), func(chapter chapters.Chapter) bool {
		return !chapter.IsProject() && chapter.Parts().Deployment == ""
	})
	if len(inside) == 0 {
		return "no chapter that was asked for has manifests for it", nil
	}
	for _, chapter := range inside {
		p, err := program.OfChapter(chapter)
		if err != nil {
			return "", err
		}
		step.Update("building the image of %s", chapter.Name)
		d := deploy.Deployment{Root: k.Root, Chapter: chapter, Cluster: k.cluster, Kubectl: k.kubectl, Out: io.Discard}
		if err := d.Build(ctx, contract.Image(p)); err != nil {
			return "", err
		}
	}
	env := append(k.testEnvironment(k.cluster, inside...), "TEST_KIND_NODE="+k.cluster.Node(), "TEST_IN_CLUSTER=1")
	return k.goTest(ctx, step, "scripts", env, fmt.Sprintf("-parallel=%d", contract.AtOnce), "-timeout=60m", "./acceptance")
}

// deleteCRDs deletes the CRDs that applyCRDs has created.
func (k *onKind) deleteCRDs(ctx context.Context) error {
	programs, err := k.onePerKind()
	for _, p := range programs {
		_, deleteErr := k.kubectl.Run(ctx, "delete", "--ignore-not-found", "-f", p.CRD)
		err = errors.Join(err, deleteErr)
	}
	return err
}

// endToEnd runs a project's own end-to-end tests, on this cluster. The images are built here: golang's isn't needed.
func (k *onKind) endToEnd(ctx context.Context, step *ui.Step, chapter chapters.Chapter) (string, error) {
	// The program kind is of the same version as its library here.
	if _, err := k.run(ctx, "scripts", "go", "build", "-o", filepath.Join(k.Bin, "kind"), "sigs.k8s.io/kind"); err != nil {
		return "", err
	}
	env := append(k.kubectl.Environment(), // kind lies beside kubectl
		"GOWORK=off",
		"KIND_CLUSTER="+k.cluster.KindName(),
		"DOCKER_BUILD=docker-prebuilt",
	)
	return k.goTest(ctx, step, chapter.Name, env, "-tags=e2e", "-timeout=30m", "./test/e2e")
}
