package faultproxy

// The client's side in tests: how it gets to the proxy, and what it asks there.

import (
	"bufio"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// token is a ServiceAccount's, as far as anyone looks: its payload is
// {"sub":"system:serviceaccount:a:foo-controller"}.
const token = "e30.eyJzdWIiOiJzeXN0ZW06c2VydmljZWFjY291bnQ6YTpmb28tY29udHJvbGxlciJ9.c2ln"

const foosPath = "/apis/samplecontroller.k8s.io/v1alpha1/namespaces/a/foos"

// setup starts an API server, a proxy before it, and returns how a client with a ServiceAccount's
// token gets there.
func setup(t *testing.T) (*apiServer, *Proxy, *rest.Config) {
	t.Helper()
	api := newAPIServer(t)
	proxy := startProxy(t, api.config)
	original := filepath.Join(t.TempDir(), "original")
	if err := clientcmd.WriteToFile(kubeconfig(api.URL), original); err != nil {
		t.Fatal(err)
	}
	return api, proxy, through(t, proxy, original)
}

func startProxy(t *testing.T, target *rest.Config) *Proxy {
	t.Helper()
	proxy, err := Start(target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	return proxy
}

// through returns what the original kubeconfig becomes when its owner is sent through the proxy.
func through(t *testing.T, proxy *Proxy, original string) *rest.Config {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := proxy.WriteKubeconfig(original, path); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	return config
}

func kubeconfig(server string) clientcmdapi.Config {
	config := clientcmdapi.NewConfig()
	config.Clusters["cluster"] = &clientcmdapi.Cluster{Server: server}
	config.AuthInfos["program"] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts["program"] = &clientcmdapi.Context{Cluster: "cluster", AuthInfo: "program"}
	config.CurrentContext = "program"
	return *config
}

// httpClient returns a client as client-go makes it.
func httpClient(t *testing.T, config *rest.Config) *http.Client {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// clientWatch is the client's end of a watch.
type clientWatch struct {
	io.Closer
	lines chan string
	end   chan error // nil when the server has ended the watch
}

// openWatch opens a watch of the Foos from resourceVersion 10; query may say otherwise.
func openWatch(t *testing.T, client *http.Client, proxy *Proxy, query ...string) *clientWatch {
	t.Helper()
	query = append(query, "watch=true", "resourceVersion=10")
	answer, err := client.Get(proxy.Address() + foosPath + "?" + strings.Join(query, "&"))
	if err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("watch: %s", answer.Status)
	}
	watch := &clientWatch{answer.Body, make(chan string, 1000), make(chan error, 1)}
	t.Cleanup(func() { answer.Body.Close() })
	go func() {
		lines := bufio.NewScanner(answer.Body)
		for lines.Scan() {
			watch.lines <- lines.Text()
		}
		watch.end <- lines.Err()
	}()
	return watch
}

// send sends a request such as "GET /version" and expects that all goes well.
func send(t *testing.T, client *http.Client, proxy *Proxy, request string) {
	t.Helper()
	if code := try(t, client, proxy, request); code != http.StatusOK {
		t.Fatalf("%s: answered %d", request, code)
	}
}

// try sends a request and returns the status code; 0 if there was no answer.
func try(t *testing.T, client *http.Client, proxy *Proxy, request string) int {
	t.Helper()
	method, path, _ := strings.Cut(request, " ")
	var body io.Reader
	if method != http.MethodGet {
		body = strings.NewReader("{}")
	}
	asked, err := http.NewRequestWithContext(t.Context(), method, proxy.Address()+path, body)
	if err != nil {
		t.Error(err)
		return 0
	}
	answer, err := client.Do(asked)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	io.Copy(io.Discard, answer.Body)
	return answer.StatusCode
}
