// Metrics and probes, served for real. A test asks at a loopback address, wherever the server listens.

package main

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// What leaves this machine is encrypted, and for those who may read it. In doubt, too.
func TestMetricsOptions(t *testing.T) {
	for address, wantSecure := range map[string]bool{
		"0": false, // nowhere

		"127.0.0.1:0":    false,
		"127.0.0.2:8080": false,
		"[::1]:0":        false,

		":8443":              true,
		"0.0.0.0:8443":       true,
		"[::]:8443":          true,
		"10.0.0.1:8443":      true,
		"localhost:8080":     true, // a name, which may lead anywhere
		"[fe80::1%eth0]:443": true,
		"":                   true, // controller-runtime takes it for :8080
		"8080":               true,
		"127.0.0.1":          true,
	} {
		t.Run(address, func(t *testing.T) {
			got := metricsOptions(address)
			if got.BindAddress != address || got.SecureServing != wantSecure || (got.FilterProvider != nil) != wantSecure {
				t.Errorf("served at %q, by HTTPS: %v, with a filter: %v; want at %q, and both: %v",
					got.BindAddress, got.SecureServing, got.FilterProvider != nil, address, wantSecure)
			}
		})
	}
}

func TestMetricsOnLoopbackAreForAll(t *testing.T) {
	address := serveMetrics(t, "127.0.0.1:0", &rest.Config{})

	code, body := get(t, "http://"+address+"/metrics", "")

	if code != http.StatusOK || !strings.Contains(body, "go_goroutines ") {
		t.Errorf("the answer is %d:\n%s", code, body)
	}
}

// To others they are served by HTTPS, and the API server is asked who they are and whether they may. The controller's own permissions are
// enough to ask.
func TestMetricsForOthersAreForThoseWhoMay(t *testing.T) {
	c := newBareCluster(t).asTheController()
	stranger, reader := c.newAccount(), c.newAccount()
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: c.namespace},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "foo-controller-metrics"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: reader.Namespace, Name: reader.Name}},
	}
	must(t, c.users.Create(t.Context(), binding))
	address := serveMetrics(t, ":0", c.config)

	for sentence, test := range map[string]struct {
		path, token string
		want        int
	}{
		"without a token":          {"/metrics", "", http.StatusUnauthorized},
		"an account that may not":  {"/metrics", c.tokenOf(stranger), http.StatusForbidden},
		"one that may":             {"/metrics", c.tokenOf(reader), http.StatusOK},
		"and nothing else is here": {"/debug/pprof/", c.tokenOf(reader), http.StatusNotFound},
	} {
		code, body := get(t, "https://"+address+test.path, test.token)
		if code != test.want || strings.Contains(body, "go_goroutines ") != (test.want == http.StatusOK) {
			t.Errorf("%s: the answer is %d, want %d:\n%s", sentence, code, test.want, body)
		}
	}
}

// What the manager serves while it runs.
func TestProbesAndMetricsOfTheManager(t *testing.T) {
	c := newBareCluster(t)
	probes, metrics := freeAddress(t), freeAddress(t)
	c.start(func(o *options) { o.probeAddress, o.metricsAddress = probes, metrics })
	c.create(example)
	c.eventually("the Foo is worked on", c.says("Progressing"))

	for url, want := range map[string]string{
		"http://" + probes + "/healthz":      "ok",
		"http://" + probes + "/readyz":       "ok",
		"http://" + probes + "/healthz/ping": "ok",
		"http://" + metrics + "/metrics":     `controller_runtime_reconcile_total{controller="foo",result="success"}`,
	} {
		if code, body := get(t, url, ""); code != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s answers %d, want 200 and %q:\n%s", url, code, want, body)
		}
	}
}

// serveMetrics serves them at address until the test ends, and returns how to get there on this machine.
func serveMetrics(t *testing.T, address string, config *rest.Config) string {
	t.Helper()
	httpClient, err := rest.HTTPClientFor(config)
	must(t, err)
	server, err := metricsserver.NewServer(metricsOptions(address), config, httpClient)
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- server.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		must(t, <-ended)
	})
	var port string
	err = wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		_, port, err = net.SplitHostPort(server.(interface{ GetBindAddr() string }).GetBindAddr())
		return err == nil, nil
	})
	must(t, err)
	return net.JoinHostPort("127.0.0.1", port)
}

// get asks for url, with a token if there is one, and returns what is answered.
func get(t *testing.T, url, token string) (code int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	must(t, err)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	client := http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, // the server has made its certificate for itself
		ForceAttemptHTTP2: true,
		DisableKeepAlives: true,
	}}
	response, err := client.Do(request)
	must(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must(t, err)
	return response.StatusCode, string(text)
}

// freeAddress returns a loopback address that nobody listens at.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	return listener.Addr().String()
}
