//go:build e2e

// Which cluster the tests use: yours if you name one, else one of their own.

package e2e

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"example.com/operators/06-kubebuilder/test/utils"
)

// ownCluster is the name of the cluster that the tests make.
const ownCluster = "foo-operator-e2e"

// kindCluster is the cluster that the tests use. KUBECONFIG leads to it.
type kindCluster struct {
	name  string
	mutex sync.Mutex
	steps []func() error // what leave does, the last one first
}

// atEnd has leave do something, before what it was told to do earlier.
func (c *kindCluster) atEnd(step func() error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.steps = append(c.steps, step)
}

// leave removes what was created here outside Kubernetes. A second call waits for the first, and
// has nothing left to do.
func (c *kindCluster) leave() error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	var errs []error
	for _, step := range slices.Backward(c.steps) {
		errs = append(errs, step())
	}
	c.steps = nil
	return errors.Join(errs...)
}

// leaveWhenTold has Ctrl-C remove it, too.
func (c *kindCluster) leaveWhenTold() {
	told := make(chan os.Signal, 1)
	signal.Notify(told, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-told
		if err := c.leave(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}()
}

// find takes your cluster, or makes one, or returns an error that says what is missing.
func (c *kindCluster) find() error {
	if _, err := exec.LookPath("kubectl"); err != nil {
		return fmt.Errorf("they need kubectl: %w", err)
	}
	if _, err := utils.Exec("docker", "info", "--format", "{{.ServerVersion}}"); err != nil {
		return fmt.Errorf("they need docker: %w", err)
	}
	name, kubeconfig := os.Getenv("KIND_CLUSTER"), os.Getenv("KUBECONFIG")
	switch {
	case name == "" && kubeconfig == "":
		return c.create()
	case name == "":
		return errors.New("KUBECONFIG is set and KIND_CLUSTER isn't: name your kind cluster there too, or unset KUBECONFIG, and they make a cluster of their own")
	case kubeconfig == "":
		return fmt.Errorf("KIND_CLUSTER is set and KUBECONFIG isn't: kind get kubeconfig --name %s > FILE writes what it is to name; or unset KIND_CLUSTER, and they make a cluster of their own", name)
	}
	context, err := utils.Exec("kubectl", "config", "current-context")
	if err != nil {
		return err
	}
	if context = strings.TrimSpace(context); context != "kind-"+name {
		return fmt.Errorf("KUBECONFIG's current context is %q, not that of KIND_CLUSTER, %q", context, "kind-"+name)
	}
	c.name = name
	return nil
}

// create makes a cluster, with its kubeconfig in a folder that nobody else knows.
func (c *kindCluster) create() error {
	there, err := utils.Exec("docker", "ps", "--all", "--filter", "label=io.x-k8s.kind.cluster="+ownCluster, "--format", "{{.Names}}")
	if err != nil {
		return err
	}
	if strings.Contains(there, ownCluster) { // docker may say other things as well
		return fmt.Errorf("there is a cluster of their name already, from a run that goes on or was broken off: kind delete cluster --name %s", ownCluster)
	}
	config, err := kindConfig()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", ownCluster)
	if err != nil {
		return err
	}
	c.atEnd(func() error { return os.RemoveAll(dir) })
	kubeconfig, file := filepath.Join(dir, "kubeconfig"), filepath.Join(dir, "kind.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return err
	}
	ended := make(chan struct{}) // what it made after the deletion would stay
	defer close(ended)
	c.atEnd(func() error {
		<-ended
		return kind("delete", "cluster", "--name", ownCluster, "--kubeconfig", kubeconfig)
	})
	args := []string{"create", "cluster", "--name", ownCluster, "--kubeconfig", kubeconfig, "--config", file, "--wait", "3m"}
	if image := os.Getenv("KIND_NODE_IMAGE"); image != "" {
		args = append(args, "--image", image)
	}
	if err := kind(args...); err != nil {
		return err
	}
	c.name = ownCluster
	return os.Setenv("KUBECONFIG", kubeconfig)
}

// kindConfig asks for one node. On a machine with cgroups of version 1 the kubelet has to be told
// to make do with them.
func kindConfig() (string, error) {
	version, err := utils.Exec("docker", "info", "--format", "{{.CgroupVersion}}")
	if err != nil {
		return "", err
	}
	config := "kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\n"
	if strings.TrimSpace(version) == "1" {
		fmt.Fprintln(os.Stderr, "e2e: this machine has cgroups of version 1: the kubelet gets failCgroupV1: false")
		config += "kubeadmConfigPatches: ['{kind: KubeletConfiguration, failCgroupV1: false}']\n"
	}
	return config, nil
}

// kind runs kind, which the Makefile may run by way of go.
func kind(args ...string) error {
	command := append(strings.Fields(cmp.Or(os.Getenv("KIND"), "kind")), args...)
	return do(command[0], command[1:]...)
}
