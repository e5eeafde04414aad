package program

// The Helm charts of chapter 07 and of chapter 02's imageswap, rendered in this process.

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/fake"
)

// certManager is the value without which the chart makes another certificate each time.
const certManager = "webhooks: {certificates: certManager}"

// The chart installs the same objects as config/default.
func TestTheChartMatchesKustomize(t *testing.T) {
	installed, err := os.ReadFile(filepath.Join(projectDir("07-tdset-operator"), "dist", "install.yaml"))
	must(t, err)
	want := parseObjects(t, strings.ReplaceAll(string(installed), "tdset-operator-system", "elsewhere"))
	delete(want, "Namespace elsewhere") // Helm keeps its records there, so it must exist before
	rendered, err := renderTDSet(t, certManager)
	must(t, err)
	byHelm := []string{"app.kubernetes.io/managed-by", "helm.sh/chart", "helm.sh/resource-policy"}
	diff := cmp.Diff(want, parseObjects(t, rendered),
		cmpopts.IgnoreMapEntries(func(key string, _ any) bool { return slices.Contains(byHelm, key) }),
		cmpopts.SortSlices(func(a, b any) bool { return fmt.Sprint(a) < fmt.Sprint(b) }))
	if diff != "" {
		t.Errorf("kustomize (-) and the chart (+) differ:\n%s", diff)
	}
}

// With all its values, the chart also installs config/prometheus.
func TestTheChartHasTheAlerts(t *testing.T) {
	built := inProject(t, projectDir("07-tdset-operator"), "go", "tool", "kustomize", "build", "config/prometheus")
	rendered, err := renderTDSet(t, "metrics: {serviceMonitor: {enable: true}, prometheusRule: {enable: true}}, "+certManager)
	must(t, err)
	installed := parseObjects(t, rendered)
	for name, want := range parseObjects(t, built) {
		kind, name, _ := strings.Cut(name, " ")
		got := installed[kind+" tdset-operator-"+name]
		if got == nil {
			t.Errorf("the chart has no %s %s", kind, name)
		} else if diff := cmp.Diff(want.Object["spec"], got.Object["spec"]); diff != "" {
			t.Errorf("kustomize (-) and the chart (+) differ in the %s:\n%s", kind, diff)
		}
	}
}

func TestTheChartsValues(t *testing.T) {
	for values, test := range map[string]struct{ has, lacks []string }{
		"replicas: 1, leaderElection: {enable: false}, " + certManager: { // never two at a time, not even during an update
			[]string{"type: Recreate"},
			[]string{"leader-elect", "kind: PodDisruptionBudget"}, // a budget would block every drain of its node
		},
		"metrics: {enable: false}, " + certManager: {nil, []string{"metrics"}},
		"webhooks: {enable: false}": {
			[]string{"ENABLE_WEBHOOKS", "served: false"}, // nobody converts v1
			[]string{"webhook-service", "cert-manager.io/", "webhook-cert-path", "WebhookConfiguration"},
		},
	} {
		t.Run(values, func(t *testing.T) {
			rendered, err := renderTDSet(t, values)
			must(t, err)
			for _, word := range slices.Concat(test.has, test.lacks) {
				if found := strings.Contains(rendered, word); found != slices.Contains(test.has, word) {
					t.Errorf("the chart has %q: %v", word, found)
				}
			}
		})
	}
}

// The chart's own certificate is for the webhook's Service, and an upgrade doesn't change it.
func TestTheChartMakesACertificate(t *testing.T) {
	installed, err := renderTDSet(t, "")
	must(t, err)
	made := parseObjects(t, installed)["Secret webhook-server-cert"]
	var secret corev1.Secret
	decode(t, made, &secret)
	ca, _, _ := unstructured.NestedString(made.Object, "data", "ca.crt")
	verify(t, secret.Data["tls.crt"], secret.Data["tls.key"], ca, "tdset-operator-webhook-service.elsewhere.svc")
	if trusted := strings.Count(installed, "caBundle: "+ca); trusted != 2 {
		t.Errorf("the CA is trusted in %d objects, want the CRD and the webhook's configuration", trusted)
	}
	upgraded, err := renderTDSet(t, "", made)
	must(t, err)
	if diff := cmp.Diff(parseObjects(t, installed), parseObjects(t, upgraded)); diff != "" {
		t.Errorf("the upgrade changes:\n%s", diff)
	}
}

