// The requests that the client sends, and how it decodes the responses.

package client

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	samplecontrollerv1alpha1 "example.com/operators/02-informers/pkg/apis/samplecontroller/v1alpha1"
)

func TestRequests(t *testing.T) {
	stored := samplecontrollerv1alpha1.Foo{
		TypeMeta:   metav1.TypeMeta{APIVersion: "samplecontroller.k8s.io/v1alpha1", Kind: "Foo"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "example", ResourceVersion: "7"},
		Spec:       samplecontrollerv1alpha1.FooSpec{DeploymentName: "web", Replicas: new(int32(3))},
	}
	decoded := stored
	decoded.TypeMeta = metav1.TypeMeta{} // as in a cache, because its Go type stands in for it
	var requests []string
	var sent samplecontrollerv1alpha1.Foo
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests = append(requests, r.Method+" "+r.URL.String())
		w.Header().Set("Content-Type", "application/json")
		var response any = samplecontrollerv1alpha1.FooList{Items: []samplecontrollerv1alpha1.Foo{stored}}
		switch {
		case r.URL.Query().Has("watch"):
			response = map[string]any{"type": "ADDED", "object": stored}
		case r.Method == http.MethodPut:
			json.NewDecoder(r.Body).Decode(&sent)
			response = stored
		}
		json.NewEncoder(w).Encode(response)
	}))
	t.Cleanup(server.Close)
	c, err := NewForConfig(&rest.Config{Host: server.URL})
	must(t, err)

	list, err := c.Foos("").List(t.Context(), metav1.ListOptions{Limit: 500})
	must(t, err)
	stream, err := c.Foos("default").Watch(t.Context(), metav1.ListOptions{ResourceVersion: "7"})
	must(t, err)
	event := <-stream.ResultChan()
	stream.Stop()
	updated, err := c.Foos("default").UpdateStatus(t.Context(), &decoded, metav1.UpdateOptions{})
	must(t, err)

	want := []string{
		"GET /apis/samplecontroller.k8s.io/v1alpha1/foos?limit=500",
		"GET /apis/samplecontroller.k8s.io/v1alpha1/namespaces/default/foos?resourceVersion=7&watch=true",
		"PUT /apis/samplecontroller.k8s.io/v1alpha1/namespaces/default/foos/example/status",
	}
	if diff := cmp.Diff(want, requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]any{&stored, &decoded, &decoded}, []any{&list.Items[0], event.Object, updated}); diff != "" {
		t.Errorf("objects in the responses (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(stored, sent); diff != "" { // with apiVersion and kind, which the server needs
		t.Errorf("object in the request (-want +got):\n%s", diff)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
