// A real cluster for tests: a new namespace, and a controller for it. Somebody else can act just
// before one of the controller's requests, or in place of the server.

package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	samplecontrollerv1alpha1 "example.com/operators/01-raw-watch/pkg/apis/samplecontroller/v1alpha1"
	"example.com/operators/01-raw-watch/wire"
)

// realCluster is a controller for one namespace of a real server. start runs it.
type realCluster struct {
	*controller
	users     *wire.Client // sends everybody else's requests
	t         *testing.T
	namespace string
	before    map[string]func() *http.Response // by request
}

func newRealCluster(t *testing.T) *realCluster {
	kubeconfig := os.Getenv("TEST_KUBECONFIG")
	if kubeconfig == "" {
		t.Skip("set TEST_KUBECONFIG to the path of the kubeconfig of a disposable cluster")
	}
	config, err := loadConfig(kubeconfig)
	must(t, err)
	transport, err := rest.TransportFor(config) // the clients will use the same one
	must(t, err)
	t.Cleanup(func() { utilnet.CloseIdleConnectionsFor(transport) })
	users, err := wire.NewClient(config)
	must(t, err)
	if err := users.Do(t.Context(), http.MethodGet, foosPath(""), nil, nil, nil); apierrors.IsNotFound(err) {
		t.Fatal("the cluster has no Foos: kubectl apply -f manifests/crd.yaml")
	}
	namespace := corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "raw-watch-"}}
	must(t, users.Do(t.Context(), http.MethodPost, "/api/v1/namespaces", nil, namespace, &namespace))
	t.Cleanup(func() {
		if err := users.Do(context.Background(), http.MethodDelete, "/api/v1/namespaces/"+namespace.Name, nil, nil, nil); err != nil {
			t.Error(err)
		}
	})
	c := &realCluster{users: users, t: t, namespace: namespace.Name, before: map[string]func() *http.Response{}}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return interceptor{c, next} })
	client, err := wire.NewClient(config)
	must(t, err)
	c.controller = newController(client, namespace.Name)
	return c
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

// beforeNext calls do before the controller's next such request, for example "PUT deployments/web".
// If do returns a response, the server never gets the request.
func (c *realCluster) beforeNext(request string, do func() *http.Response) { c.before[request] = do }

// interceptor is the transport of the controller's requests.
type interceptor struct {
	*realCluster
	next http.RoundTripper
}

func (i interceptor) RoundTrip(r *http.Request) (*http.Response, error) {
	_, target, _ := strings.Cut(r.URL.Path, "/namespaces/"+i.namespace+"/")
	request := r.Method + " " + target
	if do := i.before[request]; do != nil {
		delete(i.before, request)
		if response := do(); response != nil {
			return response, nil
		}
	}
	return i.next.RoundTrip(r)
}

// answer returns a response with that status code.
func answer(code int) *http.Response {
	recorder := httptest.NewRecorder()
	http.Error(recorder, "no", code)
	return recorder.Result()
}

// create creates a Foo or a Deployment, and updates object to what the server has stored.
func (c *realCluster) create(object metav1.Object) {
	c.t.Helper()
	object.SetNamespace(c.namespace)
	collection := deploymentsPath(c.namespace)
	if _, isFoo := object.(*samplecontrollerv1alpha1.Foo); isFoo {
		collection = foosPath(c.namespace)
	}
	must(c.t, c.users.Do(c.t.Context(), http.MethodPost, collection, nil, object, object))
}

// edit changes an object as kubectl edit does. The Deployment controller writes Deployments, too, so
// this may take a few attempts.
func edit[T any](c *realCluster, path string, change func(*T)) {
	c.t.Helper()
	c.eventually("an edit of "+path+" succeeds", func(ctx context.Context) bool {
		object := new(T)
		must(c.t, c.users.Do(ctx, http.MethodGet, path, nil, nil, object))
		change(object)
		return c.users.Do(ctx, http.MethodPut, path, nil, object, nil) == nil
	})
}

// deployments describes all Deployments, for example as "web: 3 × nginx:latest (team blue)".
func (c *realCluster) deployments() (found []string) {
	c.t.Helper()
	var list appsv1.DeploymentList
	must(c.t, c.users.Do(c.t.Context(), http.MethodGet, deploymentsPath(c.namespace), nil, nil, &list))
	for _, d := range list.Items {
		text := fmt.Sprintf("%s: %d × %s", d.Name, *d.Spec.Replicas, d.Spec.Template.Spec.Containers[0].Image)
		if team, annotated := d.Annotations["team"]; annotated {
			text += " (team " + team + ")"
		}
		found = append(found, text)
	}
	return found // in alphabetical order, as in etcd
}

// ready returns the reason of the condition Ready of the Foo named example, or "" if it has none.
func (c *realCluster) ready() string {
	c.t.Helper()
	foo, err := c.getFoo(c.t.Context(), types.NamespacedName{Namespace: c.namespace, Name: "example"})
	must(c.t, err)
	if condition := meta.FindStatusCondition(foo.Status.Conditions, "Ready"); condition != nil {
		return condition.Reason
	}
	return ""
}

// eventually waits until a condition holds, and fails the test if that takes too long.
func (c *realCluster) eventually(condition string, holds func(ctx context.Context) bool) {
	c.t.Helper()
	err := wait.PollUntilContextTimeout(c.t.Context(), 100*time.Millisecond, time.Minute, true,
		func(ctx context.Context) (bool, error) { return holds(ctx), nil })
	if err != nil {
		c.t.Fatalf("still not true after a minute: %s. The Deployments are %q", condition, c.deployments())
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
