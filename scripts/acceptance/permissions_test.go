package acceptance

// A program has exactly the permissions that it needs. Each one in its manifests is used in a Foo's
// or TDSet's life. A missing permission fails every other test.

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/contract"
	"example.com/operators/scripts/internal/operator"
)

const leastPrivilege = "permissions: none is missing, and none is unnecessary"

func TestPermissions(t *testing.T) {
	sideBySide(t, chapters.Foo, leastPrivilege, nil,
		func(_ *testing.T, s *scenario) { usesItsPermissions(s, s.lifecycle) })
}

// usesItsPermissions compares a program's permissions with those that it uses in a lifecycle that
// covers all its work.
func usesItsPermissions(s *scenario, lifecycle func()) {
	// The solutions of exercise TDSet elect like their chapter's program.
	if contract.Of(chapters.Foo).WhyNotHeld(s.chapter, "F7") == "" {
		s.flags = []string{"--leader-elect", "--leader-election-namespace", s.account}
	}
	s.takeName("taken")
	metrics := s.secureMetrics()
	lifecycle()
	if metrics != "" {
		s.guardsMetrics(metrics)
	}
	s.operator.Stop() // sends the recorded Events
	usage := operator.Compare(s.program.Rules, s.requests(), nil)
	for right, requests := range usage.Missing {
		s.Errorf("missing permission: %s: %v", right, requests)
	}
	for _, right := range append(usage.Unused, usage.Wildcards...) {
		s.Errorf("the program may %s, but never does", right)
	}
	s.Logf("%d permissions, %d of them used", len(usage.Granted), len(usage.Used))
}

// secureMetrics makes a kubebuilder project serve metrics by HTTPS, and returns where, or "" if the
// program has no such flag.
func (s *scenario) secureMetrics() (url string) {
	s.Helper()
	if !s.chapter.IsProject() || !s.isFull() {
		return ""
	}
	listener, err := net.Listen("tcp", "localhost:0")
	s.must(err)
	defer listener.Close()
	address := fmt.Sprintf("localhost:%d", listener.Addr().(*net.TCPAddr).Port) // a name may be that of any address
	s.flags = append(s.flags, "--metrics-bind-address", address)
	return "https://" + address + "/metrics"
}

// guardsMetrics reads the metrics without a token, without the role for it, and with that role. The
// program has to ask the API server who the client is, and what it may do. It serves HTTP/1.1 only.
func (s *scenario) guardsMetrics(url string) {
	s.Helper()
	role := strings.ToLower(s.Kind) + "-operator-metrics-reader"
	_, err := s.kubectl.Run(s.Context(), "create", "clusterrolebinding", s.namespace, "--clusterrole", role,
		"--serviceaccount", s.namespace+":reader")
	s.must(err)
	s.Cleanup(func() { _, _ = s.kubectl.Run(context.Background(), "delete", "clusterrolebinding", s.namespace) })
	client := http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true, DisableKeepAlives: true,
	}}
	for account, want := range map[string]string{"": "401 Unauthorized", "stranger": "403 Forbidden", "reader": "200 OK"} {
		request, err := http.NewRequestWithContext(s.Context(), http.MethodGet, url, nil)
		s.must(err)
		if account != "" {
			accounts := s.client.CoreV1().ServiceAccounts(s.namespace)
			_, err := accounts.Create(s.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: account}},
				metav1.CreateOptions{})
			s.must(err)
			token, err := accounts.CreateToken(s.Context(), account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
			s.must(err)
			request.Header.Set("Authorization", "Bearer "+token.Status.Token)
		}
		s.eventually(fmt.Sprintf("account %q reads the metrics: %s", account, want), func() error {
			response, err := client.Do(request)
			if err != nil {
				return err
			}
			response.Body.Close()
			if got := response.Proto + " " + response.Status; got != "HTTP/1.1 "+want {
				return fmt.Errorf("got %s", got)
			}
			return nil
		})
	}
}

// lifecycle takes some Foos through all that can happen to them.
func (s *scenario) lifecycle() {
	s.Helper()
	s.start()
	s.createFoo("a", "a", 1)
	s.becomesReady("a")
	s.patchFoo("a", `{"spec":{"replicas":2}}`)
	s.becomesReady("a")
	s.patchFoo("a", `{"spec":{"deploymentName":"b"}}`)
	s.disappears("a")
	s.becomesReady("a")
	s.createFoo("refused", "taken", 1)
	s.becomesUnready("refused", "ErrResourceExists")
}

// tdsetLifecycle does the same for TDSets.
func (s *scenario) tdsetLifecycle() {
	s.Helper()
	s.startAt(at(8, 0))
	s.createTDSet("taken", 1)
	s.isRefused("taken")
	s.createTDSet("a", 1, office)
	s.becomesScheduled("a", 1)
	s.operator.Stop()
	s.startAt(at(10, 0))
	s.becomesScheduled("a", 2)
	if s.holds("T6") {
		s.patchTDSet("a", `{"spec":{"service":{"port":80}}}`)
		s.hasService("a", 80, 8000)
		s.patchTDSet("a", `{"spec":{"service":{"port":81}}}`)
		s.hasService("a", 81, 8000)
		s.patchTDSet("a", `{"spec":{"service":null}}`)
		s.serviceDisappears("a")
	}
	s.deleteTDSet("a", metav1.DeletePropagationBackground)
	s.tdsetIsGone("a")
}
