package demo

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/program"
	"example.com/operators/scripts/internal/testkit"
)

// newDemo returns a tour on a cluster with these objects. Its kubectl is a script that records its
// arguments and knows one Foo.
func newDemo(t *testing.T, objects ...runtime.Object) (d *Demo, calls func() []string) {
	t.Helper()
	dir := testkit.Write(t, t.TempDir(), map[string]string{
		"01-a/manifests/crd.yaml":  "",
		"01-a/manifests/rbac.yaml": "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a, namespace: b}\n",
		"kubectl": `#!/bin/sh
echo "$*" >> "$0.asked"
case "$*" in
"get --ignore-not-found"*) echo customresourcedefinition/foos;;
"get foos --namespace demo"*) echo foo/example-foo;;
esac
`,
	})
	binary := filepath.Join(dir, "kubectl")
	if err := os.Chmod(binary, 0o700); err != nil {
		t.Fatal(err)
	}
	chapter := chapters.Chapter{Name: "01-a", Dir: filepath.Join(dir, "01-a")}
	p, err := program.OfChapter(chapter)
	if err != nil {
		t.Fatal(err)
	}
	d = &Demo{
		Root: dir, Chapter: chapter, Program: p, Kubectl: cluster.Kubectl{Binary: binary}, Out: io.Discard,
		tour: tour{namespace: "demo", resource: "foos"}, client: fake.NewClientset(objects...),
	}
	return d, func() []string {
		content, err := os.ReadFile(binary + ".asked")
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(string(content)), "\n")
	}
}

func namespace(labels map[string]string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "demo", Labels: labels}}
}

func TestATourDeletesAKilledToursNamespace(t *testing.T) {
	d, calls := newDemo(t, namespace(map[string]string{madeByTour: "true"}))
	// The script deletes nothing, so the namespace can't be created again.
	if err := d.prepare(t.Context()); !apierrors.IsAlreadyExists(err) {
		t.Errorf("error %v", err)
	}
	if want := "delete namespace demo --ignore-not-found --timeout 60s"; !slices.Contains(calls(), want) {
		t.Errorf("kubectl was called with %q, want the deletion of the namespace", calls())
	}
}

func TestATourKeepsOtherObjects(t *testing.T) {
	d, calls := newDemo(t, namespace(nil))
	var p *problem.Problem
	if err := d.prepare(t.Context()); !errors.As(err, &p) || !strings.Contains(p.What, "foo/example-foo") || p.Fix == "" {
		t.Errorf("error %v, want one with a fix", err)
	}
	for _, line := range calls() {
		if !strings.HasPrefix(line, "get ") {
			t.Errorf("after the error, it ran kubectl %s", line)
		}
	}
}
