// The Helm chart, rendered in this process. It installs the same objects as config/default, except
// that it makes its own certificate by default. Each value changes only what it should, and invalid
// values are refused.

package project

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	v2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/util/cert"
)

// Some of the objects, by kind and name.
const (
	operatorNamespace = "Namespace tdset-operator-system"
	crd               = "CustomResourceDefinition tdsets.schedule.rs"
	managerDeployment = "Deployment tdset-operator-controller-manager"
	budget            = "PodDisruptionBudget tdset-operator-controller-manager"
	webhookPolicy     = "NetworkPolicy tdset-operator-allow-webhook-traffic"
	metricsPolicy     = "NetworkPolicy tdset-operator-allow-metrics-traffic"
	validatingWebhook = "ValidatingWebhookConfiguration tdset-operator-validating-webhook-configuration"
	certSecret        = "Secret webhook-server-cert"
)

func TestTheChartMatchesKustomize(t *testing.T) {
	t.Parallel()
	skipWithAddedKinds(t)
	const kustomization = "config/default/kustomization.yaml"
	for sentence, test := range map[string]struct {
		values string
		change map[string]string // in the kustomization
		expect func(*testing.T, objects)
	}{
		"the default values": {expect: withItsOwnCertificate},
		"certificates from cert-manager": {
			values: `webhooks: {certificates: certManager}`,
			expect: func(*testing.T, objects) {},
		},
		"metrics for the Prometheus operator": {
			values: `metrics: {serviceMonitor: {enable: true}}`,
			change: map[string]string{"\n#- ../prometheus": "\n- ../prometheus"},
			expect: withItsOwnCertificate,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			installed := read(t, "dist/install.yaml")
			if len(test.change) > 0 {
				clone := cloneProject(t)
				for old, new := range test.change {
					change(t, clone, kustomization, old, new)
				}
				installed = run(t, clone, "go", "tool", "kustomize", "build", "config/default")
			}

			want := byHelm(t, parse(t, installed))
			test.expect(t, want)

			got := render(t, test.values)

			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("objects (-kustomize +chart):\n%s", diff)
			}
		})
	}
}

// byHelm changes kustomize's objects to the ones that the chart should have. Except for the
// certificate, there are no other differences.
func byHelm(t *testing.T, objects objects) objects {
	t.Helper()
	// Helm keeps its records in the namespace, so the namespace can't be in the chart. helm install
	// --create-namespace creates it, without labels.
	objects.delete(t, operatorNamespace)
	// Otherwise helm uninstall would delete the CRD, and every TDSet with it.
	objects.set(t, crd, "keep", "metadata", "annotations", "helm.sh/resource-policy")
	for _, object := range objects {
		labels, found, _ := unstructured.NestedMap(object, "metadata", "labels")
		if !found {
			continue
		}
		labels["app.kubernetes.io/managed-by"] = "Helm"  // kustomize sets kustomize
		labels["helm.sh/chart"] = "tdset-operator-0.2.0" // the chart's version, as in every chart
		must(t, unstructured.SetNestedMap(object, labels, "metadata", "labels"))
	}
	return objects
}

// withItsOwnCertificate replaces cert-manager's objects and annotations with a Secret, whose CA is
// in the webhook configuration and the CRD.
func withItsOwnCertificate(t *testing.T, objects objects) {
	t.Helper()
	labels := objects["Issuer tdset-operator-selfsigned-issuer"]["metadata"].(map[string]any)["labels"]
	objects.delete(t, "Issuer tdset-operator-selfsigned-issuer", "Certificate tdset-operator-serving-cert")
	objects[certSecret] = map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
		"metadata": map[string]any{"name": "webhook-server-cert", "namespace": release.Namespace, "labels": labels},
		"data":     map[string]any{"ca.crt": "ca.crt", "tls.crt": "tls.crt", "tls.key": "tls.key"}, // see render
	}
	objects.set(t, crd, nil, "metadata", "annotations", "cert-manager.io/inject-ca-from")
	objects.set(t, validatingWebhook, nil, "metadata", "annotations")
	for _, config := range objects.clientConfigs() {
		config["caBundle"] = "ca.crt"
	}
}

