//go:build e2e

package e2e

import (
	"regexp"
	"strings"
	"testing"
)

// Only authorized clients may read the metrics. The requests come from a Pod in a labelled
// namespace, because the NetworkPolicy (if the cluster's network enforces it) lets nobody else in.
func TestTheMetrics(t *testing.T) {
	namespace := aNamespace(t)
	kubectl(t, "label", "namespace", namespace, "metrics=enabled")
	kubectl(t, "create", "serviceaccount", "-n", namespace, "reader")
	binding := namespace + "-reader"
	kubectl(t, "create", "clusterrolebinding", binding, "--clusterrole=tdset-operator-metrics-reader", "--serviceaccount="+namespace+":reader")
	t.Cleanup(func() { kubectl(t, "delete", "clusterrolebinding", binding) })
	apply(t, namespace, "web", always(standIn, 1))
	kubectl(t, "wait", "-n", namespace, "tdset/web", "--for=condition=Ready", "--timeout=3m")

	const (
		service = "https://tdset-operator-controller-manager-metrics-service.tdset-operator-system.svc:8443/metrics"
		token   = "--token-file=/var/run/secrets/kubernetes.io/serviceaccount/token"
	)
	// Every replica has metrics, but only the leader has metrics about reconciles.
	leading := "https://" + kubectl(t, "get", "pod", "-n", operator, leader(t), "-o", "jsonpath={.status.podIP}") + ":8443/metrics"
	for sentence, test := range map[string]struct {
		account string
		args    []string
		want    string // a pattern for the answer's status and body
	}{
		"without a token":                         {"reader", []string{service}, `^401 Unauthorized\n`},
		"without permission":                      {"default", []string{token, service}, `^403 Forbidden\n`},
		"with permission":                         {"reader", []string{token, service}, `^200 OK\n`},
		"the leader reports the desired replicas": {"reader", []string{token, leading}, `\ntdset_desired_replicas{name="web",namespace="` + namespace + `"} 1\n`},
	} {
		t.Run(sentence, func(t *testing.T) {
			pod := strings.NewReplacer(" ", "-", ",", "").Replace(sentence)
			if got := askFromPod(t, namespace, pod, test.account, test.args...); !regexp.MustCompile(test.want).MatchString(got) {
				t.Errorf("got the answer\n%s\nwant %s", got, test.want)
			}
		})
	}
}
