// Package kubectl runs the workshop's own kubectl against one cluster, and never against any other: the kubeconfig is
// given with each call, so that the user's is neither read nor written.
package kubectl

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

type Kubectl struct {
	Binary, Kubeconfig string // paths
}

// Environment is what a program that runs kubectl needs in its own, to run this one on this cluster alone, and to leave what
// kubectl else keeps in the user's ~/.kube as it is.
func (k Kubectl) Environment() []string {
	bin := filepath.Dir(k.Binary)
	return []string{
		"PATH=" + bin + string(filepath.ListSeparator) + os.Getenv("PATH"),
		"KUBECONFIG=" + k.Kubeconfig,
		"KUBECACHEDIR=" + filepath.Join(filepath.Dir(bin), "kubectl-cache"),
		"KUBERC=off", // no preferences of the user's
	}
}

// Run runs kubectl with args and returns what it printed on standard output. On failure the error carries what it said.
func (k Kubectl) Run(ctx context.Context, args ...string) (string, error) {
	return k.run(ctx, nil, args...)
}

func (k Kubectl) run(ctx context.Context, stdin []byte, args ...string) (string, error) {
	command := exec.CommandContext(ctx, k.Binary, args...)
	command.Stdin = bytes.NewReader(stdin)
	command.Env = append(os.Environ(), k.Environment()...)
	var stderr strings.Builder
	command.Stderr = &stderr
	command.WaitDelay = 5 * time.Second
	output, err := command.Output()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		said := strings.TrimSpace(stderr.String())
		if said == "" {
			said = err.Error()
		}
		return string(output), fmt.Errorf("kubectl %s: %s", strings.Join(args, " "), said)
	}
	return string(output), nil
}

// ApplyCRD applies the CRD in file and waits until objects of its kind can be made. Established, the condition that one
// usually waits for, isn't quite that: for some moments more, requests may be answered 404, or 429 "storage is
// (re)initializing".
func (k Kubectl) ApplyCRD(ctx context.Context, file string) error {
	if _, err := k.Run(ctx, "apply", "-f", file); err != nil {
		return err
	}
	if _, err := k.Run(ctx, "wait", "--for", "condition=Established", "--timeout", "30s", "-f", file); err != nil {
		return err
	}
	name, err := k.Run(ctx, "get", "-f", file, "-o", "jsonpath={.spec.names.plural}.{.spec.group}")
	if err != nil {
		return err
	}
	var last error
	err = wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		_, last = k.Run(ctx, "get", name, "--all-namespaces")
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("CRD %s is established and can't be used: %w", name, last)
	}
	return nil
}

// Try asks the API server what it would say to the objects in content, which is YAML or JSON, and keeps none.
func (k Kubectl) Try(ctx context.Context, content []byte) error {
	_, err := k.run(ctx, content, "create", "--dry-run=server", "-f", "-")
	return err
}

func (k Kubectl) Apply(ctx context.Context, content []byte) error {
	_, err := k.run(ctx, content, "apply", "--server-side", "-f", "-")
	return err
}
