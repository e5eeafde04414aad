//go:build e2e

package e2e

import "testing"

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

	must(do("make", "helm-install", "IMG="+image()))
	must(untilReady())

	theNamespaceIsRestricted(t)
	t.Run("a TDSet", aLife)
	t.Run("the webhook", func(t *testing.T) { webhookAnswers(t, aNamespace(t)) })
	if t.Failed() {
		dump(operator)
	}
}
