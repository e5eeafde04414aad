package judge

// The operator's webhooks: the API server calls them for objects in the scenario's namespace, at a
// port of the newest replica.

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/operators/scripts/internal/operator"
)

// An operator that isn't told otherwise serves its webhooks at usualPort, and finds their certificate
// in usualFolder below $TMPDIR. These are controller-runtime's defaults.
const usualPort, usualFolder = "9443", "k8s-webhook-server/serving-certs"

// makeCertificate writes the webhooks' certificate to a folder in dir.
func (j *judge) makeCertificate(dir string) (err error) {
	dir = filepath.Join(dir, usualFolder)
	if err = os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	j.webhooks, err = operator.NewLocalWebhooks(dir)
	return err
}

// portFor returns the port for the webhooks of the next replica, usually free. If the operator also
// converts, each check uses the same port: a change of the CRD would end all watches of its objects.
func (s *scenario) portFor(free string) string {
	switch {
	case !s.isTold("{webhooks}"):
		return usualPort
	case len(s.crds) > 0 && s.installedAt == "":
		return s.webhooks.Port()
	}
	return free
}

// install makes the API server call the webhooks of a replica, which needn't serve them yet: see
// patient. It also converts between the versions of the CRDs.
func (s *scenario) install(port string) {
	s.cleanup(func() { s.uninstall(s.installedAt) })
	at := s.webhooks.OnPort(port)
	for _, crd := range s.crds {
		at.Convert(crd)
		s.must(s.applyObject(s.ctx, crd))
	}
	namespace := s.namespace
	if s.isClusterScoped {
		namespace = metav1.NamespaceAll
	}
	var err error
	s.installed, err = at.Configurations(namespace, s.config.Webhooks...)
	s.must(err)
	s.installedAt = port
	for _, configuration := range s.installed {
		configuration.SetName(s.namespace + "-" + configuration.GetName())
		configuration.SetLabels(judgesLabels)
		marker := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
		marker.SetName(configuration.GetName())
		s.must(mark(configuration, marker))
		s.must(s.applyObject(s.ctx, configuration))
		s.must(s.soon(func() error {
			if _, err := s.wouldBe(marker); apierrors.IsForbidden(err) {
				return nil
			}
			return errors.New("the API server doesn't call the operator's webhooks yet")
		}))
	}
}

// mark adds a webhook to a configuration that forbids one object. So it shows when the configuration
// has an effect. Nobody serves it: for that object, the condition can't be evaluated.
func mark(configuration, forbidden *unstructured.Unstructured) error {
	webhooks, _, err := unstructured.NestedSlice(configuration.Object, "webhooks")
	if err != nil || len(webhooks) == 0 {
		return err
	}
	first := webhooks[0].(map[string]any)
	return unstructured.SetNestedSlice(configuration.Object, append(webhooks, map[string]any{
		"name":         "installed.judge.example.com",
		"clientConfig": first["clientConfig"], "namespaceSelector": first["namespaceSelector"],
		"admissionReviewVersions": []any{"v1"}, "sideEffects": "None", "failurePolicy": "Fail",
		"rules": []any{map[string]any{
			"apiGroups": []any{""}, "apiVersions": []any{"v1"}, "operations": []any{"CREATE"}, "resources": []any{"configmaps"},
		}},
		"matchConditions": []any{map[string]any{
			"name": "marker", "expression": "object.metadata.name == '" + forbidden.GetName() + "' && object.none == ''",
		}},
	}), "webhooks")
}

// uninstall deletes the configurations, because the replica that serves at this port is being stopped.
func (s *scenario) uninstall(port string) {
	if s.installedAt != port {
		return
	}
	ctx := context.WithoutCancel(s.ctx)
	for _, configuration := range s.installed {
		s.must(operator.IgnoreNotFound(s.api(configuration).Delete(ctx, configuration.GetName(), metav1.DeleteOptions{})))
	}
	s.installed, s.installedAt = nil, ""
}

// patient is a transport that makes client-go retry a request for some seconds if a webhook doesn't
// answer: the operator has just been started or killed.
type patient struct{ http.RoundTripper }

func (p patient) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := p.RoundTripper.RoundTrip(request)
	if err != nil || response.StatusCode != http.StatusInternalServerError {
		return response, err
	}
	body, err := io.ReadAll(response.Body)
	response.Body = io.NopCloser(bytes.NewReader(body))
	if bytes.Contains(body, []byte("failed calling webhook")) || bytes.Contains(body, []byte("conversion webhook")) {
		response.Header.Set("Retry-After", "1")
	}
	return response, err
}
