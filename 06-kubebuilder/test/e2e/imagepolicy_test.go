//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"example.com/operators/06-kubebuilder/test/utils"
)

const (
	policySystem  = "image-policy-system"
	policyProgram = "deployment/image-policy"
	allowedImage  = "docker.io/library/" + standIn
)

func init() { images["image-policy:dev"] = "./imagepolicy" } // see imagepolicy/manifests/program.yaml

// The image policy in both forms: the API server calls the webhook's program through its Service, or
// evaluates the policy itself.
func TestTheImagePolicy(t *testing.T) {
	var manifests []string
	for _, name := range []string{"config", "program", "webhook", "policy"} {
		manifests = append(manifests, "-f", "imagepolicy/manifests/"+name+".yaml")
	}
	t.Cleanup(func() {
		if t.Failed() {
			dump(policySystem)
		}
		kubectl(t, append([]string{"delete", "--ignore-not-found", "--timeout=3m"}, manifests...)...)
	})
	kubectl(t, append([]string{"apply", "--server-side"}, manifests...)...)
	policyIsReady(t)

	for _, form := range []string{"webhook", "policy"} {
		t.Run(form, func(t *testing.T) {
			namespace := optIn(t, form)
			kubectl(t, "create", "deployment", "web", "-n", namespace, "--image="+allowedImage)
			kubectl(t, "rollout", "status", "-n", namespace, "deployment/web", "--timeout=3m")

			output, err := utils.Exec("kubectl", "set", "image", "-n", namespace, "deployment/web", "*=quay.io/web")
			if err == nil || !strings.Contains(output, `spec.template.spec.containers[0].image: Invalid value: "quay.io/web": must come from one of [docker.io/library, registry.example.com]`) {
				t.Errorf("an image in another registry: got %q, want a refusal that names the field (error: %v)", output, err)
			}
			kubectl(t, "scale", "-n", namespace, "deployment/web", "--replicas=2")
			kubectl(t, "rollout", "restart", "-n", namespace, "deployment/web")
			kubectl(t, "rollout", "status", "-n", namespace, "deployment/web", "--timeout=3m")
		})
	}

	t.Run("the program is gone", func(t *testing.T) {
		namespace := optIn(t, "webhook")
		kubectl(t, "label", "namespace", policySystem, "operators.example.com/image-policy=webhook")
		kubectl(t, "delete", "-n", policySystem, policyProgram)
		eventually(t, "a new Deployment is refused, because the call fails", func() bool {
			output, err := tryDeployment(namespace, allowedImage)
			return err != nil && strings.Contains(output, "failed calling webhook")
		})

		kubectl(t, "apply", "--server-side", "-f", "imagepolicy/manifests/program.yaml")
		policyIsReady(t)
		eventually(t, "a new Deployment is accepted", func() bool {
			_, err := tryDeployment(namespace, allowedImage)
			return err == nil
		})
	})
}

// policyIsReady waits for both replicas.
func policyIsReady(t *testing.T) {
	t.Helper()
	kubectl(t, "rollout", "status", "-n", policySystem, policyProgram, "--timeout=5m")
}

// optIn returns a new namespace to which the policy applies in that form.
func optIn(t *testing.T, form string) string {
	t.Helper()
	namespace := aNamespace(t)
	kubectl(t, "label", "namespace", namespace, "operators.example.com/image-policy="+form)
	eventually(t, "the API server applies the rule", func() bool {
		output, err := tryDeployment(namespace, "quay.io/web")
		return err != nil && strings.Contains(output, "must come from one of")
	})
	return namespace
}

// tryDeployment asks the API server whether it would create a Deployment with that image.
func tryDeployment(namespace, image string) (string, error) {
	return utils.Exec("kubectl", "create", "deployment", "new", "-n", namespace, "--image="+image, "--dry-run=server")
}
