package demo

// Setup and cleanup of a tour: the CRD, the program's permissions, the tour's own namespace, and
// starting and stopping the program.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/process"
	"example.com/operators/scripts/internal/program"
	"example.com/operators/scripts/internal/webhooks"
)

// cleanup bounds what is left to do after the tour.
const cleanup = 30 * time.Second

// madeByTour is the label of a namespace that a tour has made, and may delete.
const madeByTour = "operators.example.com/made-by-tour"

// prepare makes the namespace, empty, applies the chapter's CRD, and gives the program its permissions.
func (d *Demo) prepare(ctx context.Context) error {
	parts := d.Chapter.Parts()
	there, err := d.kubectl.Run(ctx, "get", "--ignore-not-found", "--output", "name", "-f", parts.CRD)
	if err != nil {
		return err
	}
	d.createsCRD = strings.TrimSpace(there) == ""
	if !d.createsCRD {
		if err := d.checkNamespace(ctx); err != nil {
			return err
		}
	}
	fmt.Fprintf(d.Out, "Applying %s. The program has the permissions in %s.\n", d.relative(parts.CRD), d.relative(parts.Permissions))
	// What a `run` that was killed has left would refuse what the tour applies.
	if err := webhooks.Delete(ctx, d.kubectl); err != nil {
		return err
	}
	if err := d.kubectl.ApplyCRD(ctx, parts.CRD); err != nil {
		return err
	}
	// A tour that was killed may have left something.
	if err := d.deleteNamespace(ctx, "--timeout", "60s"); err != nil {
		return err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: d.namespace, Labels: map[string]string{madeByTour: "true"}}}
	if _, err := d.client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create namespace %s: %w", d.namespace, err)
	}
	return d.program.Grant(ctx, d.client, d.namespace)
}

// checkNamespace refuses to delete a namespace with objects that no tour has made: `run` puts the sample there, too.
func (d *Demo) checkNamespace(ctx context.Context) error {
	namespace, err := d.client.CoreV1().Namespaces().Get(ctx, d.namespace, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && namespace.Labels[madeByTour] != "" {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at namespace %s: %w", d.namespace, err)
	}
	objects, err := d.objects(ctx)
	if err != nil || len(objects) == 0 {
		return err
	}
	number := d.Chapter.Number()
	return problem.New("the tour uses namespace %s, and would delete objects there that no tour has created: %s",
		d.namespace, strings.Join(objects, ", ")).
		ToDo("to keep them, run the tour on a cluster of its own: WORKSHOP_CLUSTER=tour ./scripts/workshop demo %s; "+
			"or delete them, while \"./scripts/workshop run %s\" runs: ./scripts/workshop kubectl delete %s --all --namespace %s",
			number, number, d.resource, d.namespace)
}

func (d *Demo) cleanUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, cleanup)
	defer cancel()
	err := errors.Join(program.Revoke(ctx, d.client, d.namespace), d.deleteNamespace(ctx, fmt.Sprintf("--wait=%t", !d.dedicated)))
	if d.createsCRD { // who reads on finds the cluster as it was
		_, crdErr := d.kubectl.Run(ctx, "delete", "--ignore-not-found", "-f", d.Chapter.Parts().CRD)
		err = errors.Join(err, crdErr)
	}
	return err
}

// deleteNamespace also removes finalizers, because the program that would do so isn't running.
func (d *Demo) deleteNamespace(ctx context.Context, flags ...string) error {
	objects, err := d.objects(ctx)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if _, err := d.kubectl.Run(ctx, "patch", object, "--namespace", d.namespace, "--type", "merge", "--patch", `{"metadata":{"finalizers":null}}`); err != nil {
			return err
		}
	}
	_, err = d.kubectl.Run(ctx, append([]string{"delete", "namespace", d.namespace, "--ignore-not-found"}, flags...)...)
	return err
}

// objects are the names of what the tour is about, in its namespace.
func (d *Demo) objects(ctx context.Context) ([]string, error) {
	output, err := d.kubectl.Run(ctx, "get", d.resource, "--namespace", d.namespace, "--output", "name")
	return slices.DeleteFunc(strings.Fields(output), func(word string) bool { return !strings.Contains(word, "/") }), err
}

// grace is how long the program has to end by itself, once it has been told to: a Pod's.
const grace = 30 * time.Second

// startProgram builds and starts the chapter's program, on this namespace alone. stop ends it.
func (d *Demo) startProgram(ctx context.Context, env func(root string) []string) (stop func(), logFile string, err error) {
	state := filepath.Join(d.Root, ".workshop")
	binary, err := d.program.Build(ctx, filepath.Join(state, "bin"))
	if err != nil {
		return nil, "", err
	}
	kubeconfig := filepath.Join(state, "demo.kubeconfig")
	if err := program.WriteKubeconfig(ctx, d.client, d.config, d.namespace, program.ServiceAccount, kubeconfig); err != nil {
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

	var variables []string
	if env != nil {
		variables = env(d.Root)
	}
	commandLine := append(slices.Clone(variables), d.Chapter.Name, "--namespace", d.namespace)
	fmt.Fprintf(d.Out, "\nStarting the program: %s\n", d.relative(strings.Join(commandLine, " ")))
	end, err := launch(ctx, log, grace, variables, binary, "--kubeconfig", kubeconfig, "--namespace", d.namespace)
	if err != nil {
		return nil, "", errors.Join(err, log.Close())
	}
	return func() {
		end()
		log.Close()
		os.Remove(kubeconfig)
	}, logFile, nil
}

// launch starts a program that prints to output, and stops it when ctx ends or end is called; after
// grace it is killed. Unlike process.Supervise, it doesn't restart a crash, which a tour must notice.
func launch(ctx context.Context, output *os.File, grace time.Duration, env []string, binary string, args ...string) (end func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	command := process.NewCommand(ctx, grace, binary, args...)
	command.Stdout, command.Stderr = output, output
	command.Env = append(os.Environ(), env...)
	if err := command.Start(); err != nil {
		cancel()
		return nil, err
	}
	return func() {
		cancel()
		_ = command.Wait() // how it ended is of no interest any more
	}, nil
}
