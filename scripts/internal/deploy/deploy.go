// Package deploy builds an image of a chapter's program, loads it onto the node of a kind cluster,
// and applies the chapter's manifests. It prints each command as you would type it.
package deploy

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/yaml"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/gobuild"
	"example.com/operators/scripts/internal/kind"
	"example.com/operators/scripts/internal/kubectl"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/process"
	"example.com/operators/scripts/internal/ui"
)

type Deployment struct {
	Root    string // of the repository
	Chapter chapters.Chapter
	Cluster *kind.Cluster
	Kubectl kubectl.Kubectl
	Helm    bool      // install by the chapter's Helm chart instead of kustomize
	Out     io.Writer // gets the commands
	UI      *ui.UI    // shows how much is compiled; may be nil
}

// target has the names in the manifests.
type target struct{ namespace, deployment, image string }

func (d Deployment) target() target {
	switch {
	case d.Chapter.Solved:
		return target{"tdset-system", "tdset-controller", "tdset-controller:" + d.Chapter.Number()}
	case !d.Chapter.IsProject():
		return target{"foo-system", "foo-controller", "foo-controller:" + d.Chapter.Number()}
	case d.Chapter.Kind() == chapters.Foo:
		return target{"foo-operator-system", "foo-operator-controller-manager", "foo-operator:dev"}
	default:
		return target{"tdset-operator-system", "tdset-operator-controller-manager", "tdset-operator:dev"}
	}
}

// Install builds and loads the image, applies the manifests, and waits for the new Pods.
func (d Deployment) Install(ctx context.Context) error {
	if err := errors.Join(d.checkChapter(), d.checkWay(ctx), CheckAlone(ctx, d.Root, d.Kubectl, d.Chapter.Kind(), d.target().namespace)); err != nil {
		return err
	}
	if err := d.Build(ctx, d.target().image); err != nil {
		return err
	}
	before, err := d.target().running(ctx, d.Kubectl)
	if err != nil {
		return err
	}
	if err := d.apply(ctx); err != nil {
		return err
	}
	if before.image == d.target().image { // of the same name, perhaps with other content
		if err := d.kubectl(ctx, "rollout", "restart", "--namespace", d.target().namespace, "deployment/"+d.target().deployment); err != nil {
			return err
		}
	}
	if err := d.kubectl(ctx, "rollout", "status", "--namespace", d.target().namespace, "deployment/"+d.target().deployment, "--timeout=3m"); err != nil {
		return d.whyNot(ctx, err)
	}
	if d.Chapter.Parts().Webhooks == "" {
		return nil
	}
	return d.webhooksAnswer(ctx)
}

// webhooksAnswer tries a sample until the webhooks answer, some moments after the Pods are ready.
func (d Deployment) webhooksAnswer(ctx context.Context) error {
	content, err := os.ReadFile(d.Chapter.Parts().Sample)
	if err != nil {
		return err
	}
	var sample unstructured.Unstructured
	if err := yaml.Unmarshal(content, &sample.Object); err != nil {
		return err
	}
	sample.SetNamespace(metav1.NamespaceDefault)
	if content, err = sample.MarshalJSON(); err != nil {
		return err
	}
	var last error
	err = wait.PollUntilContextTimeout(ctx, 500*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
		last = d.Kubectl.Try(ctx, content)
		return last == nil || !strings.Contains(last.Error(), "failed calling webhook"), nil
	})
	if err != nil {
		return d.whyNot(ctx, last)
	}
	return nil
}

// Build builds an image with just the static binary, and loads it onto the cluster's node.
func (d Deployment) Build(ctx context.Context, image string) error {
	if err := d.build(ctx, image); err != nil {
		return err
	}
	d.printCommand("kind load docker-image %s --name %s", image, d.Cluster.KindName())
	return d.Cluster.Load(ctx, image)
}

