package cluster

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Kubectl runs the workshop's own kubectl against one cluster. Each call names the kubeconfig, so the
// user's is neither read nor written.
type Kubectl struct {
	Binary, Kubeconfig string // paths
}

// KubectlFor returns the kubectl that was built in the repository root, for a cluster.
func KubectlFor(root string, c Backend) Kubectl {
	return Kubectl{Binary: filepath.Join(root, ".workshop", "bin", "kubectl"), Kubeconfig: c.Kubeconfig()}
}

// Environment is the environment with which a program runs this kubectl on this cluster, and leaves
// the user's ~/.kube alone.
func (k Kubectl) Environment() []string {
	bin := filepath.Dir(k.Binary)
	return []string{
		"PATH=" + bin + string(filepath.ListSeparator) + os.Getenv("PATH"),
		"KUBECONFIG=" + k.Kubeconfig,
		"KUBECACHEDIR=" + filepath.Join(filepath.Dir(bin), "kubectl-cache"),
		"KUBERC=off", // without the user's preferences
	}
}

// Run runs kubectl and returns its standard output. An error contains kubectl's message.
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
		message := cmp.Or(strings.TrimSpace(stderr.String()), err.Error())
		return string(output), fmt.Errorf("kubectl %s: %s", strings.Join(args, " "), message)
	}
	return string(output), nil
}

// ApplyCRD applies the CRD in file and waits until objects of its kind can be created. The
// condition Established isn't enough, because for some moments more, requests may be answered 404,
// or 429 "storage is (re)initializing". Objects that must be converted may have to wait for a webhook.
func (k Kubectl) ApplyCRD(ctx context.Context, file string) error {
	const name = "jsonpath={.spec.names.plural}.{.spec.group}"
	resource, err := k.Run(ctx, "create", "--dry-run=client", "-f", file, "-o", name)
	if err != nil {
		return err
	}
	_, err = k.Run(ctx, "apply", "-f", file)
	if err != nil && strings.Contains(err.Error(), "status.storedVersions") {
		err = k.replaceCRD(ctx, file, resource, err)
	}
	if err != nil {
		return err
	}
	err = Retry(ctx, 30*time.Second, func(ctx context.Context) error {
		if _, err := k.Run(ctx, "get", resource, "--all-namespaces"); !NeedsConversion(err) {
			return err
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("CRD %s was applied but can't be used: %w", resource, err)
	}
	return nil
}

// replaceCRD deletes a CRD whose objects may be stored in a version that the new one doesn't have,
// if there are none.
func (k Kubectl) replaceCRD(ctx context.Context, file, resource string, refusal error) error {
	left, err := k.Run(ctx, "get", resource, "--all-namespaces", "-o", "name")
	if err != nil || left != "" {
		return fmt.Errorf("%w: delete these objects first: %s", refusal, strings.Join(strings.Fields(left), ", "))
	}
	if _, err := k.Run(ctx, "delete", "-f", file); err != nil {
		return err
	}
	_, err = k.Run(ctx, "apply", "-f", file)
	return err
}

// NeedsConversion reports whether the API server failed to convert objects to the version of the
// request, because no webhook has answered.
func NeedsConversion(err error) bool {
	return err != nil && strings.Contains(err.Error(), "conversion webhook for ")
}

// Try sends the objects in content, YAML or JSON, to the API server as a dry run.
func (k Kubectl) Try(ctx context.Context, content []byte) error {
	_, err := k.run(ctx, content, "create", "--dry-run=server", "-f", "-")
	return err
}

// Apply applies the objects in content, YAML, by server-side apply. Conflicts are overruled, because
// ApplyCRD, which isn't server-side, owns the same fields.
func (k Kubectl) Apply(ctx context.Context, content []byte) error {
	_, err := k.run(ctx, content, "apply", "--server-side", "--force-conflicts", "-f", "-")
	return err
}

// Delete deletes the objects in content, YAML. It ignores those that don't exist.
func (k Kubectl) Delete(ctx context.Context, content []byte) error {
	_, err := k.run(ctx, content, "delete", "--ignore-not-found", "-f", "-")
	return err
}
