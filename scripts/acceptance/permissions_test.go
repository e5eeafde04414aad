// A program has exactly the permissions that it needs. Each one in its manifests is used in a Foo's
// or TDSet's life, or has a reason here. A missing permission fails every other test.

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

// unused says why a permission is granted although no audit log shows its use.
func unused() map[string]string {
	const (
		fallback = "a list is the fallback for a server that can't start a watch with the existing objects"
		metrics  = "the metrics endpoint authenticates its clients: tested in the chapter"
		certs    = "the webhooks' certificate: cmd/installed_test.go in 06-kubebuilder and 07-tdset-operator"
		blocks   = "the admission plugin OwnerReferencesPermissionEnforcement requires it for blockOwnerDeletion"
		apply    = "an apply that creates an object needs it, but is logged as a patch"
		repeated = "a repeated Event is counted in the first one"
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
		"get foos.samplecontroller.k8s.io 06":              "the webhook reads again before it refuses: tested in the chapter",
		"list secrets.":                                    certs,
		"watch secrets.":                                   certs,
		"update secrets.":                                  certs,
		"list mutatingwebhookconfigurations.admissionregistration.k8s.io":     certs,
		"watch mutatingwebhookconfigurations.admissionregistration.k8s.io":    certs,
		"update mutatingwebhookconfigurations.admissionregistration.k8s.io":   certs,
		"list validatingwebhookconfigurations.admissionregistration.k8s.io":   certs,
		"watch validatingwebhookconfigurations.admissionregistration.k8s.io":  certs,
		"update validatingwebhookconfigurations.admissionregistration.k8s.io": certs,
		"list customresourcedefinitions.apiextensions.k8s.io":                 certs,
		"watch customresourcedefinitions.apiextensions.k8s.io":                certs,
		"update customresourcedefinitions.apiextensions.k8s.io":               certs,
	}
}

const leastPrivilege = "permissions: none is missing, and none is unnecessary"

func TestPermissions(t *testing.T) {
	sideBySide(t, chapters.Foo, leastPrivilege, nil, func(_ *testing.T, s *scenario) { usesItsPermissions(s, s.lifecycle) })
}

// usesItsPermissions compares a program's permissions with those that it uses in a lifecycle that
// covers all its work.
func usesItsPermissions(s *scenario, lifecycle func()) {
	if s.holds("F7") {
		s.flags = s.elects()
	}
	_, err := s.deployments().Create(s.Context(), deploymentObject("taken"), metav1.CreateOptions{})
	s.must(err)
	lifecycle()
	s.operator.Stop() // sends the recorded Events
	used := map[string]bool{}
	for _, request := range s.requests() {
		if request.Resource == "" {
			continue // discovery, which everybody may use
		}
		if request.Code == 403 {
			s.Errorf("missing permission: %s", request)
		}
		used[right(request.Verb, request.Resource, request.Group)] = true
	}
	granted, err := permissionsOf(s.program)
	s.must(err)
	for _, right := range slices.Sorted(maps.Keys(granted)) {
		reason := unused()[right] + unused()[right+" "+s.chapter.Number()]
		if !used[right] && reason == "" {
			s.Errorf("the program may %s, but never does", right)
		}
	}
	s.Logf("%d permissions, %d of them used", len(granted), len(used))
}

// permissionsOf returns the permissions that a program's manifests grant.
func permissionsOf(p program.Program) (map[string]bool, error) {
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

// A reason without a permission would excuse that permission if it came back.
func TestUnusedPermissionsAreGranted(t *testing.T) {
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
			rights, err := permissionsOf(p)
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
			t.Errorf("no program may %s: delete its reason %q", right, reason)
		}
	}
}

// right names a permission like kubectl auth can-i: update deployments.apps.
func right(verb, resource, group string) string {
	return fmt.Sprintf("%s %s.%s", verb, resource, group)
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
