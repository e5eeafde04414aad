// A program has exactly the permissions that it needs. Each one in its manifests is used in a Foo's
// or TDSet's life, or has a reason here. A missing permission fails every other test.

package acceptance

import (
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/operators/scripts/internal/access"
	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/contract"
	"example.com/operators/scripts/internal/judge"
)

// unused says why a program needs permissions that no audit log shows. The chapter's judge.yaml has
// these reasons for the chapter's own program.
func (s *scenario) unused() map[string]string {
	s.Helper()
	if !s.isFull() {
		return nil
	}
	config, err := judge.Read(filepath.Join("..", "judge", "chapters", s.chapter.Name, "judge.yaml"))
	s.must(err)
	return config.UnusedPermissions
}

const leastPrivilege = "permissions: none is missing, and none is unnecessary"

func TestPermissions(t *testing.T) {
	sideBySide(t, chapters.Foo, leastPrivilege, nil, func(_ *testing.T, s *scenario) { usesItsPermissions(s, s.lifecycle) })
}

// usesItsPermissions compares a program's permissions with those that it uses in a lifecycle that
// covers all its work.
func usesItsPermissions(s *scenario, lifecycle func()) {
	if contract.WhyNotHeld(s.chapter, "F7") == "" { // the solutions of exercise TDSet elect like their chapter's program
		s.flags = s.elects()
	}
	_, err := s.deployments().Create(s.Context(), deploymentObject("taken"), metav1.CreateOptions{})
	s.must(err)
	lifecycle()
	s.operator.Stop() // sends the recorded Events
	rules, err := s.program.Rules()
	s.must(err)
	usage := access.Compare(rules, s.requests(), s.unused())
	for right, requests := range usage.Missing {
		s.Errorf("missing permission: %s: %v", right, requests)
	}
	for _, right := range append(usage.Unused, usage.Wildcards...) {
		s.Errorf("the program may %s, but never does", right)
	}
	for _, right := range usage.Stale {
		s.Errorf("the program may not %s: delete the reason for it", right)
	}
	s.Logf("%d permissions, %d of them used", len(usage.Granted), len(usage.Used))
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