func TestValues(t *testing.T) {
	metrics := []string{
		"Service tdset-operator-controller-manager-metrics-service", metricsPolicy, "ClusterRole tdset-operator-metrics-reader",
		"ClusterRole tdset-operator-metrics-auth-role", "ClusterRoleBinding tdset-operator-metrics-auth-rolebinding",
	}
	webhook := []string{
		"Service tdset-operator-webhook-service", webhookPolicy, validatingWebhook, certSecret,
	}
	election := []string{"Role tdset-operator-leader-election-role", "RoleBinding tdset-operator-leader-election-rolebinding"}
	for sentence, test := range map[string]struct {
		values string
		want   func(*testing.T, objects) // changes the objects of the default values
	}{
		"another image": {
			values: `image: {reference: "registry.example.com:5000/a/tdset@sha256:0123", pullPolicy: Always, pullSecrets: [{name: key}]}`,
			want: func(t *testing.T, o objects) {
				o.setInContainer(t, "registry.example.com:5000/a/tdset@sha256:0123", "image")
				o.setInContainer(t, "Always", "imagePullPolicy")
				o.set(t, managerDeployment, []any{map[string]any{"name": "key"}}, "spec", "template", "spec", "imagePullSecrets")
			},
		},
		"three replicas": {
			values: `replicas: 3`,
			want:   func(t *testing.T, o objects) { o.set(t, managerDeployment, int64(3), "spec", "replicas") },
		},
		"one replica, without a budget": {
			values: `replicas: 1`,
			want: func(t *testing.T, o objects) {
				o.set(t, managerDeployment, int64(1), "spec", "replicas")
				o.delete(t, budget)
			},
		},
		"one replica, without leader election": {
			values: `{replicas: 1, leaderElection: {enable: false}}`,
			want: func(t *testing.T, o objects) {
				o.set(t, managerDeployment, int64(1), "spec", "replicas")
				o.set(t, managerDeployment, map[string]any{"type": "Recreate"}, "spec", "strategy") // never two at a time, not even during an update
				o.delete(t, append(election, budget)...)
				o.deleteArgs(t, "--leader-elect", "--leader-election-namespace=$(POD_NAMESPACE)")
			},
		},
		"a longer drain": {
			values: `drainTimeout: 1h30m`,
			want: func(t *testing.T, o objects) {
				o.deleteArgs(t, "--drain-timeout=60s")
				o.insertArg(t, 3, "--drain-timeout=1h30m")
			},
		},
		"other resources": {
			values: `resources: {requests: {cpu: 1}, limits: {memory: null, cpu: "2.5"}}`,
			want: func(t *testing.T, o objects) {
				o.setInContainer(t, map[string]any{
					"requests": map[string]any{"cpu": int64(1), "memory": "64Mi"}, "limits": map[string]any{"cpu": "2.5"},
				}, "resources")
			},
		},
		"no resources": {
			values: `resources: {requests: null, limits: null}`,
			want:   func(t *testing.T, o objects) { o.setInContainer(t, nil, "resources") },
		},
		"no webhook, and no certificate": {
			values: `webhooks: {enable: false}`,
			want: func(t *testing.T, o objects) {
				o.delete(t, webhook...)
				o.set(t, crd, nil, "spec", "conversion")
				versions, _, _ := unstructured.NestedSlice(o[crd], "spec", "versions")
				versions[0].(map[string]any)["served"] = false // nobody converts v1
				o.set(t, crd, versions, "spec", "versions")
				o.deleteArgs(t, "--webhook-cert-path=/tmp/k8s-webhook-server/serving-certs")
				o.setInContainer(t, append([]any{map[string]any{"name": "ENABLE_WEBHOOKS", "value": "false"}}, o.container(t)["env"].([]any)...), "env")
				o.deletePort(t, "webhook-server")
				o.setInContainer(t, nil, "volumeMounts")
				o.set(t, managerDeployment, nil, "spec", "template", "spec", "volumes")
			},
		},
		"no metrics": {
			values: `metrics: {enable: false}`,
			want: func(t *testing.T, o objects) {
				o.delete(t, metrics...)
				o.deleteArgs(t, "--metrics-bind-address=:8443")
				o.deletePort(t, "metrics")
			},
		},
		"no network policies": {
			values: `networkPolicies: {enable: false}`,
			want:   func(t *testing.T, o objects) { o.delete(t, webhookPolicy, metricsPolicy) },
		},
		"no budget": {
			values: `podDisruptionBudget: {enable: false}`,
			want:   func(t *testing.T, o objects) { o.delete(t, budget) },
		},
		"no roles for users": {
			values: `roles: {enable: false}`,
			want: func(t *testing.T, o objects) {
				o.delete(t, "ClusterRole tdset-operator-tdset-admin-role", "ClusterRole tdset-operator-tdset-editor-role", "ClusterRole tdset-operator-tdset-viewer-role")
			},
		},
		"no CRD": {
			values: `crd: {enable: false}`,
			want:   func(t *testing.T, o objects) { o.delete(t, crd) },
		},
		"TDSets are still stored in v1": {
			values: `crd: {storedVersion: v1}`,
			want: func(t *testing.T, o objects) {
				versions, _, _ := unstructured.NestedSlice(o[crd], "spec", "versions")
				for i, stored := range []bool{true, false} {
					versions[i].(map[string]any)["storage"] = stored
				}
				o.set(t, crd, versions, "spec", "versions")
			},
		},
		"a CRD that is deleted with the release": {
			values: `crd: {keep: false}`,
			want: func(t *testing.T, o objects) {
				o.set(t, crd, nil, "metadata", "annotations", "helm.sh/resource-policy")
			},
		},
		"a global value of a parent chart": {
			values: `global: {colour: blue}`,
			want:   func(*testing.T, objects) {},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			want := render(t, "")
			test.want(t, want)

			got := render(t, test.values)

			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheReleaseSetsOnlyTheNamespace(t *testing.T) {
	const ours = "tdset-operator-system"
	manifests := manifestsOf(t, "", common.ReleaseOptions{Name: "another", Namespace: "elsewhere"})
	if strings.Contains(manifests, ours) {
		t.Errorf("the objects still contain %s", ours)
	}

	got := parse(t, strings.ReplaceAll(manifests, "elsewhere", ours)).withoutCertificate(t)

	if diff := cmp.Diff(render(t, ""), got); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}

// The certificate is for the webhook's Service, and an upgrade doesn't change it.
func TestTheChartMakesACertificate(t *testing.T) {
	installed := parse(t, manifestsOf(t, "", release))
	var secret corev1.Secret
	must(t, runtime.DefaultUnstructuredConverter.FromUnstructured(installed[certSecret], &secret))
	pair, err := tls.X509KeyPair(secret.Data["tls.crt"], secret.Data["tls.key"])
	must(t, err)
	roots, err := cert.NewPoolFromBytes(secret.Data["ca.crt"])
	must(t, err)
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "tdset-operator-webhook-service.tdset-operator-system.svc"}); err != nil {
		t.Errorf("the API server would refuse the certificate: %v", err)
	}

	chart, values, err := load(t, "", release)
	must(t, err)
	files, err := engine.RenderWithClientProvider(chart, values, cluster{fake.NewSimpleDynamicClient(runtime.NewScheme(), &unstructured.Unstructured{Object: installed[certSecret]})})
	must(t, err)

	if diff := cmp.Diff(installed, parse(t, join(files))); diff != "" {
		t.Errorf("objects (-installed +upgraded):\n%s", diff)
	}
}

// cluster is where Helm looks up objects.
type cluster struct{ dynamic.Interface }

func (c cluster) GetClientFor(apiVersion, kind string) (dynamic.NamespaceableResourceInterface, bool, error) {
	resource, _ := meta.UnsafeGuessKindToResource(schema.FromAPIVersionAndKind(apiVersion, kind))
	return c.Resource(resource), true, nil
}

func TestTheChartRefuses(t *testing.T) {
	for sentence, test := range map[string]struct{ values, want string }{
		"a misspelled value":                   {`replica: 3`, "'replica'"},
		"a misspelled nested value":            {`crd: {keeps: true}`, "'keeps'"},
		"no replicas":                          {`replicas: 0`, "at '/replicas': minimum"},
		"half a replica":                       {`replicas: 1.5`, "at '/replicas'"},
		"two replicas without leader election": {`leaderElection: {enable: false}`, "at '/replicas': maximum"},
		"a string for a boolean":               {`webhooks: {enable: "no"}`, "at '/webhooks/enable'"},
		"a drain timeout of 0":                 {`drainTimeout: 0s`, "at '/drainTimeout'"},
		"a drain timeout without a unit":       {`drainTimeout: "60"`, "at '/drainTimeout'"},
		"a number for the drain timeout":       {`drainTimeout: 60`, "at '/drainTimeout'"},
		"an unknown source of certificates":    {`webhooks: {certificates: vault}`, "at '/webhooks/certificates'"},
		"a blank in the image":                 {`image: {reference: "a b"}`, "at '/image/reference'"},
		"no image":                             {`image: {reference: null}`, "'reference'"},
		"an unknown pull policy":               {`image: {pullPolicy: Sometimes}`, "at '/image/pullPolicy'"},
		"a pull secret without the key name":   {`image: {pullSecrets: [key]}`, "at '/image/pullSecrets/0'"},
		"an invalid quantity":                  {`resources: {limits: {memory: much}}`, "at '/resources/limits/memory'"},
		"a ServiceMonitor without metrics":     {`metrics: {enable: false, serviceMonitor: {enable: true}}`, "at '/metrics/enable'"},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := renderFiles(t, test.values, release)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got the error %v, want one that contains %q", err, test.want)
			}
		})
	}
}

