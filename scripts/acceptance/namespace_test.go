// A namespace that is deleted with everything in it. The namespace controller deletes Deployments
// and their owners in any order, and the API server refuses to create anything there. A program
// that treats these refusals as failures keeps retrying its writes.

package acceptance

import (
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/testkit"
)

// removeNamespace creates some objects in a namespace, and deletes the namespace.
func removeNamespace(s *scenario) {
	s.moveOut()
	const objects = 10
	for i := range objects {
		s.createNumber(i)
	}
	if s.Kind == chapters.TDSet {
		s.startAt(at(10, 30))
	} else {
		s.start()
	}
	for i := range objects {
		if name := crowdName(i); s.Kind == chapters.TDSet {
			s.becomesScheduled(name, 2)
		} else {
			s.becomesReady(name)
		}
	}
	s.deleteNamespace()
}

// moveOut gives the objects their own namespace, because s.home has the operator's account.
func (s *scenario) moveOut() {
	s.Helper()
	s.namespace = s.createNamespace(metav1.ObjectMeta{GenerateName: "acceptance-out-"})
}

// deleteNamespace deletes the namespace, waits until it is gone, and checks that refused writes
// weren't retried. Each event about an object may cause one. A program that retries sends ten.
func (s *scenario) deleteNamespace() {
	s.Helper()
	s.writes()
	namespaces := s.client.CoreV1().Namespaces()
	s.must(namespaces.Delete(s.Context(), s.namespace, metav1.DeleteOptions{}))
	// The namespace controller deletes one object after another, so hundreds of them, each with its
	// Pods, take a busy machine minutes.
	testkit.Await(s.TB, 4*s.timeout, "the namespace is gone", func() error {
		left, err := namespaces.Get(s.Context(), s.namespace, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return err
		}
		return fmt.Errorf("its status is %+v", left.Status)
	})
	refused, most := map[string]int{}, ""
	for _, write := range s.writes() {
		if write.Code == http.StatusForbidden && write.Resource != "events" {
			refused[write.Name]++
			if refused[write.Name] > refused[most] {
				most = write.Name
			}
		}
	}
	if refused[most] > 4 {
		s.Errorf("%d writes for %s were refused: the program retries them", refused[most], most)
	}
	s.Logf("writes were refused for %d objects", len(refused))
}
