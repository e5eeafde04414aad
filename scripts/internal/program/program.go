// Package program is the programs of the chapters and exercises: how to build them, which manifests
// they need, how to deploy them, and what they find where they run (webhooks, time zones, other
// controllers). The caller starts and stops those that don't run in Pods.
package program

// What `workshop run` runs: a chapter's own program, or the solution of its last exercise, TDSet,
// which has its own manifests and identity.

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/gobuild"
	"example.com/operators/scripts/internal/operator"
)

type Program struct {
	// Name is its binary's name, and Kind that of the objects that it manages.
	Name, Kind string
	// CRD is the absolute path of its CRD. Examples are the files to apply after it, in this order.
	CRD      string
	Examples []string
	// Webhooks is the absolute path of a file with its webhook configurations, or "".
	Webhooks string
	// Permissions are those in its manifests, with its identity: Namespace and ServiceAccount.
	operator.Permissions
	// Progress is called during the build. It may be nil.
	Progress func(gobuild.Progress)

	chapter         chapters.Chapter
	permissionsFile string   // absolute
	pkg             string   // in the chapter's folder
	buildArgs       []string // to go build
}

// Of returns the chapter's program for objects of that kind: its own, or the solution of its
// exercise TDSet. Not every chapter has one.
func Of(chapter chapters.Chapter, kind string) (p Program, found bool, err error) {
	if kind != chapter.Kind() {
		if chapter, found = chapter.TDSet(); !found || kind != chapters.TDSet {
			return Program{}, false, nil
		}
	}
	p, err = OfChapter(chapter)
	return p, true, err
}

func OfChapter(chapter chapters.Chapter) (Program, error) {
	parts := chapter.Parts()
	p := Program{
		Name:     chapter.Name,
		Kind:     chapter.Kind(),
		CRD:      parts.CRD,
		Examples: examples(parts.Sample),
		Webhooks: parts.Webhooks,
		chapter:  chapter,
		pkg:      parts.Main,
	}
	if chapter.Solved {
		p.Name += "-tdset"
		p.buildArgs = []string{"-tags", "solution"}
	}
	return p.withPermissions(parts.Permissions)
}

// examples returns the sample, and before it the namespace.yaml in its folder, if there is one.
func examples(sample string) []string {
	namespace := filepath.Join(filepath.Dir(sample), "namespace.yaml")
	if chapters.Exists(namespace) {
		return []string{namespace, sample}
	}
	return []string{sample}
}

// withPermissions returns p with the permissions in a file with manifests.
func (p Program) withPermissions(file string) (Program, error) {
	found, err := operator.ReadPermissions(file)
	if err == nil && found.ServiceAccount == "" {
		err = fmt.Errorf("%s: there is no ServiceAccount", file)
	}
	p.permissionsFile, p.Permissions = file, found
	return p, err
}

// Apply applies the CRD and the permissions, and returns when objects of the kind can be created.
func (p Program) Apply(ctx context.Context, k cluster.Kubectl) error {
	if err := k.ApplyCRD(ctx, p.CRD); err != nil {
		return err
	}
	return k.Apply(ctx, p.Manifests)
}

// Build builds the program into dir and returns the binary's path.
func (p Program) Build(ctx context.Context, dir string) (binary string, err error) {
	binary = filepath.Join(dir, p.Name)
	return binary, gobuild.Build{
		What:     p.Name + " of chapter " + p.chapter.Name,
		Dir:      p.chapter.Dir,
		Args:     slices.Concat([]string{"-o", binary}, p.buildArgs, []string{p.pkg}),
		Progress: p.Progress,
	}.Run(ctx)
}

// AsLearner returns p, which is the solution of an exercise, as the learner has written it so far.
func (p Program) AsLearner() Program {
	p.Name += "-yours"
	p.buildArgs = nil
	return p
}

// OfExercise returns the program of an exercise in that folder of the chapter, as the learner has
// written it so far. It has the chapter's CRD, examples and permissions, unless the exercise has
// manifests of its own.
func OfExercise(chapter chapters.Chapter, folder string) (Program, error) {
	p, err := OfChapter(chapter)
	if err != nil {
		return p, err
	}
	p.Name += "-" + folder
	p.pkg = "./exercises/" + folder
	manifests := filepath.Join(p.chapter.Dir, "exercises", folder, "manifests")
	if !chapters.Exists(manifests) {
		return p, nil
	}
	p.CRD, p.Webhooks = filepath.Join(manifests, "crd.yaml"), ""
	crd, err := p.readCRD()
	if err != nil {
		return p, err
	}
	if p.Kind, _, err = unstructured.NestedString(crd.Object, "spec", "names", "kind"); err != nil {
		return p, fmt.Errorf("%s: %w", p.CRD, err)
	}
	p.Examples = []string{filepath.Join(manifests, strings.ToLower(p.Kind)+".yaml")}
	return p.withPermissions(filepath.Join(manifests, "rbac.yaml"))
}

// Solution returns p, which is an exercise's program, as its solution.
func (p Program) Solution() Program {
	p.Name += "-solution"
	p.buildArgs = []string{"-tags", "solution"}
	return p
}

// WithRaceDetector returns p with a build that uses Go's race detector, which needs a C compiler.
func (p Program) WithRaceDetector() Program {
	p.buildArgs = append(slices.Clone(p.buildArgs), "-race")
	return p
}
