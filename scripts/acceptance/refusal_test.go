package acceptance

// What B6 and T8 both ask of a refusal: no write is tried, and users are told once.

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/operators/scripts/internal/chapters"
)

// triedNothing fails the test for each write of that object that the operator has sent since the
// last call of writes, even if the server refused it.
func (s *scenario) triedNothing(resource, name string) {
	s.Helper()
	for _, write := range s.writes() {
		if write.Resource == resource && write.Name == name {
			s.Errorf("the operator wrote an object that isn't its own: %s", write)
		}
	}
}

// warnedOnce waits until there is exactly one Warning event, with that reason, if the program records
// Events.
func (s *scenario) warnedOnce(name, reason string) {
	s.Helper()
	if !s.isFull() || !s.hasQueue() {
		return
	}
	s.eventually("there is exactly one Warning", func() error {
		events, err := s.client.EventsV1().Events(s.namespace).List(s.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		var warnings []string
		for _, event := range events.Items {
			if event.Regarding.Name == name && event.Regarding.Kind == s.Kind && event.Type == corev1.EventTypeWarning {
				warnings = append(warnings, event.Reason)
				if event.Series != nil || event.DeprecatedCount > 1 {
					warnings = append(warnings, "repeated")
				}
			}
		}
		if len(warnings) != 1 || warnings[0] != reason {
			return fmt.Errorf("got warnings %q", warnings)
		}
		return nil
	})
}

// takeName creates a Deployment that nobody owns.
func (s *scenario) takeName(name string) *appsv1.Deployment {
	s.Helper()
	foreign, err := s.deployments().Create(s.Context(), deploymentObject(name), metav1.CreateOptions{})
	s.must(err)
	return foreign
}

// isRefusedTheName waits until the Foo or TDSet says that its Deployment's name is taken.
func (s *scenario) isRefusedTheName(name string) {
	s.Helper()
	if s.Kind == chapters.TDSet {
		s.isRefused(name)
	} else {
		s.becomesUnready(name, "ErrResourceExists")
	}
}
