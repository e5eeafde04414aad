package demo

// The chapter's program: built, started, and ended.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/process"
	"example.com/operators/scripts/internal/program"
)

// grace is how long the program has to end by itself, once it has been told to: a Pod's.
const grace = 30 * time.Second

// startProgram builds and starts the chapter's program, on this namespace alone. stop ends it.
func (d *Demo) startProgram(ctx context.Context, flags []string) (stop func(), logFile string, err error) {
	state := filepath.Join(d.Root, ".workshop")
	binary, err := d.program.Build(ctx, filepath.Join(state, "bin"))
	if err != nil {
		return nil, "", err
	}
	kubeconfig := filepath.Join(state, "demo.kubeconfig")
	config, err := cluster.RESTConfig(d.Cluster)
	if err != nil {
		return nil, "", err
	}
	if err := program.WriteKubeconfig(ctx, d.client, config, d.namespace, kubeconfig); err != nil {
		return nil, "", err
	}
	logFile = filepath.Join(state, "logs", "demo-"+d.Chapter.Name+".log")
	if err := os.MkdirAll(filepath.Dir(logFile), 0o700); err != nil {
		return nil, "", err
	}
	log, err := os.Create(logFile)
	if err != nil {
		return nil, "", err
	}

	flags = append([]string{"--namespace", d.namespace}, flags...)
	fmt.Fprintf(d.Out, "\nStarting the program: %s %s\n", d.Chapter.Name, strings.Join(flags, " "))
	end, err := launch(ctx, log, grace, binary, append([]string{"--kubeconfig", kubeconfig, "-v", "2"}, flags...)...)
	if err != nil {
		return nil, "", errors.Join(err, log.Close())
	}
	d.started = time.Now()
	return func() {
		end()
		log.Close()
		os.Remove(kubeconfig)
	}, logFile, nil
}

// launch starts a program that prints to output. It is told to end when ctx ends, or by end, which returns when it is gone: it is killed if
// it takes longer than grace. (process.Supervise would start it again when it crashes, and the tour would go on as if nothing had been.)
func launch(ctx context.Context, output *os.File, grace time.Duration, binary string, args ...string) (end func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	command := process.NewCommand(ctx, grace, binary, args...)
	command.Stdout, command.Stderr = output, output
	if err := command.Start(); err != nil {
		cancel()
		return nil, err
	}
	return func() {
		cancel()
		_ = command.Wait() // how it ended is of no interest any more
	}, nil
}
