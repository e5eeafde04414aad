// A Reflector on a real API server. It does the same as in the other tests, where the server is a
// script.

package wire

import (
	"context"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/tools/clientcmd"

	samplecontrollerv1alpha1 "example.com/operators/01-raw-watch/pkg/apis/samplecontroller/v1alpha1"
)

// configMaps has the ConfigMaps of a namespace on a real server. Each test has its own namespace.
type configMaps struct {
	*Client
	t         *testing.T
	namespace string
}

func newConfigMaps(t *testing.T) *configMaps {
	kubeconfig := os.Getenv("TEST_KUBECONFIG")
	if kubeconfig == "" {
		t.Skip("set TEST_KUBECONFIG, for example to $(./scripts/workshop kubeconfig)")
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	client, err := NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { utilnet.CloseIdleConnectionsFor(client.http.Transport) })
	namespace := corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "reflector-"}}
	if err := client.Do(t.Context(), http.MethodPost, "/api/v1/namespaces", nil, namespace, &namespace); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Do(context.Background(), http.MethodDelete, "/api/v1/namespaces/"+namespace.Name, nil, nil, nil); err != nil {
			t.Error(err)
		}
	})
	return &configMaps{client, t, namespace.Name}
}

func (c *configMaps) path() string { return "/api/v1/namespaces/" + c.namespace + "/configmaps" }

// create creates a ConfigMap and returns it as a watch would report it.
func (c *configMaps) create(name string) metav1.PartialObjectMetadata {
	c.t.Helper()
	object := corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
	var created metav1.PartialObjectMetadata
	if err := c.Do(c.t.Context(), http.MethodPost, c.path(), nil, object, &created); err != nil {
		c.t.Fatal(err)
	}
	return created
}

func (c *configMaps) annotate(name string) {
	c.t.Helper()
	object := corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"team": "blue"}}}
	if err := c.Do(c.t.Context(), http.MethodPut, c.path()+"/"+name, nil, object, nil); err != nil {
		c.t.Fatal(err)
	}
}

func (c *configMaps) delete(name string) {
	c.t.Helper()
	if err := c.Do(c.t.Context(), http.MethodDelete, c.path()+"/"+name, nil, nil, nil); err != nil {
		c.t.Fatal(err)
	}
}

// run runs the reflector. next returns the next events, in order. stop stops the reflector and
// waits for its end.
func (c *configMaps) run(reflector *Reflector) (next func(count int) []string, stop func()) {
	ctx, cancel := context.WithTimeout(c.t.Context(), 30*time.Second)
	events, ended := make(chan Event), make(chan struct{})
	go func() {
		defer close(ended)
		reflector.Run(ctx, events)
	}()
	next = func(count int) (reported []string) {
		c.t.Helper()
		for len(reported) < count {
			select {
			case event := <-events:
				// Every namespace has a ConfigMap of Kubernetes' own.
				if event.Object.Name != "kube-root-ca.crt" {
					reported = append(reported, string(event.Type)+" "+event.Object.Name)
				}
			case <-ended:
				c.t.Fatalf("got the events %q in 30 s, want %d", reported, count)
			}
		}
		return reported
	}
	return next, func() {
		cancel()
		<-ended
	}
}

func TestIntegrationListInPagesThenWatchAndResume(t *testing.T) {
	configMaps := newConfigMaps(t)
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		configMaps.create(name)
	}
	var printed strings.Builder
	traced := *configMaps.Client
	traced.trace = &trace{to: &printed}
	reflector := NewReflector(&traced, configMaps.path())
	reflector.PageSize = 2

	next, stop := configMaps.run(reflector)
	listed := next(5)
	slices.Sort(listed)
	if diff := cmp.Diff([]string{"ADDED a", "ADDED b", "ADDED c", "ADDED d", "ADDED e"}, listed); diff != "" {
		t.Errorf("events of the list (-want +got):\n%s", diff)
	}
	configMaps.create("f")
	if diff := cmp.Diff([]string{"ADDED f"}, next(1)); diff != "" {
		t.Errorf("events of the watch (-want +got):\n%s", diff)
	}
	stop()
	if pages := strings.Count(printed.String(), "limit=2"); pages < 3 {
		t.Errorf("five objects, two to a page, arrived in %d pages, want at least 3:\n%s", pages, &printed)
	}

	// Objects change while no watch is open. The next watch reports these changes, so no list is
	// needed.
	configMaps.create("g")
	configMaps.annotate("a")
	configMaps.delete("b")
	printed.Reset()
	next, stop = configMaps.run(reflector)
	if diff := cmp.Diff([]string{"ADDED g", "MODIFIED a", "DELETED b"}, next(3)); diff != "" {
		t.Errorf("events after a pause (-want +got):\n%s", diff)
	}
	stop()
	if strings.Contains(printed.String(), "limit=") {
		t.Errorf("the Reflector listed again, want only a watch:\n%s", &printed)
	}
}

// A server's history of a resource begins when the resource is added, or later. The history of
// ConfigMaps may go back to the start of the cluster, but that of Foos begins with their CRD, so no
// server has it from version 1 on.
func TestIntegrationHistoryIsGone(t *testing.T) {
	configMaps := newConfigMaps(t)
	path := "/apis/" + samplecontrollerv1alpha1.GroupVersion.String() + "/namespaces/" + configMaps.namespace + "/foos"
	create := func(name string) (created metav1.PartialObjectMetadata) {
		foo := samplecontrollerv1alpha1.Foo{
			TypeMeta:   metav1.TypeMeta{APIVersion: samplecontrollerv1alpha1.GroupVersion.String(), Kind: "Foo"},
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       samplecontrollerv1alpha1.FooSpec{DeploymentName: name},
		}
		if err := configMaps.Do(t.Context(), http.MethodPost, path, nil, foo, &created); err != nil {
			t.Fatalf("create a Foo: %v (is manifests/crd.yaml applied?)", err)
		}
		return created
	}
	unchanged := create("unchanged")
	create("new")
	deleted := unchanged
	deleted.Name, deleted.UID = "deleted", "uid of the deleted Foo"

	reflector := NewReflector(configMaps.Client, path)
	reflector.resourceVersion = "1"
	reflector.known[keyOf(&unchanged)] = unchanged
	reflector.known[keyOf(&deleted)] = deleted

	next, stop := configMaps.run(reflector)
	defer stop()
	if diff := cmp.Diff([]string{"DELETED deleted", "ADDED new"}, next(2)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