// release has the namespace of make deploy.
var release = common.ReleaseOptions{Name: "tdset-operator", Namespace: "tdset-operator-system", Revision: 1, IsInstall: true}

// render returns the chart's objects, with those values instead of the defaults.
func render(t *testing.T, values string) objects {
	t.Helper()
	return parse(t, manifestsOf(t, values, release)).withoutCertificate(t)
}

// manifestsOf returns the chart's objects as text.
func manifestsOf(t *testing.T, values string, release common.ReleaseOptions) string {
	t.Helper()
	files, err := renderFiles(t, values, release)
	must(t, err)
	return join(files)
}

// join returns the objects in rendered templates as one text.
func join(files map[string]string) string {
	var manifests []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if path.Base(name) != "NOTES.txt" {
			manifests = append(manifests, files[name])
		}
	}
	return strings.Join(manifests, "\n---\n")
}

// renderFiles returns the rendered templates, by name.
func renderFiles(t *testing.T, values string, release common.ReleaseOptions) (map[string]string, error) {
	t.Helper()
	chart, all, err := load(t, values, release)
	if err != nil {
		return nil, err
	}
	return engine.Engine{Strict: true}.RenderWithContext(t.Context(), chart, all)
}

// load returns the chart and all values, with those instead of the defaults. It returns an error if
// they don't match values.schema.json.
func load(t *testing.T, values string, release common.ReleaseOptions) (*v2.Chart, common.Values, error) {
	t.Helper()
	chart, err := loader.LoadDir(filepath.Join(projectDir(t), "dist", "chart"))
	must(t, err)
	given, err := common.ReadValues([]byte(values))
	must(t, err)
	all, err := util.ToRenderValues(chart, given, release, nil)
	return chart, all, err
}

