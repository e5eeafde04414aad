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

	"example.com/operators/06-kubebuilder/test/utils"
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

func TestTheWebhooks(t *testing.T) {
	webhooksAnswer(t, aNamespace(t))
}

// If the Secret is deleted, cert-manager makes another certificate, as it does before one expires.
// The manager serves the new one without a restart.
func TestTheWebhooksWithANewCertificate(t *testing.T) {
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
			"--ca="+trusted(t), "--server-name=foo-operator-webhook-service.foo-operator-system.svc", "https://"+address+":9443/")
	}
	webhooksAnswer(t, namespace)
}

// webhooksAnswer makes the API server call the webhooks in every way. A dry run calls them, and
// stores nothing.
func webhooksAnswer(t *testing.T, namespace string) {
	t.Helper()
	apply(t, namespace, "there", "replicas: 1")
	kubectl(t, "create", "-n", namespace, "deployment", "taken", "--image="+standIn)
	for sentence, test := range map[string]struct {
		spec    string
		refused bool
		want    string // in kubectl's output
	}{
		"a missing deploymentName is the Foo's name": {"replicas: 1", false, "deploymentName: foo\n"},
		"another Foo's deploymentName is refused":    {"deploymentName: there", true, `Foo "there" asks for it already: choose another name, or delete that Foo`},
		"an existing Deployment causes a warning":    {"deploymentName: taken", false, `Warning: Deployment "taken" exists and isn't this Foo's`},
	} {
		t.Run(sentence, func(t *testing.T) {
			eventually(t, fmt.Sprintf("refused: %t, and kubectl prints %q", test.refused, test.want), func() bool { // the cache may be behind
				output, err := tryApply(namespace, "foo", test.spec, "--dry-run=server", "-o", "yaml")
				return (err != nil) == test.refused && strings.Contains(output, test.want)
			})
		})
	}
}

// trusted returns the PEM of the CA that the API server trusts for the webhooks, or "" if it isn't
// the same for all of them.
func trusted(t *testing.T) string {
	t.Helper()
	pem := ""
	for _, kind := range []string{"mutating", "validating"} {
		encoded := kubectl(t, "get", kind+"webhookconfiguration", "foo-operator-"+kind+"-webhook-configuration", "-o", "jsonpath={.webhooks[0].clientConfig.caBundle}")
		decoded, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			t.Fatal(err)
		}
		if pem != "" && pem != string(decoded) {
			return ""
		}
		pem = string(decoded)
	}
	return pem
}
