// The controller's own account, which has only the permissions in manifests/rbac.yaml.

package main

import (
	"errors"
	"io"
	"os"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// asController makes the manager, which isn't created yet, use the controller's account. It has
// only the permissions in manifests/rbac.yaml.
func (c *realCluster) asController() *realCluster {
	c.t.Helper()
	for _, object := range objectsIn(c.t, "manifests/rbac.yaml") {
		if err := c.users.Create(c.t.Context(), object); err != nil && !apierrors.IsAlreadyExists(err) {
			c.t.Fatal(err)
		}
	}
	c.config = c.configOf(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "foo-system", Name: "foo-controller"}})
	return c
}

// configOf returns the config of a client that is authenticated as account.
func (c *realCluster) configOf(account *corev1.ServiceAccount) *rest.Config {
	c.t.Helper()
	config := rest.AnonymousClientConfig(c.config)
	config.QPS = -1
	config.BearerToken = c.tokenOf(account)
	closeConnections(c.t, config)
	return config
}

// tokenOf returns a token for account.
func (c *realCluster) tokenOf(account *corev1.ServiceAccount) string {
	c.t.Helper()
	token := &authenticationv1.TokenRequest{}
	must(c.t, c.users.SubResource("token").Create(c.t.Context(), account, token))
	return token.Status.Token
}

// objectsIn returns the objects in a file of manifests.
func objectsIn(t *testing.T, path string) (objects []client.Object) {
	t.Helper()
	file, err := os.Open(path)
	must(t, err)
	defer file.Close()
	documents := yaml.NewYAMLOrJSONDecoder(file, 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := documents.Decode(object); errors.Is(err, io.EOF) {
			return objects
		} else if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		objects = append(objects, object)
	}
}
