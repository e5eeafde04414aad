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

func TestTheWebhooks(t *testing.T) {
	webhooksAnswer(t, aNamespace(t))
}

// Without its Secret's content, the manager creates another CA, and a certificate signed by it.
func TestTheWebhooksWhenTheirCertificateIsAnotherOne(t *testing.T) {
	namespace := aNamespace(t)
	former := trusted(t)

	kubectl(t, "patch", "secret", "-n", operator, "foo-operator-webhook-server-cert", "--type=json", "-p", `[{"op": "remove", "path": "/data"}]`)

	eventually(t, "the API server trusts another CA", func() bool { return trusted(t) != former && trusted(t) != "" })
	// Copy by copy, since the API server may ask any: each has its certificate once the kubelet has
	// brought it.
	addresses := strings.Fields(kubectl(t, "get", "pods", "-n", operator, "-l", ofManager, "-o", "jsonpath={.items[*].status.podIP}"))
	if len(addresses) != 2 {
		t.Errorf("the copies' addresses are %q, want 2", addresses)
	}
	for i, address := range addresses {
		askFromPod(t, namespace, fmt.Sprintf("copy-%d", i), "default",
			"--ca="+trusted(t), "--server-name=foo-operator-webhook-service.foo-operator-system.svc", "https://"+address+":9443/")
	}
	webhooksAnswer(t, namespace)
}

// webhooksAnswer has the API server ask them whatever they are for. A dry run asks, and stores
// nothing.
func webhooksAnswer(t *testing.T, namespace string) {
	t.Helper()
	apply(t, namespace, "there", "replicas: 1")
	kubectl(t, "create", "-n", namespace, "deployment", "taken", "--image="+standIn)
	for sentence, test := range map[string]struct {
		spec    string
		refused bool
		want    string // in what kubectl says
	}{
		"a name that is left out is the Foo's": {"replicas: 1", false, "deploymentName: foo\n"},
		"another Foo's name is refused":        {"deploymentName: there", true, `Foo "there" asks for it already: choose another name, or delete that Foo`},
		"a foreign Deployment is warned of":    {"deploymentName: taken", false, `Warning: Deployment "taken" exists and isn't this Foo's`},
	} {
		t.Run(sentence, func(t *testing.T) {
			eventually(t, fmt.Sprintf("refused: %t, and kubectl says %q", test.refused, test.want), func() bool { // a cache may be a moment behind
				said, err := tryApply(namespace, "foo", test.spec, "--dry-run=server", "-o", "yaml")
				return (err != nil) == test.refused && strings.Contains(said, test.want)
			})
		})
	}
}

// trusted returns the PEM of the CA that the API server trusts for the webhooks, and "" if
// it isn't the same for all.
func trusted(t *testing.T) string {
	t.Helper()
	one := ""
	for _, kind := range []string{"mutating", "validating"} {
		encoded := kubectl(t, "get", kind+"webhookconfiguration", "foo-operator-"+kind+"-webhook-configuration", "-o", "jsonpath={.webhooks[0].clientConfig.caBundle}")
		decoded, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			t.Fatal(err)
		}
		if one != "" && one != string(decoded) {
			return ""
		}
		one = string(decoded)
	}
	return one
}
