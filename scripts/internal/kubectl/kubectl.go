// Package kubectl runs the workshop's own kubectl against one cluster, and never against any other: the kubeconfig is
// given with each call, so that the user's is neither read nor written.
package kubectl

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Kubectl runs commands against one cluster.
type Kubectl struct {
	// Binary is kubectl's path.
	Binary string
	// Kubeconfig is the path of the cluster's kubeconfig.
	Kubeconfig string
}

// Run runs kubectl with args and returns what it printed on standard output. On failure the error carries what it said.
func (k Kubectl) Run(ctx context.Context, args ...string) (string, error) {
	command := exec.CommandContext(ctx, k.Binary, args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+k.Kubeconfig, "KUBECTL_KUBERC=false")
	var stderr strings.Builder
	command.Stderr = &stderr
	command.WaitDelay = 5 * time.Second
	output, err := command.Output()
	if err != nil {
		said := strings.TrimSpace(stderr.String())
		if said == "" {
			said = err.Error()
		}
		return string(output), fmt.Errorf("kubectl %s: %s", strings.Join(args, " "), said)
	}
	return string(output), nil
}

// ApplyCRD applies the CRD in file and waits until the API server serves it: an object of its kind that is applied at once
// would often be refused.
func (k Kubectl) ApplyCRD(ctx context.Context, file string) error {
	if _, err := k.Run(ctx, "apply", "--server-side", "-f", file); err != nil {
		return err
	}
	_, err := k.Run(ctx, "wait", "--for", "condition=Established", "--timeout", "30s", "-f", file)
	return err
}

// ApplyChapter applies a chapter's CRD and permissions.
func (k Kubectl) ApplyChapter(ctx context.Context, manifests string) error {
	if err := k.ApplyCRD(ctx, filepath.Join(manifests, "crd.yaml")); err != nil {
		return err
	}
	_, err := k.Run(ctx, "apply", "--server-side", "-f", filepath.Join(manifests, "rbac.yaml"))
	return err
}
