package demo

// Setup and cleanup of a tour.

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

	"example.com/operators/scripts/internal/operator"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/process"
	"example.com/operators/scripts/internal/program"
)

const (
	cleanupTimeout = 30 * time.Second
	madeByTour     = "operators.example.com/made-by-tour" // labels a namespace that tours may delete
)

// prepare applies the CRD, creates an empty namespace, and gives the program its permissions.
func (d *Demo) prepare(ctx context.Context) error {
	parts := d.Chapter.Parts()
	there, err := d.Kubectl.Run(ctx, "get", "--ignore-not-found", "--output", "name", "-f", parts.CRD)
	if err != nil {
		return err
	}
	d.createsCRD = strings.TrimSpace(there) == ""
	if !d.createsCRD {
		if err := d.checkNamespace(ctx); err != nil {
			return err
		}
	}
	fmt.Fprintf(d.Out, "Applying %s. The program has the permissions in %s.\n",
		d.relative(parts.CRD), d.relative(parts.Permissions))
	// Webhooks that a killed `run` has left would reject the tour's objects.
	if err := program.DeleteWebhooks(ctx, d.Kubectl); err != nil {
		return err
	}
	if err := d.Kubectl.ApplyCRD(ctx, parts.CRD); err != nil {
		return err
	}
	// A killed tour may have left objects.
	if err := d.deleteNamespace(ctx, "--timeout", "60s"); err != nil {
		return err
	}
	namespace := &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: d.namespace, Labels: map[string]string{madeByTour: "true"}},
	}
	if _, err := d.client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create namespace %s: %w", d.namespace, err)
	}
	return d.Program.Grant(ctx, d.client, d.namespace)
}

// checkNamespace returns an error if the namespace has objects that no tour has created: `run` uses
// it, too.
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
	if d.Chapter.Solved {
		number += " --tdset"
	}
	return problem.New("the tour uses namespace %s, and would delete objects there that no tour has created: %s",
		d.namespace, strings.Join(objects, ", ")).
		ToDo("to keep them, run the tour on a cluster of its own: WORKSHOP_CLUSTER=tour ./scripts/workshop demo %s; "+
			"or delete them, while \"./scripts/workshop run %[1]s\" runs: "+
			"./scripts/workshop kubectl delete %s --all --namespace %s", number, d.resource, d.namespace)
}

func (d *Demo) cleanUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, cleanupTimeout)
	defer cancel()
	err := errors.Join(
		operator.Revoke(ctx, d.client, d.namespace),
		d.deleteNamespace(ctx, fmt.Sprintf("--wait=%t", !d.dedicated)))
	if d.createsCRD {
		_, crdErr := d.Kubectl.Run(ctx, "delete", "--ignore-not-found", "-f", d.Chapter.Parts().CRD)
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
		_, err := d.Kubectl.Run(ctx, "patch", object, "--namespace", d.namespace,
			"--type", "merge", "--patch", `{"metadata":{"finalizers":null}}`)
		if err != nil {
			return err
		}
	}
	_, err = d.Kubectl.Run(ctx, append([]string{"delete", "namespace", d.namespace, "--ignore-not-found"}, flags...)...)
	return err
}

// objects returns the names of the tour's Foos or TDSets.
func (d *Demo) objects(ctx context.Context) ([]string, error) {
	output, err := d.Kubectl.Run(ctx, "get", d.resource, "--namespace", d.namespace, "--output", "name")
	return slices.DeleteFunc(strings.Fields(output), func(word string) bool { return !strings.Contains(word, "/") }), err
}

// grace is the time between SIGINT and SIGKILL, as long as a Pod's.
const grace = 30 * time.Second

// startProgram starts the program for the tour's namespace. It isn't started again after a crash,
// which a tour must notice.
func (d *Demo) startProgram(ctx context.Context, act act) (stop func(), logFile string, err error) {
	logFile = filepath.Join(d.Root, ".workshop", "logs", "demo-"+d.Program.Name+".log")
	if err := os.MkdirAll(filepath.Dir(logFile), 0o700); err != nil {
		return nil, "", err
	}
	log, err := os.Create(logFile)
	if err != nil {
		return nil, "", err
	}
	var variables []string
	if act.env != nil {
		variables = act.env(d.Root)
	}
	flags := append([]string{"--namespace", d.namespace}, act.flags...)
	commandLine := slices.Concat(variables, []string{d.Program.Name}, flags)
	fmt.Fprintf(d.Out, "\nStarting the program: %s\n", d.relative(strings.Join(commandLine, " ")))

	ctx, cancel := context.WithCancel(ctx)
	command := process.NewCommand(ctx, grace, d.Binary, append(flags, "--kubeconfig", d.kubeconfig)...)
	command.Stdout, command.Stderr = log, log
	command.Env = process.Environment(flags, variables)
	if err := command.Start(); err != nil {
		cancel()
		return nil, "", errors.Join(err, log.Close())
	}
	return func() {
		cancel()
		_ = command.Wait() // its exit code doesn't matter
		log.Close()
	}, logFile, nil
}
