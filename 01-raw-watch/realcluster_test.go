// A real cluster for tests: a new namespace, and a controller for it. cluster_test.go has a cluster
// in memory.

package main

import (
	"context"
	"net/http"
	"os"
	"path"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"example.com/operators/01-raw-watch/wire"
)

// realCluster is a controller for one namespace of a real server. start runs it.
type realCluster struct {
	*controller
	t         *testing.T
	namespace string
}

func newRealCluster(t *testing.T) *realCluster {
	kubeconfig := os.Getenv("TEST_KUBECONFIG")
	if kubeconfig == "" {
		t.Skip("set TEST_KUBECONFIG, for example to $(./scripts/workshop kubeconfig)")
	}
	config, err := loadConfig(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(config) // the client will use the same one
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { utilnet.CloseIdleConnectionsFor(transport) })
	client, err := wire.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Do(t.Context(), http.MethodGet, foosPath(""), nil, nil, nil); apierrors.IsNotFound(err) {
		t.Fatal("the cluster has no Foos: kubectl apply -f manifests/crd.yaml")
	} else if err != nil {
		t.Fatal(err)
	}
	namespace := corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "raw-watch-"}}
	if err := client.Do(t.Context(), http.MethodPost, "/api/v1/namespaces", nil, namespace, &namespace); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Do(context.Background(), http.MethodDelete, "/api/v1/namespaces/"+namespace.Name, nil, nil, nil); err != nil {
			t.Error(err)
		}
	})
	return &realCluster{newController(client, namespace.Name), t, namespace.Name}
}

// start runs the controller until the test ends.
func (c *realCluster) start() {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.run(ctx)
	}()
	c.t.Cleanup(func() {
		cancel()
		<-ended
	})
}

// send sends an object, given as YAML.
func (c *realCluster) send(method, to, text string) error {
	c.t.Helper()
	var object map[string]any
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		c.t.Fatal(err)
	}
	return c.client.Do(c.t.Context(), method, to, nil, object, nil)
}

// scale does what kubectl scale does.
func (c *realCluster) scale(object, replicas string) {
	c.t.Helper()
	metadata := "{namespace: " + c.namespace + ", name: " + path.Base(object) + "}"
	text := "{apiVersion: autoscaling/v1, kind: Scale, metadata: " + metadata + ", spec: {replicas: " + replicas + "}}"
	if err := c.send(http.MethodPut, object+"/scale", text); err != nil {
		c.t.Fatal(err)
	}
}

// eventually waits until a condition holds, and fails the test if that takes too long.
func (c *realCluster) eventually(condition string, holds func(ctx context.Context) bool) {
	c.t.Helper()
	err := wait.PollUntilContextTimeout(c.t.Context(), 100*time.Millisecond, time.Minute, true,
		func(ctx context.Context) (bool, error) { return holds(ctx), nil })
	if err != nil {
		c.t.Fatalf("still not true after a minute: %s", condition)
	}
}

// errorOf returns the error of a function that returns something else, too.
func errorOf[T any](_ T, err error) error { return err }