// objects has manifests by kind and name.
type objects map[string]map[string]any

// parse reads manifests, and fails the test if an object occurs twice.
func parse(t *testing.T, manifests string) objects {
	t.Helper()
	parsed := objects{}
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewBufferString(manifests), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := documents.Decode(object)
		if errors.Is(err, io.EOF) {
			return parsed
		}
		must(t, err)
		if len(object.Object) == 0 {
			continue // an empty document
		}
		key := object.GetKind() + " " + object.GetName()
		if parsed[key] != nil {
			t.Errorf("%s occurs twice", key)
		}
		parsed[key] = object.Object
	}
}

// withoutCertificate replaces the certificate that the chart makes, and its CA, with the names of
// their keys in the Secret, because both differ each time. It fails the test if the API server
// trusts another CA.
func (o objects) withoutCertificate(t *testing.T) objects {
	t.Helper()
	if o[certSecret] == nil {
		return o
	}
	data := o[certSecret]["data"].(map[string]any)
	for _, config := range o.clientConfigs() {
		if config["caBundle"] != data["ca.crt"] {
			t.Errorf("the API server trusts %v, want the CA in the Secret", config["caBundle"])
		}
		config["caBundle"] = "ca.crt"
	}
	for key := range data {
		data[key] = key
	}
	return o
}

