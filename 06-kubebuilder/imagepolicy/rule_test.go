// One table for both forms: the webhook and the policy give the same answers for the same reasons.

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ruleTest is a create of a Deployment or, with old, an update. manifests/config.yaml allows
// docker.io/library and registry.example.com.
type ruleTest struct {
	old, deployment *appsv1.Deployment
	wantRefused     []string // the parts of the message; none: it is accepted
}

var ruleTests = map[string]ruleTest{
	"an image in an allowed registry": {
		deployment: aDeployment("a", "registry.example.com/team/web:1"),
	},
	"an image below an allowed path": {
		deployment: aDeployment("a", "docker.io/library/nginx@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"),
	},
	"an image in another registry": {
		deployment:  aDeployment("a", "quay.io/web"),
		wantRefused: []string{refusalOf("containers[0]", "quay.io/web")},
	},
	"an image without a registry, even if the kubelet would pull it from an allowed one": {
		deployment:  aDeployment("a", "nginx"),
		wantRefused: []string{refusalOf("containers[0]", "nginx")},
	},
	"an image in another path of the registry": {
		deployment:  aDeployment("a", "docker.io/somebody/nginx"),
		wantRefused: []string{refusalOf("containers[0]", "docker.io/somebody/nginx")},
	},
	"a registry that only begins with the name of an allowed one": {
		deployment:  aDeployment("a", "registry.example.com.attacker.net/web"),
		wantRefused: []string{refusalOf("containers[0]", "registry.example.com.attacker.net/web")},
	},
	"the allowed registry on another port": {
		deployment:  aDeployment("a", "registry.example.com:5000/web"),
		wantRefused: []string{refusalOf("containers[0]", "registry.example.com:5000/web")},
	},
	"an init container": {
		deployment:  withInit(aDeployment("a", "docker.io/library/nginx"), "docker.io/library/busybox", "busybox"),
		wantRefused: []string{refusalOf("initContainers[1]", "busybox")},
	},
	"several images: each is named": {
		deployment: withInit(aDeployment("a", "web", "docker.io/library/nginx", "proxy"), "setup"),
		wantRefused: []string{
			refusalOf("containers[0]", "web"), refusalOf("containers[2]", "proxy"), refusalOf("initContainers[0]", "setup"),
		},
	},
	"an update to another registry": {
		old:         aDeployment("a", "docker.io/library/nginx"),
		deployment:  aDeployment("a", "quay.io/web"),
		wantRefused: []string{refusalOf("containers[0]", "quay.io/web")},
	},
	"an update to an allowed registry": {
		old:        aDeployment("a", "quay.io/web"),
		deployment: aDeployment("a", "registry.example.com/web"),
	},
	"an update of an old Deployment that changes no image": {
		old:        aDeployment("a", "quay.io/web"),
		deployment: labeled(aDeployment("a", "quay.io/web")),
	},
	"a restart of an old Deployment's Pods": {
		old:        aDeployment("a", "quay.io/web"),
		deployment: restarted(aDeployment("a", "quay.io/web")),
	},
	"one more container with an image that the old Deployment has already": {
		old:        aDeployment("a", "quay.io/web"),
		deployment: withInit(aDeployment("a", "quay.io/web", "quay.io/web"), "quay.io/web"),
	},
	"one more container with another image": {
		old:         aDeployment("a", "quay.io/web"),
		deployment:  aDeployment("a", "quay.io/web", "quay.io/proxy"),
		wantRefused: []string{refusalOf("containers[1]", "quay.io/proxy")},
	},
	"another tag of an image that the old Deployment has already": {
		old:         aDeployment("a", "quay.io/web:1"),
		deployment:  aDeployment("a", "quay.io/web:2"),
		wantRefused: []string{refusalOf("containers[0]", "quay.io/web:2")},
	},
}

func refusalOf(container, image string) string {
	return fmt.Sprintf("spec.template.spec.%s.image: Invalid value: %q: must come from one of [docker.io/library, registry.example.com]", container, image)
}

func labeled(deployment *appsv1.Deployment) *appsv1.Deployment {
	metav1.SetMetaDataLabel(&deployment.ObjectMeta, "team", "blue")
	return deployment
}

// restarted does the same as kubectl rollout restart.
func restarted(deployment *appsv1.Deployment) *appsv1.Deployment {
	metav1.SetMetaDataAnnotation(&deployment.Spec.Template.ObjectMeta, "kubectl.kubernetes.io/restartedAt", "now")
	return deployment
}

func TestTheRule(t *testing.T) {
	for _, form := range forms {
		t.Run(form, func(t *testing.T) {
			stored := map[string]*appsv1.Deployment{}
			for i, sentence := range slices.Sorted(maps.Keys(ruleTests)) {
				if old := ruleTests[sentence].old; old != nil {
					stored[sentence] = old.DeepCopy()
					stored[sentence].Name = fmt.Sprint("old-", i)
				}
			}
			namespace := newNamespace(t, form, slices.Collect(maps.Values(stored))...)
			for sentence, test := range ruleTests {
				t.Run(sentence, func(t *testing.T) {
					deployment := test.deployment.DeepCopy()
					deployment.Namespace = namespace
					var err error
					if old := stored[sentence]; old != nil {
						deployment.Name, deployment.Spec.Selector = old.Name, old.Spec.Selector
						err = api.Update(t.Context(), deployment, client.DryRunAll)
					} else {
						err = api.Create(t.Context(), deployment, client.DryRunAll)
					}
					checkRefusal(t, err, test.wantRefused)
				})
			}
		})
	}
}

// checkRefusal checks an answer: a refusal has status 422 and says all of want.
func checkRefusal(t *testing.T, err error, want []string) {
	t.Helper()
	switch {
	case len(want) == 0 && err != nil:
		t.Errorf("got the error %v, want none", err)
	case len(want) > 0 && !apierrors.IsInvalid(err):
		t.Errorf("got the error %v, want one with the reason Invalid", err)
	}
	for _, want := range want {
		if err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("got the error\n%v\nwant one that contains\n%s", err, want)
		}
	}
	if err != nil && strings.Count(err.Error(), "must come from") != len(want) {
		t.Errorf("got the error\n%v\nwant %d refused images", err, len(want))
	}
}
