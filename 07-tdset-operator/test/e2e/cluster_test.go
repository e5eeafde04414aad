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
	"strings"
	"sync"
	"syscall"

	"example.com/operators/07-tdset-operator/test/utils"
)

// ownCluster is the name of the cluster that the tests make.
const ownCluster = "tdset-operator-e2e"

// kindCluster is the cluster that the tests use. KUBECONFIG leads to it.
type kindCluster struct {
	name  string
	leave func() error // takes away what was made here and isn't in Kubernetes
}

// findCluster returns your cluster, or makes one, or returns an error that says what is missing.
func findCluster() (kindCluster, error) {
	if _, err := exec.LookPath("kubectl"); err != nil {
		return kindCluster{}, fmt.Errorf("they need kubectl: %w", err)
	}
	if _, err := utils.Run("docker", "info", "--format", "{{.ServerVersion}}"); err != nil {
		return kindCluster{}, fmt.Errorf("they need docker: %w", err)
	}
	name, kubeconfig := os.Getenv("KIND_CLUSTER"), os.Getenv("KUBECONFIG")
	switch {
	case name == "" && kubeconfig == "":
		return makeCluster()
	case name == "":
		return kindCluster{}, errors.New("KUBECONFIG is set and KIND_CLUSTER isn't: name your kind cluster there too, or unset KUBECONFIG, and they make a cluster of their own")
	case kubeconfig == "":
		return kindCluster{}, fmt.Errorf("KIND_CLUSTER is set and KUBECONFIG isn't: kind get kubeconfig --name %s > FILE writes what it is to name; or unset KIND_CLUSTER, and they make a cluster of their own", name)
	}
	context, err := utils.Run("kubectl", "config", "current-context")
	if err != nil {
		return kindCluster{}, err
	}
	if context = strings.TrimSpace(context); context != "kind-"+name {
		return kindCluster{}, fmt.Errorf("KUBECONFIG's current context is %q, not that of KIND_CLUSTER, %q", context, "kind-"+name)
	}
	return kindCluster{name: name, leave: func() error { return nil }}, nil
}

// makeCluster makes a cluster, with its kubeconfig in a folder that nobody else knows.
func makeCluster() (kindCluster, error) {
	config, err := kindConfig()
	if err != nil {
		return kindCluster{}, err
	}
	dir, err := os.MkdirTemp("", ownCluster)
	if err != nil {
		return kindCluster{}, err
	}
	kubeconfig := filepath.Join(dir, "kubeconfig")
	leave := sync.OnceValue(func() error {
		err := kind("delete", "cluster", "--name", ownCluster, "--kubeconfig", kubeconfig)
		return errors.Join(err, os.RemoveAll(dir))
	})
	file := filepath.Join(dir, "kind.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return kindCluster{}, errors.Join(err, os.RemoveAll(dir))
	}
	create := []string{"create", "cluster", "--name", ownCluster, "--kubeconfig", kubeconfig, "--config", file, "--wait", "3m"}
	if image := os.Getenv("KIND_NODE_IMAGE"); image != "" {
		create = append(create, "--image", image)
	}
	if err := kind(create...); err != nil { // it has taken away what it had made
		return kindCluster{}, errors.Join(fmt.Errorf("is there one of that name from a run that was broken off? kind delete cluster --name %s: %w", ownCluster, err), os.RemoveAll(dir))
	}
	return kindCluster{name: ownCluster, leave: leave}, os.Setenv("KUBECONFIG", kubeconfig)
}

// leaveWhenTold has Ctrl-C take away what was made here, too.
func (c kindCluster) leaveWhenTold() {
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

// kindConfig asks for one node. On a machine with cgroups of version 1 the kubelet has to be told to make do with them.
func kindConfig() (string, error) {
	version, err := utils.Run("docker", "info", "--format", "{{.CgroupVersion}}")
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
