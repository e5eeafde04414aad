package faultproxy

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"example.com/operators/scripts/internal/testkit"
)

func TestHide(t *testing.T) {
	_, proxy, config := setup(t)
	client := foos(t, config)
	fault := proxy.Hide("samplecontroller.k8s.io")
	if _, err := client.List(t.Context(), metav1.ListOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a list: got %v, want NotFound", err)
	}
	waitFor(t, fault, 1)
	fault.Stop()
	if _, err := client.List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("a list afterwards: %v", err)
	}
}

func TestHideInDiscovery(t *testing.T) {
	_, config := testkit.StartServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/apis" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
		io.WriteString(w, `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[
			{"metadata":{"name":"apps"},"versions":[{"version":"v1"}]},
			{"metadata":{"name":"samplecontroller.k8s.io"},"versions":[{"version":"v1alpha1"}]}]}`)
	})
	proxy := startProxy(t, config)
	proxy.Hide("samplecontroller.k8s.io")
	client, err := discovery.NewDiscoveryClientForConfig(&rest.Config{
		Host: proxy.Address(), TLSClientConfig: rest.TLSClientConfig{CAData: proxy.ca},
	})
	if err != nil {
		t.Fatal(err)
	}
	list, err := client.ServerGroups()
	if err != nil || len(list.Groups) != 1 || list.Groups[0].Name != "apps" {
		t.Errorf("got %v, %v, want only the group apps", list, err)
	}
}

// A client that accepts compressed answers gets plain ones, because the proxy couldn't tell the events
// of a compressed watch apart.
func TestTheServerIsNotAskedToCompress(t *testing.T) {
	_, config := testkit.StartServer(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "asked for %q", r.Header.Values("Accept-Encoding"))
	})
	proxy := startProxy(t, config)
	request, err := http.NewRequest(http.MethodGet, proxy.Address()+"/version", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept-Encoding", "gzip")
	client := httpClient(t, &rest.Config{
		Host: proxy.Address(), TLSClientConfig: rest.TLSClientConfig{CAData: proxy.ca},
	})
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); string(body) != "asked for []" || err != nil {
		t.Errorf("the server was %s (%v)", body, err)
	}
}
