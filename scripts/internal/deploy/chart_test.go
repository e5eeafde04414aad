// Chapter 07's Helm chart, rendered in this process. It installs the same objects as
// config/default, except that it makes its own certificate by default. Each value changes only what
// it should.

package deploy

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/cert"
)

// certManager is the value without which the chart makes another certificate each time.
const certManager = "webhooks: {certificates: certManager}"

func TestTheChartMatchesKustomize(t *testing.T) {
	installed, err := os.ReadFile(filepath.Join(projectDir("07-tdset-operator"), "dist", "install.yaml"))
	must(t, err)
	byHelm := regexp.MustCompile(`\.labels\.(app\.kubernetes\.io/managed-by|helm\.sh/chart)\b|^\+CustomResourceDefinition .*/resource-policy$`)
	for values, built := range map[string]string{
		certManager: string(installed),
		certManager + ", metrics: {serviceMonitor: {enable: true}}": withPrometheus(t, "07-tdset-operator"),
	} {
		t.Run(values, func(t *testing.T) {
			want, got := parseObjects(t, strings.ReplaceAll(built, "tdset-operator-system", "elsewhere")), tdsetObjects(t, values)
			delete(want, "Namespace /elsewhere") // Helm keeps its records there, so it must exist before
			for _, change := range changes(want, got) {
				if !byHelm.MatchString(change) {
					t.Errorf("kustomize (-) and the chart (+) differ: %s", change)
				}
			}
		})
	}
}

func TestTheChartsValues(t *testing.T) {
	const deployment, crd = "Deployment controller-manager.spec", "CustomResourceDefinition tdsets.schedule.rs"
	const pod, container = deployment + ".template.spec", deployment + ".template.spec.containers[manager]"
	before := tdsetObjects(t, certManager)
	for values, want := range map[string][]string{
		"replicas: 1": {"-PodDisruptionBudget controller-manager", deployment + ".replicas: 2 to 1"}, // a budget would block every drain of its node
		"replicas: 1, leaderElection: {enable: false}": { // never two at a time, not even during an update
			"-" + deployment + ".strategy.rollingUpdate", "-" + container + ".args[--leader-elect]",
			"-" + container + ".args[--leader-election-namespace=$(POD_NAMESPACE)]", "-PodDisruptionBudget controller-manager",
			"-Role leader-election-role", "-RoleBinding leader-election-rolebinding",
			deployment + ".replicas: 2 to 1", deployment + ".strategy.type: RollingUpdate to Recreate",
		},
		"drainTimeout: 1h30m":              {"+" + container + ".args[--drain-timeout=1h30m]", "-" + container + ".args[--drain-timeout=60s]"},
		"networkPolicies: {enable: false}": {"-NetworkPolicy allow-metrics-traffic", "-NetworkPolicy allow-webhook-traffic"},
		"crd: {storedVersion: v1}":         {crd + ".spec.versions[v1].storage: false to true", crd + ".spec.versions[v2].storage: true to false"},
		"metrics: {enable: false}": {
			"-ClusterRole metrics-auth-role", "-ClusterRole metrics-reader", "-ClusterRoleBinding metrics-auth-rolebinding",
			"-" + container + ".args[--metrics-bind-address=:8443]", "-" + container + ".ports[metrics]",
			"-NetworkPolicy allow-metrics-traffic", "-Service controller-manager-metrics-service",
		},
		"webhooks: {enable: false}": {
			"+" + container + ".env[ENABLE_WEBHOOKS]", "-Certificate serving-cert",
			"-" + crd + ".metadata.annotations.cert-manager.io/inject-ca-from", "-" + crd + ".spec.conversion",
			"-" + container + ".args[--webhook-cert-path=/tmp/k8s-webhook-server/serving-certs]", "-" + container + ".ports[webhook-server]",
			"-" + container + ".volumeMounts", "-" + pod + ".volumes", "-Issuer selfsigned-issuer", "-NetworkPolicy allow-webhook-traffic", "-Service webhook-service",
			"-ValidatingWebhookConfiguration validating-webhook-configuration", crd + ".spec.versions[v1].served: true to false", // nobody converts v1
		},
	} {
		t.Run(values, func(t *testing.T) {
			if !strings.HasPrefix(values, "webhooks") {
				values += ", " + certManager
			}
			got := changes(before, tdsetObjects(t, values))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheChartRefuses(t *testing.T) {
	for sentence, test := range map[string]struct{ values, want string }{
		"a misspelled value":                   {`replica: 3`, "'replica'"},
		"two replicas without leader election": {`leaderElection: {enable: false}`, "at '/replicas': maximum"},
		"a ServiceMonitor without metrics":     {`metrics: {enable: false, serviceMonitor: {enable: true}}`, "at '/metrics/enable'"},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := renderChart(t, tdsetChart(), "tdset-operator", test.values, "elsewhere")
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got the error %v, want one that contains %q", err, test.want)
			}
		})
	}
}

// All names begin with the release's name, and the webhook is called by that name.
func TestTheChartsNames(t *testing.T) {
	rendered, err := renderChart(t, tdsetChart(), "prod", certManager, "elsewhere")
	must(t, err)
	if left := regexp.MustCompile(`.*(name|secretName|From|from): (elsewhere/)?tdset-operator-.*`).FindString(rendered); left != "" {
		t.Errorf("a name without the release's: %s", left)
	}
	if !strings.Contains(rendered, "name: prod-tdset-operator-webhook-service\n") {
		t.Error("there is no Service prod-tdset-operator-webhook-service")
	}
}

// The chart's own certificate is for the webhook's Service, and an upgrade doesn't change it.
func TestTheChartMakesACertificate(t *testing.T) {
	installed := tdsetObjects(t, "")
	made := installed["Secret elsewhere/webhook-server-cert"]
	var secret corev1.Secret
	decode(t, made, &secret)
	pair, err := tls.X509KeyPair(secret.Data["tls.crt"], secret.Data["tls.key"])
	must(t, err)
	roots, err := cert.NewPoolFromBytes(secret.Data["ca.crt"])
	must(t, err)
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "tdset-operator-webhook-service.elsewhere.svc"}); err != nil {
		t.Errorf("the API server would refuse the certificate: %v", err)
	}
	ca, _, _ := unstructured.NestedString(made, "data", "ca.crt")
	if trusted := strings.Count(fmt.Sprint(installed), "caBundle:"+ca); trusted != 2 {
		t.Errorf("the CA is trusted in %d objects, want the CRD and the webhook's configuration", trusted)
	}

	upgraded, err := renderChart(t, tdsetChart(), "tdset-operator", "", "elsewhere", &unstructured.Unstructured{Object: made})
	must(t, err)
	if got := changes(installed, parseObjects(t, upgraded)); len(got) > 0 {
		t.Errorf("the upgrade changes %q", got)
	}
}

func tdsetChart() string { return filepath.Join(projectDir("07-tdset-operator"), "dist", "chart") }

// tdsetObjects returns the objects of chapter 07's chart. The release's name makes their names those
// of config/default.
func tdsetObjects(t *testing.T, values string) map[string]map[string]any {
	t.Helper()
	rendered, err := renderChart(t, tdsetChart(), "tdset-operator", values, "elsewhere")
	must(t, err)
	return parseObjects(t, rendered)
}
