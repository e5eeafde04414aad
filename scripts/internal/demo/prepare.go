package demo

// Setup and cleanup of a tour.

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.com/operators/scripts/internal/operator"
	"example.com/operators/scripts/internal/program"
	"example.com/operators/scripts/internal/ui"
)

// prepare applies the CRD, creates an empty namespace, and gives the program its permissions there.
func (d *Demo) prepare(ctx context.Context) error {
	parts := d.Chapter.Parts()
	fmt.Fprintln(d.Out, ui.Wrap(fmt.Sprintf("Applying %s. The program has the permissions in %s.",
		ui.Relative(d.Root, parts.CRD), ui.Relative(d.Root, parts.Permissions))))
	// Webhooks that a killed `run` has left would reject the tour's objects.
	if err := program.DeleteWebhooks(ctx, d.kubectl); err != nil {
		return err
	}
	if err := d.kubectl.ApplyCRD(ctx, parts.CRD); err != nil {
		return err
	}
	// A killed tour may have left objects.
	if err := operator.NewNamespace(ctx, d.client, d.dynamic, namespace, d.resource); err != nil {
		return err
	}
	return d.program.Grant(ctx, d.client, namespace)
}

func (d *Demo) cleanUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	return operator.DeleteNamespace(ctx, d.client, d.dynamic, namespace, d.resource)
}

// startProgram starts the program for the tour's namespace.
func (d *Demo) startProgram() (started *operator.Process, logFile string, err error) {
	logFile = filepath.Join(d.Root, ".workshop", "logs", "demo-"+d.program.Name+".log")
	if err := os.MkdirAll(filepath.Dir(logFile), 0o700); err != nil {
		return nil, "", err
	}
	log, err := os.Create(logFile)
	if err != nil {
		return nil, "", err
	}
	args := []string{"--namespace", namespace}
	commandLine := slices.Concat(d.env, []string{d.program.Name}, args)
	fmt.Fprintf(d.Out, "\nStarting the program:\n    %s\n", ui.Relative(d.Root, strings.Join(commandLine, " ")))
	started, err = operator.StartProcess(operator.Options{
		Binary: d.binary, Args: append(args, "--kubeconfig", d.kubeconfig), Env: d.env, Output: log, OwnGroup: true,
	})
	return started, logFile, err
}
