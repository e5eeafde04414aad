package program

// Deploying a program: it becomes an image, which is loaded onto the node of a kind cluster, and the
// chapter's manifests are applied. Each command is printed as you would type it.

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/gobuild"
	"example.com/operators/scripts/internal/kind"
	"example.com/operators/scripts/internal/operator"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/ui"
)

// Deployment is a program in a cluster. Its Kubernetes Deployment has the name and namespace of the
// program's ServiceAccount.
type Deployment struct {
	Program
	Root    string // of the repository
	Cluster *kind.Cluster
	Kubectl cluster.Kubectl
	Out     io.Writer // gets the commands
	UI      *ui.UI    // shows how much is compiled
}

// Deployable returns the chapter's program. Its error explains that there are no manifests.
func Deployable(chapter chapters.Chapter) (Program, error) {
	if !chapter.IsProject() && chapter.Parts().Deployment == "" {
		return Program{}, problem.New("chapter %s has no manifests to run its program in a cluster", chapter.Name).
			ToDo("chapters 03 and later have them; ./scripts/workshop run %s runs it here", chapter.Number())
	}
	return OfChapter(chapter)
}

// image is the image in the manifests.
func (d Deployment) image() string {
	if d.chapter.IsProject() {
		return strings.TrimSuffix(d.Namespace, "-system") + ":dev"
	}
	return d.ServiceAccount + ":" + d.chapter.Number()
}

// Install builds and loads the image, applies the manifests, and waits for the new Pods.
func (d Deployment) Install(ctx context.Context) error {
	if err := checkAlone(ctx, d.Kubectl, d.Kind, d.Namespace); err != nil {
		return err
	}
	if err := d.BuildImage(ctx, d.image()); err != nil {
		return err
	}
	before, err := d.Kubectl.Run(ctx, "get", "deployments", "--namespace", d.Namespace, "--output", "name")
	if err != nil {
		return err
	}
	if err := d.apply(ctx); err != nil {
		return err
	}
	deployment := []string{"--namespace", d.Namespace, "deployment/" + d.ServiceAccount}
	if before != "" { // the image may have the same name, but other content
		if err := d.kubectl(ctx, append([]string{"rollout", "restart"}, deployment...)...); err != nil {
			return err
		}
	}
	err = d.kubectl(ctx, append([]string{"rollout", "status", "--timeout=3m"}, deployment...)...)
	if err == nil && d.Webhooks != "" {
		err = d.webhooksAnswer(ctx)
	}
	if err == nil || ctx.Err() != nil {
		return err
	}
	return problem.New("chapter %s's program doesn't become ready in the cluster", d.chapter.Name).
		ToDo("look at its Pods and its log: ./scripts/workshop kubectl describe pods --namespace %s, "+
			"./scripts/workshop kubectl logs --namespace %[1]s deployment/%s", d.Namespace, d.ServiceAccount).
		Because(err)
}

// Remove deletes everything that Install has created. The CRD and its objects come first, while the
// controller can still remove finalizers.
func (d Deployment) Remove(ctx context.Context) error {
	files := []string{"-f", d.CRD}
	if !d.chapter.IsProject() {
		files = append(files, "-f", d.chapter.Parts().Deployment, "-f", d.permissionsFile)
	}
	err := d.kubectl(ctx, append([]string{"delete", "--ignore-not-found"}, files...)...)
	if err != nil || !d.chapter.IsProject() {
		return err
	}
	manifests, err := withCertificate(d.permissionsFile) // kubectl doesn't know Certificates here
	if err != nil {
		return err
	}
	d.printCommand("kubectl delete --ignore-not-found -f - # %s, with the certificate", d.permissionsFile)
	return d.Kubectl.Delete(ctx, manifests)
}

// BuildImage builds an image with just the static binary, and loads it onto the cluster's node. A
// temporary folder keeps the chapter's clean.
func (d Deployment) BuildImage(ctx context.Context, image string) error {
	binary, dockerfile := filepath.Join("bin", d.ServiceAccount), "Dockerfile"
	if d.chapter.IsProject() { // whose other Dockerfile pulls the golang image
		binary, dockerfile = filepath.Join("bin", "manager"), "Dockerfile.prebuilt"
	}
	dir, err := os.MkdirTemp("", "image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	args := append(d.buildArgs, d.pkg)
	d.printCommand("CGO_ENABLED=0 GOOS=linux go build -o %s %s", binary, strings.Join(args, " "))
	err = d.UI.While("compiling", func(step *ui.Step) (string, error) {
		progress := func(p gobuild.Progress) { step.Update("%s", p) }
		return "", kind.BuildStatic(ctx, d.chapter.Dir, filepath.Join(dir, binary), progress, args...)
	})
	if err != nil {
		return err
	}
	d.printCommand("docker build --tag %s --file %s .", image, dockerfile)
	if err := kind.BuildImage(ctx, dir, image, "--file", filepath.Join(d.chapter.Dir, dockerfile)); err != nil {
		return err
	}
	d.printCommand("kind load docker-image %s --name %s", image, d.Cluster.KindName())
	return d.Cluster.Load(ctx, image)
}

func (d Deployment) apply(ctx context.Context) error {
	if d.chapter.IsProject() {
		manifests, err := withCertificate(d.permissionsFile)
		if err != nil {
			return err
		}
		fmt.Fprintln(d.Out, "# The workshop makes the webhooks' certificate, so the cluster needs no cert-manager.")
		d.printCommand("kubectl apply --server-side --force-conflicts -f - # %s, with the certificate", d.permissionsFile)
		return d.Kubectl.Apply(ctx, manifests)
	}
	d.printCommand("kubectl apply -f %s", d.CRD)
	if err := d.Kubectl.ApplyCRD(ctx, d.CRD); err != nil {
		return err
	}
	return d.kubectl(ctx, "apply", "-f", d.permissionsFile, "-f", d.chapter.Parts().Deployment)
}

// webhooksAnswer tries a sample until the webhooks answer, some moments after the Pods are ready.
func (d Deployment) webhooksAnswer(ctx context.Context) error {
	samples, err := operator.ReadObjects(d.chapter.Parts().Sample)
	if err != nil {
		return err
	}
	samples[0].SetNamespace(metav1.NamespaceDefault) // its own one may not exist yet
	content, err := samples[0].MarshalJSON()
	if err != nil {
		return err
	}
	return cluster.Retry(ctx, 2*time.Minute, func(ctx context.Context) error {
		err := d.Kubectl.Try(ctx, content)
		if err != nil && strings.Contains(err.Error(), "failed calling webhook") {
			return err
		}
		return nil
	})
}

func (d Deployment) kubectl(ctx context.Context, args ...string) error {
	d.printCommand("kubectl %s", strings.Join(args, " "))
	_, err := d.Kubectl.Run(ctx, args...)
	return err
}

// printCommand prints a command as you would type it in the repository's root.
func (d Deployment) printCommand(format string, args ...any) {
	command := fmt.Sprintf(format, args...)
	fmt.Fprintf(d.Out, "$ %s\n", ui.Relative(d.Root, command))
}
