//go:build e2e

// The cluster that the tests use: the one that you name, or one that they create.

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

	"example.com/operators/07-tdset-operator/test/utils"
)

// ownCluster is the name of the cluster that the tests create.
const ownCluster = "tdset-operator-e2e"

// kindCluster is the cluster that the tests use. KUBECONFIG names its kubeconfig.
type kindCluster struct {
	name  string
	mutex sync.Mutex
	steps []func() error // cleanUp's steps, the last one first
}

// atEnd adds a step to cleanUp, before the earlier ones.
func (c *kindCluster) atEnd(step func() error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.steps = append(c.steps, step)
}

// cleanUp removes everything that the tests created outside of Kubernetes. A second call waits for
// the first one, and does nothing.
func (c *kindCluster) cleanUp() error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	var errs []error
	for _, step := range slices.Backward(c.steps) {
		errs = append(errs, step())
	}
	c.steps = nil
	return errors.Join(errs...)
}

// cleanUpOnSignal calls cleanUp on Ctrl-C, too.
func (c *kindCluster) cleanUpOnSignal() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		if err := c.cleanUp(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}()
}

// find uses your cluster, or creates one. Its error says what is missing.
func (c *kindCluster) find() error {
	if _, err := exec.LookPath("kubectl"); err != nil {
		return fmt.Errorf("kubectl is needed: %w", err)
	}
	if _, err := utils.Exec("docker", "info", "--format", "{{.ServerVersion}}"); err != nil {
		return fmt.Errorf("docker is needed: %w", err)
	}
	name, kubeconfig := os.Getenv("KIND_CLUSTER"), os.Getenv("KUBECONFIG")
	switch {
	case name == "" && kubeconfig == "":
		return c.create()
	case name == "":
		return errors.New("KUBECONFIG is set, but KIND_CLUSTER isn't: set it to your kind cluster's name, or unset KUBECONFIG, so that the tests create a cluster")
	case kubeconfig == "":
		return fmt.Errorf("KIND_CLUSTER is set, but KUBECONFIG isn't: set it to a file that kind get kubeconfig --name %s > FILE writes, or unset KIND_CLUSTER, so that the tests create a cluster", name)
	}
	context, err := utils.Exec("kubectl", "config", "current-context")
	if err != nil {
		return err
	}
	if context = strings.TrimSpace(context); context != "kind-"+name {
		return fmt.Errorf("KUBECONFIG's current context is %q, want KIND_CLUSTER's, %q", context, "kind-"+name)
	}
	c.name = name
	return nil
}

// create creates a cluster, with its kubeconfig in a new folder.
func (c *kindCluster) create() error {
	existing, err := utils.Exec("docker", "ps", "--all", "--filter", "label=io.x-k8s.kind.cluster="+ownCluster, "--format", "{{.Names}}")
	if err != nil {
		return err
	}
	if strings.Contains(existing, ownCluster) { // the output may also have warnings
		return fmt.Errorf("the cluster %[1]s exists already: another run is using it, or has left it behind. Delete it with kind delete cluster --name %[1]s", ownCluster)
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
	created := make(chan struct{}) // don't delete the cluster while it is being created
	defer close(created)
	c.atEnd(func() error {
		<-created
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

// kindConfig returns a config for one node. On a machine with cgroups v1, the kubelet needs a
// setting to accept them.
func kindConfig() (string, error) {
	version, err := utils.Exec("docker", "info", "--format", "{{.CgroupVersion}}")
	if err != nil {
		return "", err
	}
	config := "kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\n"
	if strings.TrimSpace(version) == "1" {
		fmt.Fprintln(os.Stderr, "e2e: this machine has cgroups v1, so the kubelet gets failCgroupV1: false")
		config += "kubeadmConfigPatches: ['{kind: KubeletConfiguration, failCgroupV1: false}']\n"
	}
	return config, nil
}

// kind runs kind, for which the Makefile may set KIND to a go command.
func kind(args ...string) error {
	command := append(strings.Fields(cmp.Or(os.Getenv("KIND"), "kind")), args...)
	return do(command[0], command[1:]...)
}