func (d Deployment) build(ctx context.Context, image string) error {
	if d.Chapter.IsProject() {
		return d.make(ctx, "docker-prebuilt", image)
	}
	// The Dockerfile copies bin/foo-controller, or bin/tdset-controller. A temporary folder keeps the
	// chapter's clean.
	binary, args := filepath.Join("bin", d.target().deployment), []string{"."}
	if d.Chapter.Solved {
		args = []string{"-tags", "solution", "."}
	}
	dir, err := os.MkdirTemp("", "image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	d.printCommand("CGO_ENABLED=0 GOOS=linux go build -o %s %s", binary, strings.Join(args, " "))
	err = d.compiling(func(progress func(gobuild.Progress)) error {
		return kind.BuildStatic(ctx, d.Chapter.Dir, filepath.Join(dir, binary), progress, args...)
	})
	if err != nil {
		return err
	}
	d.printCommand("docker build --tag %s .", image)
	return kind.BuildImage(ctx, dir, image, "--file", filepath.Join(d.Chapter.Dir, "Dockerfile"))
}

func (d Deployment) apply(ctx context.Context) error {
	parts := d.Chapter.Parts()
	switch {
	case d.Helm:
		return d.make(ctx, "helm-install", d.target().image)
	case d.Chapter.IsProject():
		return d.applyProject(ctx)
	}
	d.printCommand("kubectl apply -f %s", parts.CRD)
	if err := d.Kubectl.ApplyCRD(ctx, parts.CRD); err != nil {
		return err
	}
	return d.kubectl(ctx, "apply", "-f", parts.Permissions, "-f", parts.Deployment)
}

// Remove deletes everything that Install has created. The CRD and its objects come first, while the
// controller can still remove finalizers.
func (d Deployment) Remove(ctx context.Context) error {
	if err := errors.Join(d.checkChapter(), d.checkWay(ctx)); err != nil {
		return err
	}
	parts := d.Chapter.Parts()
	switch {
	case d.Helm:
		if err := d.make(ctx, "helm-uninstall", d.target().image); err != nil {
			return err
		}
		return d.kubectl(ctx, "delete", "namespace", d.target().namespace, "--ignore-not-found")
	case d.Chapter.IsProject():
		return d.removeProject(ctx)
	}
	return d.kubectl(ctx, "delete", "--ignore-not-found", "-f", parts.CRD, "-f", parts.Deployment, "-f", parts.Permissions)
}

// applyProject runs make deploy. If the cluster has no cert-manager, it makes a certificate itself
// and applies the same manifests with it.
func (d Deployment) applyProject(ctx context.Context) error {
	certManager, err := d.hasCertManager(ctx)
	if err != nil {
		return err
	}
	if certManager {
		return d.make(ctx, "deploy", d.target().image)
	}
	manifests, err := d.manifestsWithCertificate()
	if err != nil {
		return err
	}
	fmt.Fprintln(d.Out, "# This cluster has no cert-manager, so the workshop makes the webhooks' certificate and adds it to these manifests.")
	d.printCommand("kubectl apply --server-side --force-conflicts -f - # %s, with the certificate", d.Chapter.Parts().Permissions)
	return d.Kubectl.Apply(ctx, manifests)
}

// removeProject deletes what applyProject has applied.
func (d Deployment) removeProject(ctx context.Context) error {
	certManager, err := d.hasCertManager(ctx)
	if err != nil {
		return err
	}
	if certManager {
		return d.make(ctx, "undeploy", d.target().image)
	}
	if err := d.make(ctx, "uninstall", d.target().image); err != nil {
		return err
	}
	manifests, err := d.manifestsWithCertificate() // kubectl doesn't know Certificates here
	if err != nil {
		return err
	}
	d.printCommand("kubectl delete --ignore-not-found -f - # %s, with the Secret", d.Chapter.Parts().Permissions)
	return d.Kubectl.Delete(ctx, manifests)
}

// make runs a target of the chapter's Makefile. Its go commands share the build cache with the
// workshop's, and print the packages that they compile (-v).
func (d Deployment) make(ctx context.Context, target, image string) error {
	args := []string{"-C", d.Chapter.Dir, target, "IMG=" + image, "KUBECTL=kubectl"}
	if strings.HasPrefix(target, "helm") {
		helm, err := d.buildHelm(ctx)
		if err != nil {
			return err
		}
		args = append(args, "HELM="+helm)
	}
	d.printCommand("make -C %s %s IMG=%s", d.Chapter.Name, target, image)
	command := process.NewCommand(ctx, time.Minute, "make", args...)
	command.Env = slices.Concat(os.Environ(), d.Kubectl.Environment(), gobuild.Environment(), []string{"GOFLAGS=" + os.Getenv("GOFLAGS") + " -v"})
	var output bytes.Buffer
	err := d.compiling(func(progress func(gobuild.Progress)) error {
		command.Stdout = &output
		command.Stderr = io.MultiWriter(&output, gobuild.NewWatcher(progress))
		return command.Run()
	})
	if err != nil {
		return cmp.Or(ctx.Err(), fmt.Errorf("make %s in %s: %w\n%s", target, d.Chapter.Name, err, &output))
	}
	return nil
}

// buildHelm builds helm in the workshop's module, whose client-go is compiled already. The
// Makefile's `go run` would compile another version for minutes.
func (d Deployment) buildHelm(ctx context.Context) (helm string, err error) {
	err = d.compiling(func(progress func(gobuild.Progress)) error {
		helm, err = gobuild.Tool(ctx, d.Root, "helm.sh/helm/v4/cmd/helm", progress)
		return err
	})
	return helm, err
}

// compiling shows how much is compiled while build runs.
func (d Deployment) compiling(build func(progress func(gobuild.Progress)) error) error {
	if d.UI == nil {
		return build(nil)
	}
	step := d.UI.Start("compiling")
	defer step.Drop()
	return build(func(p gobuild.Progress) { step.Update("%s", p) })
}

func (d Deployment) kubectl(ctx context.Context, args ...string) error {
	d.printCommand("kubectl %s", strings.Join(args, " "))
	_, err := d.Kubectl.Run(ctx, args...)
	return err
}

// whyNot adds the Pods, their Events and their logs to an error.
func (d Deployment) whyNot(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	pods, _ := d.Kubectl.Run(ctx, "get", "pods", "--namespace", d.target().namespace, "--output", "wide")
	events, _ := d.Kubectl.Run(ctx, "get", "events", "--namespace", d.target().namespace, "--sort-by=.lastTimestamp")
	logs, _ := d.Kubectl.Run(ctx, "logs", "--namespace", d.target().namespace, "deployment/"+d.target().deployment, "--tail=20")
	return problem.New("chapter %s's program doesn't become ready in the cluster", d.Chapter.Name).
		ToDo("look at its Pods: ./scripts/workshop kubectl describe pods --namespace %s", d.target().namespace).
		Because(fmt.Errorf("%w\n%s%s%s", err, pods, events, logs))
}

// printCommand prints a command as you would type it in the repository's root.
func (d Deployment) printCommand(format string, args ...any) {
	command := fmt.Sprintf(format, args...)
	fmt.Fprintf(d.Out, "$ %s\n", strings.ReplaceAll(command, d.Root+string(filepath.Separator), ""))
}
