// Package deploy builds an image of a chapter's program, loads it onto the node of a kind cluster,
// and applies the chapter's manifests. It prints each command as you would type it.
package deploy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/yaml"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/gobuild"
	"example.com/operators/scripts/internal/kind"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/ui"
)

type Deployment struct {
	Root    string // of the repository
	Chapter chapters.Chapter
	Cluster *kind.Cluster
	Kubectl cluster.Kubectl
	Out     io.Writer // gets the commands
	UI      *ui.UI    // shows how much is compiled; may be nil
}

// target has the names of a Deployment in the manifests.
type target struct {
	kind            string // of the objects that its program manages
	project         bool
	namespace, name string
	deploy          string // the command's arguments, of one of the chapters that have it
}

var targets = []target{
	{chapters.Foo, false, "foo-system", "foo-controller", "deploy 05"},
	{chapters.Foo, true, "foo-operator-system", "foo-operator-controller-manager", "deploy 06"},
	{chapters.TDSet, false, "tdset-system", "tdset-controller", "deploy 05 --tdset"},
	{chapters.TDSet, true, "tdset-operator-system", "tdset-operator-controller-manager", "deploy 07"},
}

func (d Deployment) target() target {
	for _, t := range targets {
		if t.kind == d.Chapter.Kind() && t.project == d.Chapter.IsProject() {
			return t
		}
	}
	return target{} // there are no other kinds
}

// image is the image in the manifests.
func (d Deployment) image() string {
	if t := d.target(); !t.project {
		return t.name + ":" + d.Chapter.Number()
	}
	return strings.TrimSuffix(d.target().namespace, "-system") + ":dev"
}

// Install builds and loads the image, applies the manifests, and waits for the new Pods.
func (d Deployment) Install(ctx context.Context) error {
	t := d.target()
	if err := errors.Join(d.checkChapter(), CheckAlone(ctx, d.Kubectl, t.kind, t.namespace)); err != nil {
		return err
	}
	if err := d.Build(ctx, d.image()); err != nil {
		return err
	}
	before, err := t.isInstalled(ctx, d.Kubectl)
	if err != nil {
		return err
	}
	if err := d.apply(ctx); err != nil {
		return err
	}
	if before { // the image may have the same name, but other content
		if err := d.kubectl(ctx, "rollout", "restart", "--namespace", t.namespace, "deployment/"+t.name); err != nil {
			return err
		}
	}
	err = d.kubectl(ctx, "rollout", "status", "--namespace", t.namespace, "deployment/"+t.name, "--timeout=3m")
	if err != nil {
		return d.whyNot(ctx, err)
	}
	if d.Chapter.Parts().Webhooks == "" {
		return nil
	}
	return d.webhooksAnswer(ctx)
}

// Remove deletes everything that Install has created. The CRD and its objects come first, while the
// controller can still remove finalizers.
func (d Deployment) Remove(ctx context.Context) error {
	if err := d.checkChapter(); err != nil {
		return err
	}
	parts := d.Chapter.Parts()
	if !d.Chapter.IsProject() {
		files := []string{"-f", parts.CRD, "-f", parts.Deployment, "-f", parts.Permissions}
		return d.kubectl(ctx, append([]string{"delete", "--ignore-not-found"}, files...)...)
	}
	if err := d.kubectl(ctx, "delete", "--ignore-not-found", "-f", parts.CRD); err != nil {
		return err
	}
	manifests, err := d.manifestsWithCertificate() // kubectl doesn't know Certificates here
	if err != nil {
		return err
	}
	d.printCommand("kubectl delete --ignore-not-found -f - # %s, with the certificate", parts.Permissions)
	return d.Kubectl.Delete(ctx, manifests)
}

func (d Deployment) checkChapter() error {
	if d.Chapter.IsProject() || d.Chapter.Parts().Deployment != "" {
		return nil
	}
	return problem.New("chapter %s has no manifests to run its program in a cluster", d.Chapter.Name).
		ToDo("chapters 03 and later have them; ./scripts/workshop run %s runs it here", d.Chapter.Number())
}

// Build builds an image with just the static binary, and loads it onto the cluster's node.
func (d Deployment) Build(ctx context.Context, image string) error {
	if err := d.buildImage(ctx, image); err != nil {
		return err
	}
	d.printCommand("kind load docker-image %s --name %s", image, d.Cluster.KindName())
	return d.Cluster.Load(ctx, image)
}

// buildImage runs docker build in a temporary folder, which keeps the chapter's clean.
func (d Deployment) buildImage(ctx context.Context, image string) error {
	binary, dockerfile := filepath.Join("bin", d.target().name), "Dockerfile"
	args := []string{d.Chapter.Parts().Main}
	switch {
	case d.Chapter.IsProject():
		// The other Dockerfile pulls the golang image.
		binary, dockerfile = filepath.Join("bin", "manager"), "Dockerfile.prebuilt"
	case d.Chapter.Solved:
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
	d.printCommand("docker build --tag %s --file %s .", image, dockerfile)
	return kind.BuildImage(ctx, dir, image, "--file", filepath.Join(d.Chapter.Dir, dockerfile))
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

func (d Deployment) apply(ctx context.Context) error {
	parts := d.Chapter.Parts()
	if d.Chapter.IsProject() {
		manifests, err := d.manifestsWithCertificate()
		if err != nil {
			return err
		}
		fmt.Fprintln(d.Out, "# The workshop makes the webhooks' certificate, so the cluster needs no cert-manager.")
		d.printCommand("kubectl apply --server-side --force-conflicts -f - # %s, with the certificate", parts.Permissions)
		return d.Kubectl.Apply(ctx, manifests)
	}
	d.printCommand("kubectl apply -f %s", parts.CRD)
	if err := d.Kubectl.ApplyCRD(ctx, parts.CRD); err != nil {
		return err
	}
	return d.kubectl(ctx, "apply", "-f", parts.Permissions, "-f", parts.Deployment)
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
	sample.SetNamespace(metav1.NamespaceDefault) // its own one may not exist yet
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

func (d Deployment) kubectl(ctx context.Context, args ...string) error {
	d.printCommand("kubectl %s", strings.Join(args, " "))
	_, err := d.Kubectl.Run(ctx, args...)
	return err
}

// whyNot adds the Pods and their Events to an error.
func (d Deployment) whyNot(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	namespace := d.target().namespace
	pods, _ := d.Kubectl.Run(ctx, "get", "pods", "--namespace", namespace)
	events, _ := d.Kubectl.Run(ctx, "get", "events", "--namespace", namespace, "--sort-by=.lastTimestamp")
	return problem.New("chapter %s's program doesn't become ready in the cluster", d.Chapter.Name).
		ToDo("look at its log: ./scripts/workshop kubectl logs --namespace %s deployment/%s", namespace, d.target().name).
		Because(fmt.Errorf("%w\n%s%s", err, pods, events))
}

// printCommand prints a command as you would type it in the repository's root.
func (d Deployment) printCommand(format string, args ...any) {
	command := fmt.Sprintf(format, args...)
	fmt.Fprintf(d.Out, "$ %s\n", strings.ReplaceAll(command, d.Root+string(filepath.Separator), ""))
}
