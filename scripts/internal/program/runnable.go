package program

// What `workshop run` runs: a chapter's own program, or the solution of its last exercise, TDSet, which is a program too, with
// manifests and an identity of its own.

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/gobuild"
	"example.com/operators/scripts/internal/kubectl"
)

// Program is a program with what it needs on a cluster.
type Program struct {
	// Name is that of its binary; Kind that of the objects that it is about.
	Name, Kind string
	// CRD is the absolute path of the file with its CRD; Examples are those to be applied after it, in this order.
	CRD      string
	Examples []string
	// Webhooks is the absolute path of a file with the configurations of its webhooks, among other things; "" if it has none.
	Webhooks string
	// Namespace and ServiceAccount are its identity, as in the file with its permissions.
	Namespace, ServiceAccount string
	// Progress is called while it is built; it may be nil.
	Progress func(gobuild.Progress)

	chapter         chapters.Chapter
	permissionsFile string   // absolute
	pkg             string   // in the chapter's module
	buildArgs       []string // to go build
}

// Of is the chapter's program for objects of that kind: its own, or the solution of its exercise TDSet. Not every chapter has one.
func Of(chapter chapters.Chapter, kind string) (p Program, found bool, err error) {
	switch kind {
	case chapter.Kind():
		p, err = OfChapter(chapter)
		return p, true, err
	case chapters.TDSet:
		return OfTDSet(chapter)
	}
	return Program{}, false, nil
}

// OfChapter is the chapter's own program.
func OfChapter(chapter chapters.Chapter) (Program, error) {
	parts := chapter.Parts()
	return identified(Program{
		Name:            chapter.Name,
		Kind:            chapter.Kind(),
		CRD:             parts.CRD,
		Examples:        examples(parts.Sample),
		Webhooks:        parts.Webhooks,
		chapter:         chapter,
		permissionsFile: parts.Permissions,
		pkg:             parts.Main,
	})
}

// examples returns the sample, after the namespace that it names, if that lies beside it.
func examples(sample string) []string {
	namespace := filepath.Join(filepath.Dir(sample), "namespace.yaml")
	if _, err := os.Stat(namespace); err != nil {
		return []string{sample}
	}
	return []string{namespace, sample}
}

// Settled is for what kubectl can wait when the example has all that it asks for.
func (p Program) Settled() []string {
	if p.Kind == chapters.TDSet {
		return []string{"--for=condition=Ready", "--namespace=temp", "tdset/tdset-hello-world"}
	}
	return []string{"--for=condition=Ready", "foo/example-foo"}
}

// OfTDSet is the solution of the chapter's exercise TDSet. Not every chapter has one.
func OfTDSet(chapter chapters.Chapter) (p Program, found bool, err error) {
	matches, err := filepath.Glob(filepath.Join(chapter.Dir, "exercises", "*-tdset"))
	if err != nil || len(matches) == 0 {
		return Program{}, false, err
	}
	at := func(file string) string { return filepath.Join(matches[0], "manifests", file) }
	p, err = identified(Program{
		Name:            chapter.Name + "-tdset",
		Kind:            chapters.TDSet,
		CRD:             at("crd.yaml"),
		Examples:        []string{at("namespace.yaml"), at("tdset.yaml")},
		chapter:         chapter,
		permissionsFile: at("rbac.yaml"),
		pkg:             "./exercises/" + filepath.Base(matches[0]),
		buildArgs:       []string{"-tags", "solution"},
	})
	return p, true, err
}

// identified reads the program's identity from its permissions.
func identified(p Program) (Program, error) {
	permissions, err := p.permissions()
	p.Namespace, p.ServiceAccount = permissions.namespace, permissions.serviceAccount
	return p, err
}

// Apply applies the CRD and the permissions, and returns when objects of its kind can be made.
func (p Program) Apply(ctx context.Context, k kubectl.Kubectl) error {
	permissions, err := p.permissions()
	if err != nil {
		return err
	}
	if err := k.ApplyCRD(ctx, p.CRD); err != nil {
		return err
	}
	return k.Apply(ctx, permissions.objects)
}

// Build builds it into dir and returns the binary's path.
func (p Program) Build(ctx context.Context, dir string) (string, error) {
	return Build(ctx, p.chapter, p.pkg, filepath.Join(dir, p.Name), p.Progress, p.buildArgs...)
}

// WithRaceDetector returns p, to be built with Go's race detector, which needs a C compiler.
func (p Program) WithRaceDetector() Program {
	p.buildArgs = append(slices.Clone(p.buildArgs), "-race")
	return p
}

// WriteKubeconfig writes a kubeconfig for its ServiceAccount to path, as the function of that name does.
func (p Program) WriteKubeconfig(ctx context.Context, client kubernetes.Interface, cluster *rest.Config, path string) error {
	return writeKubeconfig(ctx, client, cluster, p.Namespace, p.ServiceAccount, path)
}
