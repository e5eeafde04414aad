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

// TestMain has waited until the manager is ready. It runs without privileges, as its namespace
// requires.
func TestTheManager(t *testing.T) {
	if got := kubectl(t, "get", "-n", operator, manager, "-o", "jsonpath={.status.readyReplicas}"); got != "2" {
		t.Errorf("%s replicas are ready, want 2", got)
	}
	users := kubectl(t, "get", "pods", "-n", operator, "-l", ofManager, "-o", "jsonpath={.items[*].status.containerStatuses[*].user.linux.uid}")
	if want := "65532 65532"; users != want {
		t.Errorf("the replicas run as the users %q, want %q", users, want)
	}
	theNamespaceIsRestricted(t)
}

// theNamespaceIsRestricted checks that the operator's namespace refuses a privileged Pod.
func theNamespaceIsRestricted(t *testing.T) {
	t.Helper()
	output, err := utils.Exec("kubectl", "run", "-n", operator, "root", "--image="+standIn, "--dry-run=server")
	if want := `violates PodSecurity "restricted:latest"`; err == nil || !strings.Contains(output, want) {
		t.Errorf("kubectl run with a privileged Pod printed\n%s\nwant a refusal that contains %q", output, want)
	}
}

func TestTheWebhook(t *testing.T) {
	webhookAnswers(t, aNamespace(t))
}

// If the Secret is deleted, cert-manager makes another certificate, as it does before one expires.
// The manager serves the new one without a restart.
func TestTheWebhookWithANewCertificate(t *testing.T) {
	namespace := aNamespace(t)
	former := trusted(t)

	kubectl(t, "delete", "secret", "-n", operator, "webhook-server-cert")

	eventually(t, "the API server trusts another CA", func() bool { return trusted(t) != former && trusted(t) != "" })
	// Ask each replica, because the API server may call any of them. Each serves the new
	// certificate once the kubelet has copied it.
	addresses := strings.Fields(kubectl(t, "get", "pods", "-n", operator, "-l", ofManager, "-o", "jsonpath={.items[*].status.podIP}"))
	if len(addresses) != 2 {
		t.Errorf("the replicas' addresses are %q, want 2", addresses)
	}
	for i, address := range addresses {
		askFromPod(t, namespace, fmt.Sprintf("replica-%d", i), "default",
			"--ca="+trusted(t), "--server-name=tdset-operator-webhook-service.tdset-operator-system.svc", "https://"+address+":9443/")
	}
	webhookAnswers(t, namespace)
}

// webhookAnswers makes the API server call the webhook. A dry run calls it, and stores nothing. A
// refusal shows that the CRD's rules are installed, too, because they refuse the same schedules
// first.
func webhookAnswers(t *testing.T, namespace string) {
	t.Helper()
	for sentence, test := range map[string]struct {
		schedule string
		refused  bool
		want     string // in kubectl's output
	}{
		"time in no window causes a warning": {`[{name: office, start: "09:00", end: "17:00", replicas: 2}]`, false, "Warning: spec.windows: no window includes the time from 00:00 to 09:00, 17:00 to 24:00, so it gets defaultReplicas, which is 1"},
		"an empty window is refused":         {`[{name: office, start: "09:00", end: "09:00", replicas: 2}]`, true, "start and end must differ: for the whole day, use 00:00 and 24:00"},
		"missing fields get their defaults":  {"[]", false, "timeZone: UTC\n"},
	} {
		t.Run(sentence, func(t *testing.T) {
			output, err := tryApply(namespace, "web", "container: {image: nginx, port: 80}, windows: "+test.schedule, "--dry-run=server", "-o", "yaml")
			if refused := err != nil; refused != test.refused || !strings.Contains(output, test.want) {
				t.Errorf("kubectl apply printed\n%s\nwant %q, refused: %t", output, test.want, test.refused)
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
