// What a program may do is what it does, and no more: each right that its manifests grant is used in the life of some Foos or TDSets, or
// has a reason here. A right that is missing shows in every other test.

package acceptance

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/program"
)

// unused says why a right is granted that no log shows.
func unused() map[string]string {
	const (
		fallback = "a server that can't begin a watch with what is there already is asked for a list"
		metrics  = "metrics by HTTPS ask who wants them: tested in the chapter"
		certs    = "the webhooks' certificate: cmd/installed_test.go in 06-kubebuilder and 07-tdset-operator"
		blocks   = "the admission plugin OwnerReferencesPermissionEnforcement asks for it, before blockOwnerDeletion is set"
		apply    = "an apply that makes an object needs it, and is logged as the patch that it is"
		repeated = "an event that is repeated is counted in the first one"
	)
	return map[string]string{
		"list foos.samplecontroller.k8s.io":                fallback,
		"list tdsets.schedule.rs":                          fallback,
		"list deployments.apps":                            fallback,
		"list services.":                                   fallback,
		"update foos/finalizers.samplecontroller.k8s.io":   blocks,
		"update tdsets/finalizers.schedule.rs":             blocks,
		"create deployments.apps":                          apply,
		"create services.":                                 apply,
		"patch events.":                                    repeated,
		"patch events.events.k8s.io":                       repeated,
		"create tokenreviews.authentication.k8s.io":        metrics,
		"create subjectaccessreviews.authorization.k8s.io": metrics,
		"get foos.samplecontroller.k8s.io 06":              "the webhook looks again before it refuses: tested in the chapter",
		"list secrets.":                                    certs,
		"watch secrets.":                                   certs,
		"update secrets.":                                  certs,
		"list mutatingwebhookconfigurations.admissionregistration.k8s.io":     certs,
		"watch mutatingwebhookconfigurations.admissionregistration.k8s.io":    certs,
		"update mutatingwebhookconfigurations.admissionregistration.k8s.io":   certs,
		"list validatingwebhookconfigurations.admissionregistration.k8s.io":   certs,
		"watch validatingwebhookconfigurations.admissionregistration.k8s.io":  certs,
		"update validatingwebhookconfigurations.admissionregistration.k8s.io": certs,
	}
}

const asItsRights = "no right too many, and none missing"

func TestPermissions(t *testing.T) {
	sideBySide(t, chapters.Foo, asItsRights, nil, func(_ *testing.T, s *scenario) { usesItsRights(s, s.live) })
}

// usesItsRights compares the rights of a program with those that it uses in a life in which it does all that it ever does.
func usesItsRights(s *scenario, live func()) {
	if s.holds("F7") {
		s.flags = s.elects()
	}
	_, err := s.deployments().Create(s.Context(), deploymentObject("taken"), metav1.CreateOptions{})
	s.must(err)
	live()
	s.operator.Stop() // what was recorded is sent
	used := map[string]bool{}
	for _, request := range s.requests() {
		if request.Resource == "" {
			continue // what there is to ask for, which everybody may
		}
		if request.Code == 403 {
			s.Errorf("it wasn't allowed to: %s", request)
		}
		used[right(request.Verb, request.Resource, request.Group)] = true
	}
	granted, err := rightsOf(s.program)
	s.must(err)
	for _, right := range slices.Sorted(maps.Keys(granted)) {
		reason := unused()[right] + unused()[right+" "+s.chapter.Number()]
		if !used[right] && reason == "" {
			s.Errorf("it may %s, and never did", right)
		}
	}
	s.Logf("%d rights, %d of them used", len(granted), len(used))
}

// rightsOf are the rights that a program's manifests grant.
func rightsOf(p program.Program) (map[string]bool, error) {
	rules, err := p.Rules()
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
	return granted, err
}

// A reason for a right that nobody has would excuse it, should it come back.
func TestEachReasonIsForARightThatIsGranted(t *testing.T) {
	all, err := chapters.All("../..")
	if err != nil {
		t.Fatal(err)
	}
	granted := map[string]bool{}
	for _, chapter := range all {
		for _, kind := range []string{chapters.Foo, chapters.TDSet} {
			p, found, err := program.Of(chapter, kind)
			if err != nil {
				t.Fatal(err)
			}
			if !found {
				continue
			}
			rights, err := rightsOf(p)
			if err != nil {
				t.Fatal(err)
			}
			for right := range rights {
				granted[right], granted[right+" "+chapter.Number()] = true, true
			}
		}
	}
	for right, reason := range unused() {
		if !granted[right] {
			t.Errorf("no program may %s: the reason %q is for nothing", right, reason)
		}
	}
}

// right names what somebody may do, as kubectl auth can-i has it: update deployments.apps.
func right(verb, resource, group string) string {
	return fmt.Sprintf("%s %s.%s", verb, resource, group)
}

// live is a life of some Foos.
func (s *scenario) live() {
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

// liveByTheClock is a life of some TDSets.
func (s *scenario) liveByTheClock() {
	s.Helper()
	s.startAt(at(8, 0))
	s.createTDSet("taken", 1)
	s.saysRefused("taken")
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
