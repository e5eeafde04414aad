package suite

// What only containers can show: the contract on a cluster of kind, from outside and with the programs in it, and the ways by which
// readers run them there.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/contract"
	"example.com/operators/scripts/internal/deploy"
	"example.com/operators/scripts/internal/gotest"
	"example.com/operators/scripts/internal/kind"
	"example.com/operators/scripts/internal/kubectl"
	"example.com/operators/scripts/internal/output"
	"example.com/operators/scripts/internal/process"
	"example.com/operators/scripts/internal/program"
	"example.com/operators/scripts/internal/ui"
)

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
	if k.step(ctx, fmt.Sprintf("cluster %q of kind", c.Name()), k.fresh) {
		k.all(ctx)
	}
	switch {
	case ctx.Err() != nil, s.counts.NotPassed() == 0:
		if _, err := c.Down(context.WithoutCancel(ctx), true, nil); err != nil {
			return s.counts, err
		}
	case c.Exists():
		s.UI.Say("! cluster %q of kind is left as it is: WORKSHOP_CLUSTER=%[1]s ./scripts/workshop --on kind status", c.Name())
	}
	return s.result(ctx)
}

// fresh deletes the cluster and creates it again, with the images that its Pods will ask for.
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

func (k *onKind) all(ctx context.Context) {
	k.step(ctx, "kind, and deploy", func(ctx context.Context, step *ui.Step) (string, error) {
		return k.goTest(ctx, step, "scripts", k.environment(), "-tags=kind", "-p=1", "./internal/kind", "./internal/deploy")
	})
	for _, chapter := range k.Chapters {
		k.tour(ctx, chapter, k.cluster)
		k.step(ctx, chapter.Name+": by kubectl apply and go run", func(ctx context.Context, step *ui.Step) (string, error) {
			return "the sample has what it asks for", k.plainWay(ctx, chapter)
		})
	}
	k.applyCRDs(ctx, k.kubectl)
	k.step(ctx, "the behaviour contract, from outside", func(ctx context.Context, step *ui.Step) (string, error) {
		return k.contract(ctx, step, k.environment(), contract.AtOnce)
	})
	k.step(ctx, "the behaviour contract, in the cluster", k.contractInside)
	k.step(ctx, "no kinds any more", func(ctx context.Context, _ *ui.Step) (string, error) {
		return "end-to-end tests bring their own", k.deleteCRDs(ctx)
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
	return k.contract(ctx, step, env, contract.AtOnce)
}

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

// plainWay does what the top README says, without the workshop: it applies the CRD, starts the program by go run, applies the
// sample, and waits until that has all that it asks for. Projects do it by make install and make run.
func (k *onKind) plainWay(ctx context.Context, chapter chapters.Chapter) (err error) {
	parts := chapter.Parts()
	running, stop := context.WithCancel(ctx)
	defer stop()
	command := process.NewCommand(running, time.Minute, "go", "run", "./"+chapter.Name)
	if chapter.IsProject() {
		install := process.NewCommand(ctx, time.Minute, "make", "-C", chapter.Dir, "install", "KUBECTL=kubectl")
		install.Env = k.pointed()
		if output, err := install.CombinedOutput(); err != nil {
			return fmt.Errorf("make install: %w\n%s", err, output)
		}
		command = process.NewCommand(running, time.Minute, "make", "-C", chapter.Dir, "run")
	} else if _, err := k.kubectl.Run(ctx, "apply", "-f", parts.CRD); err != nil {
		return err
	}
	var said output.Buffer
	command.Dir, command.Env = k.Root, k.pointed()
	command.Stdout, command.Stderr = &said, &said
	if err := command.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	defer func() {
		cleanUp, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute)
		defer cancel()
		// The CRD last, and the objects before the program: it may have to let them go.
		_, deleteErr := k.kubectl.Run(cleanUp, "delete", "--ignore-not-found", "-f", parts.Sample)
		stop()
		<-ended // it is killed if it takes longer than a minute
		_, crdErr := k.kubectl.Run(cleanUp, "delete", "--ignore-not-found", "-f", parts.CRD)
		if err = errors.Join(err, deleteErr, crdErr); err != nil {
			err = fmt.Errorf("%w\nthe program said:\n%s", err, &said)
		}
	}()
	p, err := program.OfChapter(chapter)
	if err != nil {
		return err
	}
	for _, example := range p.Examples {
		if _, err := k.kubectl.Run(ctx, "apply", "-f", example); err != nil {
			return err
		}
	}
	_, err = k.kubectl.Run(ctx, append([]string{"wait", "--timeout=3m"}, p.Settled()...)...)
	return err
}

// pointed is the environment of commands on the cluster.
func (k *onKind) pointed() []string { return append(os.Environ(), k.kubectl.Environment()...) }
