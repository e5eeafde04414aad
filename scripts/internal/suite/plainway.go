package suite

// The way that needs nothing of the workshop's: kubectl apply, go run.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/output"
	"example.com/operators/scripts/internal/process"
	"example.com/operators/scripts/internal/program"
)

// plainWay does what the top README says: it applies the CRD, starts the program by go run, applies the sample, and waits until that has all
// that it asks for. Projects do it by make install and make run.
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
