package deploy

// What is checked before anything is changed.

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/kubectl"
	"example.com/operators/scripts/internal/problem"
)

func (d Deployment) possible() bool {
	return d.Chapter.IsProject() || d.Chapter.Parts().Deployment != ""
}

func (d Deployment) checkChapter() error {
	if !d.possible() {
		return problem.New("chapter %s has no manifests to run its program in a cluster", d.Chapter.Name).
			ToDo("chapters 03 and later have them; ./scripts/workshop run %s runs it here", d.Chapter.Number())
	}
	if d.Helm && !d.hasChart() {
		return problem.New("chapter %s has no Helm chart", d.Chapter.Name).ToDo("leave --helm out; chapter 07 has one")
	}
	return nil
}

// hasChart reports whether there is also a Helm chart.
func (d Deployment) hasChart() bool {
	_, err := os.Stat(filepath.Join(d.Chapter.Dir, "dist", "chart"))
	return err == nil
}

// checkWay returns an error if the program was installed in the other way.
func (d Deployment) checkWay(ctx context.Context) error {
	if !d.hasChart() {
		return nil
	}
	there, err := d.target().running(ctx, d.Kubectl)
	if err != nil || there.image == "" {
		return err
	}
	by, way := "", "without --helm"
	if there.manager == "Helm" {
		by, way = " --helm", "with --helm"
	}
	if d.Helm != (there.manager == "Helm") {
		return problem.New("chapter %s was installed %s", d.Chapter.Name, way).
			ToDo("remove it in the same way: ./scripts/workshop deploy %s%s --remove", d.Chapter.Number(), by)
	}
	return nil
}

// CheckAlone returns an error if a chapter's program for that kind runs in Pods of the cluster, in
// any namespace except that one.
func CheckAlone(ctx context.Context, root string, k kubectl.Kubectl, kind, except string) error {
	all, err := chapters.All(root)
	if err != nil {
		return err
	}
	for _, chapter := range append(all, chapters.TDSets(all)...) {
		other := Deployment{Chapter: chapter}
		if !other.possible() || chapter.Kind() != kind || other.target().namespace == except {
			continue
		}
		if there, err := other.target().running(ctx, k); err != nil {
			return err
		} else if there.image != "" {
			remove := "./scripts/workshop deploy " + chapter.Number() + " --remove"
			switch {
			case there.manager == "Helm":
				remove += " --helm"
			case chapter.Solved:
				remove += " --tdset"
			}
			return problem.New("another controller for %ss is already running: deployment %s in namespace %s",
				kind, other.target().deployment, other.target().namespace).
				ToDo("remove it first: %s", remove)
		}
	}
	return nil
}

// installed has the image of a Deployment's Pods, "" if there is none, and its managed-by label.
type installed struct{ image, manager string }

func (t target) running(ctx context.Context, k kubectl.Kubectl) (installed, error) {
	output, err := k.Run(ctx, "get", "deployments", "--namespace", t.namespace, "--field-selector", "metadata.name="+t.deployment,
		"--output", `jsonpath={.items[*].spec.template.spec.containers[0].image} {.items[*].metadata.labels.app\.kubernetes\.io/managed-by}`)
	image, manager, _ := strings.Cut(output, " ")
	return installed{image, manager}, err
}