// clientConfigs returns how the API server calls the webhooks and the conversion.
func (o objects) clientConfigs() (found []map[string]any) {
	if configuration := o[validatingWebhook]; configuration != nil {
		for _, webhook := range configuration["webhooks"].([]any) {
			found = append(found, webhook.(map[string]any)["clientConfig"].(map[string]any))
		}
	}
	if conversion, exists, _ := unstructured.NestedFieldNoCopy(o[crd], "spec", "conversion", "webhook", "clientConfig"); exists {
		found = append(found, conversion.(map[string]any))
	}
	return found
}

// delete removes objects.
func (o objects) delete(t *testing.T, keys ...string) {
	t.Helper()
	for _, key := range keys {
		if o[key] == nil {
			t.Errorf("the objects have no %s", key)
		}
		delete(o, key)
	}
}

// set sets a field of an object. The value nil removes it.
func (o objects) set(t *testing.T, key string, value any, fields ...string) {
	t.Helper()
	if o[key] == nil {
		t.Fatalf("the objects have no %s", key)
	}
	if value == nil {
		unstructured.RemoveNestedField(o[key], fields...)
		return
	}
	must(t, unstructured.SetNestedField(o[key], value, fields...))
}

// setInContainer sets a field of the manager's container.
func (o objects) setInContainer(t *testing.T, value any, field string) {
	t.Helper()
	container := o.container(t)
	delete(container, field)
	if value != nil {
		container[field] = value
	}
}

// deletePort removes one of the container's ports.
func (o objects) deletePort(t *testing.T, name string) {
	t.Helper()
	o.filter(t, "ports", func(port any) bool { return port.(map[string]any)["name"] == name })
}

// deleteArgs removes some of the container's arguments.
func (o objects) deleteArgs(t *testing.T, args ...string) {
	t.Helper()
	for _, arg := range args {
		o.filter(t, "args", func(there any) bool { return there == arg })
	}
}

func (o objects) insertArg(t *testing.T, at int, arg string) {
	t.Helper()
	container := o.container(t)
	container["args"] = slices.Insert(container["args"].([]any), at, any(arg))
}

// filter removes one entry from a list in the container.
func (o objects) filter(t *testing.T, list string, isMeant func(any) bool) {
	t.Helper()
	container := o.container(t)
	entries := container[list].([]any)
	left := slices.DeleteFunc(slices.Clone(entries), isMeant)
	if len(left) != len(entries)-1 {
		t.Errorf("%d entries of %s match, want one: %v", len(entries)-len(left), list, entries)
	}
	container[list] = left
}

// container returns the manager's container.
func (o objects) container(t *testing.T) map[string]any {
	t.Helper()
	containers, _, err := unstructured.NestedFieldNoCopy(o[managerDeployment], "spec", "template", "spec", "containers")
	must(t, err)
	return containers.([]any)[0].(map[string]any)
}

// read returns the content of one of the project's files.
func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(projectDir(t), filepath.FromSlash(file)))
	must(t, err)
	return string(text)
}
