package program

// What `workshop run` runs: a chapter's own program, or the solution of its last exercise, TDSet, which is a program too, with
// manifests and an identity of its own.

import (
	"context"
	"path/filepath"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/operators/scripts/internal/chapters"
)

// Program is a program with what it needs on a cluster.
type Program struct {
	// Name is that of its binary.
	Name string
	// Manifests is the absolute path of the folder of its crd.yaml and rbac.yaml; Examples are further files in it, in the
	// order in which they are to be applied.
	Manifests string
	Examples  []string
	// Namespace and ServiceAccount are its identity, as in rbac.yaml.
	Namespace, ServiceAccount string

	chapter   chapters.Chapter
	pkg       string   // in the chapter's module
	buildArgs []string // to go build
}

// OfChapter is the chapter's own program.
func OfChapter(chapter chapters.Chapter) Program {
	return Program{
		Name:           chapter.Name,
		Manifests:      chapter.Manifest(""),
		Examples:       []string{"foo.yaml"},
		Namespace:      Namespace,
		ServiceAccount: ServiceAccount,
		chapter:        chapter,
		pkg:            ".",
	}
}

// OfTDSet is the solution of the chapter's exercise TDSet. Not every chapter has one.
func OfTDSet(chapter chapters.Chapter) (p Program, found bool) {
	matches, err := filepath.Glob(filepath.Join(chapter.Dir, "exercises", "*-tdset"))
	if err != nil || len(matches) == 0 {
		return Program{}, false
	}
	return Program{
		Name:           chapter.Name + "-tdset",
		Manifests:      filepath.Join(matches[0], "manifests"),
		Examples:       []string{"namespace.yaml", "tdset.yaml"},
		Namespace:      "tdset-system",
		ServiceAccount: "tdset-controller",
		chapter:        chapter,
		pkg:            "./exercises/" + filepath.Base(matches[0]),
		buildArgs:      []string{"-tags", "solution"},
	}, true
}

// Build builds it into dir and returns the binary's path.
func (p Program) Build(ctx context.Context, dir string) (string, error) {
	return build(ctx, p.chapter, p.pkg, filepath.Join(dir, p.Name), p.buildArgs...)
}

// WriteKubeconfig writes a kubeconfig for its ServiceAccount to path, as the function of that name does.
func (p Program) WriteKubeconfig(ctx context.Context, client kubernetes.Interface, cluster *rest.Config, path string) error {
	return writeKubeconfig(ctx, client, cluster, p.Namespace, p.ServiceAccount, path)
}
