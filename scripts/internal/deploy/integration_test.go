//go:build kind

package deploy

// Every chapter that can be deployed, on a real kind cluster.

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/kind"
	"example.com/operators/scripts/internal/kubectl"
	"example.com/operators/scripts/internal/program"
	"example.com/operators/scripts/internal/testkit"
)

func TestDeploy(t *testing.T) {
	root, err := filepath.Abs(testkit.Repository())
	if err != nil {
		t.Fatal(err)
	}
	all, err := chapters.Find(root, strings.Split(os.Getenv("TEST_CHAPTERS"), ",")...)
	if err != nil {
		t.Fatal(err)
	}
	for _, chapter := range all {
		if !chapter.IsProject() && chapter.Parts().Deployment == "" {
			continue
		}
		ways := []bool{false}
		if (Deployment{Chapter: chapter}).hasChart() {
			ways = append(ways, true)
		}
		for _, helm := range ways {
			t.Run(fmt.Sprintf("%s, by Helm: %v", chapter.Name, helm), func(t *testing.T) {
				deployOne(t, Deployment{
					Root: root, Chapter: chapter, Helm: helm, Out: t.Output(),
					Cluster: kind.New(root, os.Getenv("TEST_CLUSTER")),
					Kubectl: kubectl.Kubectl{Binary: os.Getenv("TEST_KUBECTL"), Kubeconfig: os.Getenv("TEST_KUBECONFIG")},
				})
			})
		}
	}
}

// deployOne deploys a program, checks that it works as it should, and removes it.
func deployOne(t *testing.T, d Deployment) {
	run := func(args ...string) string {
		t.Helper()
		output, err := d.Kubectl.Run(t.Context(), args...)
		if err != nil {
			t.Fatal(err)
		}
		return output
	}
	t.Cleanup(func() { // otherwise it would act on the objects of all tests that follow
		if t.Failed() {
			_ = d.Remove(context.WithoutCancel(t.Context()))
		}
	})
	if err := d.Install(t.Context()); err != nil {
		t.Fatal(err)
	}
	p, err := program.OfChapter(d.Chapter)
	if err != nil {
		t.Fatal(err)
	}
	for _, example := range p.Examples {
		run("apply", "-f", example)
	}
	run(append([]string{"wait", "--timeout=2m"}, p.Settled()...)...)

	namespace := d.target().namespace
	if got := run("get", "deployment", "--namespace", namespace, d.target().deployment, "--output", "jsonpath={.status.readyReplicas}"); got != "2" {
		t.Errorf("%s replicas are ready, want 2", got)
	}
	accounts := run("get", "pods", "--namespace", namespace, "--output", "jsonpath={.items[*].spec.serviceAccountName}")
	for _, account := range strings.Fields(accounts) {
		if account != p.ServiceAccount {
			t.Errorf("a Pod runs as %s, want %s", account, p.ServiceAccount)
		}
	}
	_, err = d.Kubectl.Run(t.Context(), "run", "--namespace", namespace, "root", "--image=nginx", "--dry-run=server")
	if err == nil || !strings.Contains(err.Error(), `violates PodSecurity "restricted`) {
		t.Errorf("a Pod that violates PodSecurity: got error %v", err)
	}
	lease := run("get", "leases", "--namespace", namespace, "--output", "jsonpath={.items[*].spec.holderIdentity}")
	if strings.TrimSpace(lease) == "" {
		t.Error("no replica is the leader")
	}

	if err := d.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, left := range strings.Fields(run("get", "crd,namespaces", "--output", "name")) {
		if strings.Contains(left, "/foos.") || strings.Contains(left, "/tdsets.") || left == "namespace/"+namespace {
			t.Errorf("%s is left", left)
		}
	}
}
