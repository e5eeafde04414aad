//go:build e2e

package e2e

import "testing"

// The same by Helm, in a namespace that is as restricted as config/default makes it. A cluster has one of both installations, so the other
// one goes, and comes back for the tests after this one.
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
		kubectl(t, "delete", "namespace", operator, "--ignore-not-found", "--timeout=3m") // it isn't the release's
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
