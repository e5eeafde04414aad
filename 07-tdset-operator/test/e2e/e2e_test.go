//go:build e2e

package e2e

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"example.com/operators/07-tdset-operator/test/utils"
)

// namespace is the operator's, by the name that the CLI's specs use.
//
//lint:ignore U1000 only the specs that the CLI adds use it
const namespace = operator

// TestE2E runs the Ginkgo specs, which the kubebuilder CLI adds to. TestMain has deployed the
// operator.
func TestE2E(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(2 * time.Minute)
	RunSpecs(t, "e2e suite")
}

var _ = Describe("Manager", Ordered, func() {
	It("should run", func() {
		// +kubebuilder:scaffold:e2e-metrics-webhooks-readiness
		Expect(untilReady()).To(Succeed())
	})

	// +kubebuilder:scaffold:e2e-webhooks-checks
})

// That it becomes ready has been waited for. It does so with no more rights than its namespace lets
// Pods have.
func TestTheManager(t *testing.T) {
	if got := kubectl(t, "get", "-n", operator, manager, "-o", "jsonpath={.status.readyReplicas}"); got != "2" {
		t.Errorf("%s copies are ready, want 2", got)
	}
	users := kubectl(t, "get", "pods", "-n", operator, "-l", ofManager, "-o", "jsonpath={.items[*].status.containerStatuses[*].user.linux.uid}")
	if want := "65532 65532"; users != want {
		t.Errorf("the copies run as the users %q, want %q", users, want)
	}
	theNamespaceIsRestricted(t)
}

// theNamespaceIsRestricted asks the operator's namespace for a Pod that isn't, and wants a refusal.
func theNamespaceIsRestricted(t *testing.T) {
	t.Helper()
	said, err := utils.Exec("kubectl", "run", "-n", operator, "root", "--image="+standIn, "--dry-run=server")
	if want := `violates PodSecurity "restricted:latest"`; err == nil || !strings.Contains(said, want) {
		t.Errorf("kubectl said of a Pod that isn't restricted\n%s\nwant a refusal that says %q", said, want)
	}
}

func TestTheWebhook(t *testing.T) {
	webhookAnswers(t, aNamespace(t))
}

// Without its Secret's content, the manager creates another CA, and a certificate signed by it.
func TestTheWebhookWhenItsCertificateIsAnotherOne(t *testing.T) {
	namespace := aNamespace(t)
	former := trusted(t)

	kubectl(t, "patch", "secret", "-n", operator, "tdset-operator-webhook-server-cert", "--type=json", "-p", `[{"op": "remove", "path": "/data"}]`)

	eventually(t, "the API server trusts another CA", func() bool { return trusted(t) != former && trusted(t) != "" })
	// Copy by copy, since the API server may ask any: each has its certificate once the kubelet has
	// brought it.
	addresses := strings.Fields(kubectl(t, "get", "pods", "-n", operator, "-l", ofManager, "-o", "jsonpath={.items[*].status.podIP}"))
	if len(addresses) != 2 {
		t.Errorf("the copies' addresses are %q, want 2", addresses)
	}
	for i, address := range addresses {
		askFromPod(t, namespace, fmt.Sprintf("copy-%d", i), "default",
			"--ca="+trusted(t), "--server-name=tdset-operator-webhook-service.tdset-operator-system.svc", "https://"+address+":9443/")
	}
	webhookAnswers(t, namespace)
}

// webhookAnswers has the API server ask it about what it is for. A dry run asks, and stores
// nothing. What the webhook refuses, the CRD's rules refuse before, if they are as new as the
// webhook: a refusal shows that both are there.
func webhookAnswers(t *testing.T, namespace string) {
	t.Helper()
	for sentence, test := range map[string]struct {
		schedule string
		refused  bool
		want     string // in what kubectl says
	}{
		"hours in no window are warned of":   {"[{startTime: 9, endTime: 17, replica: 2}]", false, "Warning: spec.schedulingConfig: no window includes the hours 0 to 9, 17 to 24, so they get defaultReplica, which is 1"},
		"a window without hours is refused":  {"[{startTime: 9, endTime: 9, replica: 2}]", true, "startTime and endTime must differ: for the whole day, use 0 and 24"},
		"what is left out gets its defaults": {"[]", false, "timeZone: UTC\n"},
	} {
		t.Run(sentence, func(t *testing.T) {
			said, err := tryApply(namespace, "web", "container: {image: nginx, port: 80}, schedulingConfig: "+test.schedule, "--dry-run=server", "-o", "yaml")
			if refused := err != nil; refused != test.refused || !strings.Contains(said, test.want) {
				t.Errorf("kubectl said\n%s\nwant %q, refused: %t", said, test.want, test.refused)
			}
		})
	}
}

// trusted returns the PEM of the CA that the API server trusts for the webhook.
func trusted(t *testing.T) string {
	t.Helper()
	encoded := kubectl(t, "get", "validatingwebhookconfiguration", "tdset-operator-validating-webhook-configuration", "-o", "jsonpath={.webhooks[0].clientConfig.caBundle}")
	decoded, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		t.Fatal(err)
	}
	return string(decoded)
}
