package faultproxy

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
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

// The group disappears from both forms of discovery, and comes back.
func TestHideInDiscovery(t *testing.T) {
	const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	for form, answer := range map[string]string{
		aggregated: `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[
			{"metadata":{"name":"apps"},"versions":[{"version":"v1"}]},{"metadata":{"name":"samplecontroller.k8s.io"},"versions":[{"version":"v1alpha1"}]}]}`,
		"application/json": `{"kind":"APIGroupList","apiVersion":"v1","groups":[
			{"name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"}]},
			{"name":"samplecontroller.k8s.io","versions":[{"groupVersion":"samplecontroller.k8s.io/v1alpha1","version":"v1alpha1"}]}]}`,
	} {
		t.Run(form, func(t *testing.T) {
			_, config := testkit.StartServer(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/apis" {
					http.NotFound(w, r)
					return
				}
				w.Header().Set("Content-Type", form)
				io.WriteString(w, answer)
			})
			proxy := startProxy(t, config)
			target := *config
			target.Host, target.TLSClientConfig.CAData = proxy.Address(), proxy.CAData()
			client, err := discovery.NewDiscoveryClientForConfig(&target)
			if err != nil {
				t.Fatal(err)
			}
			groups := func() (names []string) {
				list, err := client.ServerGroups()
				if err != nil {
					t.Fatal(err)
				}
				for _, group := range list.Groups {
					if group.Name != "" {
						names = append(names, group.Name)
					}
				}
				slices.Sort(names)
				return names
			}
			fault := proxy.Hide("samplecontroller.k8s.io")
			if diff := cmp.Diff([]string{"apps"}, groups()); diff != "" {
				t.Errorf("groups (-want +got):\n%s", diff)
			}
			waitFor(t, fault, 1)
			fault.Stop()
			if diff := cmp.Diff([]string{"apps", "samplecontroller.k8s.io"}, groups()); diff != "" {
				t.Errorf("groups afterwards (-want +got):\n%s", diff)
			}
		})
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
	response, err := httpClient(t, &rest.Config{Host: proxy.Address(), TLSClientConfig: rest.TLSClientConfig{CAData: proxy.CAData()}}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); string(body) != "asked for []" || err != nil {
		t.Errorf("the server was %s (%v)", body, err)
	}
}
