// Chapter 07's Helm chart, rendered in this process. It installs the same objects as
// config/default, except that it makes its own certificate by default. Each value changes only what
// it should.

package deploy

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/fake"
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
		"drainTimeout: 1h30m": {"+" + container + ".args[--drain-timeout=1h30m]", "-" + container + ".args[--drain-timeout=60s]"},
		"resources: {limits: {memory: null, cpu: 2}}": {
			"+" + container + ".resources.limits.cpu", "-" + container + ".resources.limits.memory",
		},
		"image: {repository: \"r.example.com:5000/tdset\"}": {
			container + ".image: tdset-operator:dev to r.example.com:5000/tdset:dev",
		},
		"image: {tag: \"1.0\"}":                                    {container + ".image: tdset-operator:dev to tdset-operator:1.0"},
		"podAnnotations: {team: blue}":                             {"+" + deployment + ".template.metadata.annotations.team"},
		"serviceAccount: {annotations: {iam.example.com/role: a}}": {"+ServiceAccount controller-manager.metadata.annotations"},
		"nodeSelector: {disk: ssd}":                                {"+" + pod + ".nodeSelector"},
		"tolerations: [{key: spot, operator: Exists}]":             {"+" + pod + ".tolerations"},
		"affinity: {nodeAffinity: {}}":                             {"+" + pod + ".affinity"},
		"networkPolicies: {enable: false}":                         {"-NetworkPolicy allow-metrics-traffic", "-NetworkPolicy allow-webhook-traffic"},
		"roles: {enable: false}":                                   {"-ClusterRole tdset-admin-role", "-ClusterRole tdset-editor-role", "-ClusterRole tdset-viewer-role"},
		"crd: {enable: false}":                                     {"-" + crd},
		"crd: {keep: false}":                                       {"-" + crd + ".metadata.annotations.helm.sh/resource-policy"},
		"crd: {storedVersion: v1}":                                 {crd + ".spec.versions[v1].storage: false to true", crd + ".spec.versions[v2].storage: true to false"},
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
		"global: {color: blue}": nil, // a global value of a parent chart
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
		"a drain timeout without a unit":       {`drainTimeout: "60"`, "at '/drainTimeout'"},
		"an unknown source of certificates":    {`webhooks: {certificates: vault}`, "at '/webhooks/certificates'"},
		"an invalid quantity":                  {`resources: {limits: {memory: much}}`, "at '/resources/limits/memory'"},
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

// renderChart renders a chart as a new release, in a cluster with these objects. The error says which
// values it refuses.
func renderChart(t *testing.T, dir, release, values, namespace string, existing ...runtime.Object) (string, error) {
	t.Helper()
	chart, err := loader.LoadDir(dir)
	must(t, err)
	given, err := common.ReadValues([]byte("{" + values + "}"))
	must(t, err)
	all, err := util.ToRenderValues(chart, given, common.ReleaseOptions{Name: release, Namespace: namespace, IsInstall: true}, nil)
	if err != nil {
		return "", err
	}
	render := func() (map[string]string, error) {
		return engine.Engine{Strict: true}.RenderWithContext(t.Context(), chart, all)
	}
	if len(existing) > 0 {
		render = func() (map[string]string, error) {
			return engine.RenderWithClientProvider(chart, all, releaseCluster{fake.NewSimpleDynamicClient(runtime.NewScheme(), existing...)})
		}
	}
	files, err := render()
	maps.DeleteFunc(files, func(name, _ string) bool { return filepath.Base(name) == "NOTES.txt" })
	return strings.Join(slices.Collect(maps.Values(files)), "\n---\n"), err
}

// releaseCluster is where Helm looks up objects.
type releaseCluster struct{ dynamic.Interface }

func (c releaseCluster) GetClientFor(apiVersion, kind string) (dynamic.NamespaceableResourceInterface, bool, error) {
	resource, _ := meta.UnsafeGuessKindToResource(schema.FromAPIVersionAndKind(apiVersion, kind))
	return c.Resource(resource), true, nil
}

// changes returns, sorted, what objects have lost (-) and gained (+), and which values differ.
func changes(before, after map[string]map[string]any) (lines []string) {
	short := strings.NewReplacer(" elsewhere/tdset-operator-", " ", " /tdset-operator-", " ", " elsewhere/", " ", " /", " ")
	all := maps.Clone(before)
	maps.Copy(all, after)
	for key := range all {
		lines = append(lines, compare(short.Replace(key), parts(before[key]), parts(after[key]))...)
	}
	slices.Sort(lines)
	return lines
}

// compare compares what parts has returned.
func compare(path string, before, after any) (lines []string) {
	old, _ := before.(map[string]any)
	now, _ := after.(map[string]any)
	switch {
	case before != nil && after == nil:
		return []string{"-" + path}
	case before == nil && after != nil:
		return []string{"+" + path}
	case (old == nil || now == nil) && !reflect.DeepEqual(before, after):
		return []string{fmt.Sprintf("%s: %v to %v", path, before, after)}
	}
	all := maps.Clone(old)
	maps.Copy(all, now)
	for key := range all {
		lines = append(lines, compare(path+key, old[key], now[key])...)
	}
	return lines
}

// parts makes a map of each list, with the entries' names or values as keys, because their order
// means nothing here. It returns nil for an object that doesn't exist.
func parts(node any) any {
	found := map[string]any{}
	switch node := node.(type) {
	case map[string]any:
		if node == nil {
			return nil
		}
		for key, value := range node {
			found["."+key] = parts(value)
		}
	case []any:
		for i, entry := range node {
			key := entry
			if fields, isMap := entry.(map[string]any); isMap {
				key = fields["name"]
			}
			if key == nil {
				key = i
			}
			found[fmt.Sprintf("[%v]", key)] = parts(entry)
		}
	default:
		return node
	}
	return found
}