// The program has a Role in the namespace that it changes, and its account is in another.
func TestTheSwappersChart(t *testing.T) {
	rendered, err := renderSwapper(t, "namespace: shop")
	must(t, err)
	objects := parseObjects(t, rendered)
	if got := slices.Sorted(maps.Keys(objects)); !slices.Equal(got,
		[]string{"Deployment swap", "Role swap", "RoleBinding swap", "ServiceAccount swap"}) {
		t.Fatalf("got objects %q", got)
	}
	var role rbacv1.Role
	decode(t, objects["Role swap"], &role)
	want := []rbacv1.PolicyRule{
		{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"get", "list", "watch", "update"}},
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list", "watch"}},
	}
	if diff := cmp.Diff(want, role.Rules); diff != "" || role.Namespace != "shop" {
		t.Errorf("rules in namespace %s (-want +got):\n%s", role.Namespace, diff)
	}
	if got := fmt.Sprint(objects["Deployment swap"]); !strings.Contains(got, "type:Recreate") { // never two at a time
		t.Errorf("got %s", got)
	}
}

func TestTheChartsRefuse(t *testing.T) {
	tdset := func(values string) error { _, err := renderTDSet(t, values); return err }
	swapper := func(values string) error { _, err := renderSwapper(t, values); return err }
	for want, err := range map[string]error{
		"'replica'":                        tdset("replica: 3"), // misspelled
		"at '/replicas': maximum":          tdset("leaderElection: {enable: false}"),
		"missing property 'namespace'":     swapper(""),
		"imageswap would change its own":   swapper("namespace: elsewhere"),
		"additional properties 'replicas'": swapper("namespace: shop, replicas: 2"),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got the error %v, want one that contains %q", err, want)
		}
	}
}

func renderTDSet(t *testing.T, values string, existing ...runtime.Object) (string, error) {
	t.Helper()
	chart := filepath.Join(projectDir("07-tdset-operator"), "dist", "chart")
	return renderChart(t, chart, "tdset-operator", values, existing...)
}

func renderSwapper(t *testing.T, values string) (string, error) {
	t.Helper()
	return renderChart(t, filepath.Join(projectDir("02-informers"), "imageswap", "chart"), "swap", values)
}

// renderChart renders a chart as a new release in the namespace "elsewhere" of a cluster with these
// objects. The error says which values it refuses.
func renderChart(t *testing.T, dir, release, values string, existing ...runtime.Object) (string, error) {
	t.Helper()
	chart, err := loader.LoadDir(dir)
	given, valuesErr := common.ReadValues([]byte("{" + values + "}"))
	must(t, errors.Join(err, valuesErr))
	options := common.ReleaseOptions{Name: release, Namespace: "elsewhere", IsInstall: true}
	all, err := util.ToRenderValues(chart, given, options, nil)
	if err != nil {
		return "", err
	}
	objects := releaseCluster{fake.NewSimpleDynamicClient(runtime.NewScheme(), existing...)}
	files, err := engine.RenderWithClientProvider(chart, all, objects)
	maps.DeleteFunc(files, func(name, _ string) bool { return filepath.Base(name) == "NOTES.txt" })
	return strings.Join(slices.Collect(maps.Values(files)), "\n---\n"), err
}

// releaseCluster is where Helm looks up objects.
type releaseCluster struct{ dynamic.Interface }

func (c releaseCluster) GetClientFor(apiVersion, kind string) (dynamic.NamespaceableResourceInterface, bool, error) {
	resource, _ := meta.UnsafeGuessKindToResource(schema.FromAPIVersionAndKind(apiVersion, kind))
	return c.Resource(resource), true, nil
}
