// What a program may do is what it does, and no more: each right that its chapter's manifests grant is used in the life of some
// Foos, or has a reason here. A right that is missing shows in every other test.

package acceptance

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/operators/scripts/internal/program"
)

// unused says why a right is granted that no log shows.
func unused() map[string]string {
	const (
		fallback = "a server that can't begin a watch with what is there already is asked for a list"
		metrics  = "metrics by HTTPS ask who wants them: tested in the chapter"
		certs    = "the webhooks' certificate: 06-kubebuilder/cmd/installed_test.go"
	)
	return map[string]string{
		"list foos.samplecontroller.k8s.io":                                   fallback,
		"list deployments.apps":                                               fallback,
		"update foos/finalizers.samplecontroller.k8s.io":                      "the admission plugin OwnerReferencesPermissionEnforcement asks for it, before blockOwnerDeletion is set",
		"create deployments.apps":                                             "an apply that makes an object needs it, and is logged as the patch that it is",
		"patch events.":                                                       "an event that is repeated is counted in the first one",
		"patch events.events.k8s.io":                                          "an event that is repeated is counted in the first one",
		"create tokenreviews.authentication.k8s.io":                           metrics,
		"create subjectaccessreviews.authorization.k8s.io":                    metrics,
		"get foos.samplecontroller.k8s.io 06":                                 "the webhook looks again before it refuses: tested in the chapter",
		"list secrets.":                                                       certs,
		"watch secrets.":                                                      certs,
		"update secrets.":                                                     certs,
		"list mutatingwebhookconfigurations.admissionregistration.k8s.io":     certs,
		"watch mutatingwebhookconfigurations.admissionregistration.k8s.io":    certs,
		"update mutatingwebhookconfigurations.admissionregistration.k8s.io":   certs,
		"list validatingwebhookconfigurations.admissionregistration.k8s.io":   certs,
		"watch validatingwebhookconfigurations.admissionregistration.k8s.io":  certs,
		"update validatingwebhookconfigurations.admissionregistration.k8s.io": certs,
	}
}

func TestPermissions(t *testing.T) {
	alone(t, "no right too many, and none missing", nil, func(t *testing.T, s *scenario) {
		s.live()
		used := map[string]bool{}
		for _, request := range s.requests() {
			if request.Resource == "" {
				continue // what there is to ask for, which everybody may
			}
			if request.Code == 403 {
				t.Errorf("it wasn't allowed to: %s", request)
			}
			used[right(request.Verb, request.Resource, request.Group)] = true
		}
		p, err := program.OfChapter(s.chapter)
		s.must(err)
		rules, err := p.Rules()
		s.must(err)
		granted := map[string]bool{}
		for _, rule := range rules {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					for _, verb := range rule.Verbs {
						granted[right(verb, resource, group)] = true
					}
				}
			}
		}
		for _, right := range slices.Sorted(maps.Keys(granted)) {
			reason := unused()[right] + unused()[right+" "+s.chapter.Number()]
			if !used[right] && reason == "" {
				t.Errorf("it may %s, and never did", right)
			}
		}
		t.Logf("%d rights, %d of them used", len(granted), len(used))
	})
}

// right names what somebody may do, as kubectl auth can-i has it: update deployments.apps.
func right(verb, resource, group string) string {
	return fmt.Sprintf("%s %s.%s", verb, resource, group)
}

// live is a life of some Foos in which a program does all that it ever does.
func (s *scenario) live() {
	s.Helper()
	if holds(s.chapter, "F7") {
		s.flags = s.elects()
	}
	_, err := s.deployments().Create(s.Context(), deploymentObject("taken"), metav1.CreateOptions{})
	s.must(err)
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
	s.operator.Stop() // what was recorded is sent
}
