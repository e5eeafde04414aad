//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/operators/07-tdset-operator/test/utils"
)

// The same operator, installed by Helm, in a namespace that is as restricted as config/default
// makes it. A cluster can have only one installation, so the other one is removed, and installed
// again for the tests after this one.
func TestTheChart(t *testing.T) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(do("make", "undeploy"))
	t.Cleanup(func() {
		must(do("make", "helm-uninstall"))
		kubectl(t, "delete", "namespace", operator, "--ignore-not-found", "--timeout=3m") // it isn't part of the release
		must(deploy())
	})

	namespace := aNamespace(t)
	chart := firstRelease(t)
	must(do("make", "helm-install", "CHART=tdset-operator "+chart+" --namespace "+operator+" --set crd.storedVersion=v1,image.reference="+image()))
	eventually(t, "v1 is served", func() bool { return createV1(namespace, "old") == nil })

	must(do("make", "helm-install", "IMG="+image()))
	must(untilReady())

	t.Run("the upgrade from the first release", func(t *testing.T) {
		eventually(t, "v2 is served, and the operator converts what is stored in v1", func() bool {
			starts, err := startsInV2(namespace, "old")
			return err == nil && starts == "09:00"
		})
	})
	theNamespaceIsRestricted(t)
	t.Run("a TDSet", aLife)
	t.Run("the webhook", func(t *testing.T) { webhookAnswers(t, aNamespace(t)) })
	if t.Failed() {
		dump(operator)
	}
}

// firstRelease writes a chart with the CRD of the first release, which had only v1. Helm upgrades
// the CRD later, because it's a template. (From a chart's folder crds/, Helm only installs.)
func firstRelease(t *testing.T) (chart string) {
	t.Helper()
	root, err := utils.ProjectDir()
	if err != nil {
		t.Fatal(err)
	}
	chart = filepath.Join(t.TempDir(), "chart")
	if err := os.CopyFS(chart, os.DirFS(filepath.Join(root, "dist", "chart"))); err != nil {
		t.Fatal(err)
	}
	about, err := os.ReadFile(filepath.Join(chart, "Chart.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for file, content := range map[string]string{
		"Chart.yaml":                        strings.Replace(string(about), "version: 0.2.0", "version: 0.1.0", 1),
		"files/crd/schedule.rs_tdsets.yaml": kubectl(t, "kustomize", "config/migration/1-v1-only"),
	} {
		if err := os.WriteFile(filepath.Join(chart, file), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return chart
}
