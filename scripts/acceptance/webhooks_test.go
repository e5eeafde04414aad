package acceptance

// The webhooks of the chapters that have some. All other tests leave them out, because one that is
// down blocks the writes that B8 and F5 test.

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/program"
)

func hasWebhooks(j judged) bool {
	return j.program.Webhooks != "" && callsLoopback()
}

// serveWebhooks starts the operator with its webhooks, and makes the API server call them, which
// takes it some moments.
func (s *scenario) serveWebhooks() {
	s.Helper()
	local, configurations, err := s.program.PrepareWebhooks(s.Context(), s.kubectl, s.TempDir(), s.namespace)
	s.must(err)
	s.flags = local.Flags()
	s.start()
	s.must(local.Await(s.Context()))
	s.Cleanup(func() {
		if err := program.DeleteWebhooks(context.Background(), s.kubectl); err != nil {
			s.Error(err)
		}
	})
	s.must(s.kubectl.Apply(s.Context(), configurations))
}

func TestWebhooks(t *testing.T) {
	const name = "B10 bad input: webhooks set defaults and refuse it, and don't block other requests"
	alone(t, chapters.Foo, name, hasWebhooks, func(t *testing.T, s *scenario) {
		s.serveWebhooks()
		s.eventually("a Foo without deploymentName gets its own", func() error {
			object := fooObject("defaulted", "", int64(1))
			delete(object.Object["spec"].(map[string]any), "deploymentName")
			_, err := s.foos().Create(t.Context(), object, metav1.CreateOptions{})
			return err
		})
		if foo := s.becomesReady("defaulted"); foo.Spec.DeploymentName != "defaulted" {
			t.Errorf("got deploymentName %q, want defaulted", foo.Spec.DeploymentName)
		}

		_, err := s.foos().Create(t.Context(), fooObject("second", "defaulted", int64(1)), metav1.CreateOptions{})
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.deploymentName") ||
			!strings.Contains(err.Error(), "choose another name") {
			t.Errorf("a name that another Foo has: want an error with the field and the fix, got %v", err)
		}

		s.patchFoo("defaulted", `{"spec":{"replicas":2}}`)
		s.becomesReady("defaulted")

		// While no webhook answers, other requests still work.
		s.operator.Stop()
		s.patchFoo("defaulted", `{"metadata":{"labels":{"touched":"yes"}},"spec":{"replicas":3}}`)
		s.isBlocked("defaulted", `{"spec":{"deploymentName":"other"}}`, fooObject("blocked", "blocked", int64(1)))
		s.must(s.foos().Delete(t.Context(), "defaulted", metav1.DeleteOptions{}))
	})
}

// isBlocked fails the test unless the API server refuses that change and that object, because no
// webhook answers.
func (s *scenario) isBlocked(name, patch string, object *unstructured.Unstructured) {
	s.Helper()
	_, err := s.objects().Patch(s.Context(), name, types.MergePatchType, s.patchInVersion(patch), metav1.PatchOptions{})
	if !apierrors.IsInternalError(err) {
		s.Errorf("a change that the webhooks can't judge, %s: want the API server's refusal, got: %v", patch, err)
	}
	if _, err := s.objects().Create(s.Context(), s.inVersion(object),
		metav1.CreateOptions{}); !apierrors.IsInternalError(err) {
		s.Errorf("a %s that the webhooks can't judge: want the API server's refusal, got: %v", s.Kind, err)
	}
}

func TestWebhooksOfTDSets(t *testing.T) {
	const name = "T12 bad input: webhooks warn, refuse what an older CRD accepts, and don't block other requests"
	alone(t, chapters.TDSet, name, hasWebhooks, func(t *testing.T, s *scenario) {
		s.loosenCRD()
		s.serveWebhooks()
		warningsFor := s.warnings()
		s.eventually("a window whose hours belong to another one is warningsFor of", func() error {
			warnings, err := warningsFor(tdsetObject("a", 1, office, window{16, 9, 3}))
			if err != nil || !slices.ContainsFunc(warnings,
				func(s string) bool { return strings.Contains(s, "spec.windows[1]") }) {
				return fmt.Errorf("got %q, error %v", warnings, err)
			}
			return nil
		})
		for sentence, test := range map[string]struct {
			object *unstructured.Unstructured
			want   string
		}{
			"an unknown zone":      {with(tdsetObject("b", 1, office), "Mars/Olympus", "timeZone"), "spec.timeZone"},
			"the same hours twice": {tdsetObject("b", 1, window{9, 0, 1}, window{9, 0, 2}), "spec.windows[1]"},
			"start is end":         {tdsetObject("b", 1, window{9, 9, 1}), "spec.windows[0]"},
		} {
			if _, err := warningsFor(test.object); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: want an error about %s, got %v", sentence, test.want, err)
			}
		}
		s.createTDSet("a", 1)
		s.becomesScheduled("a", 1)

		// While no webhook answers, other requests still work.
		s.operator.Stop()
		s.patchTDSet("a", `{"metadata":{"labels":{"touched":"yes"}},"spec":{"container":{"image":"example.com/app:2"}}}`)
		s.isBlocked("a", `{"spec":{"schedulingConfig":[{"startTime":1,"endTime":2,"replica":3}]}}`, tdsetObject("blocked", 1))
		s.deleteTDSet("a", metav1.DeletePropagationBackground)
	})
}

// warnings returns a function that creates an object as a dry run, and returns the API server's
// warnings.
func (s *scenario) warnings() func(*unstructured.Unstructured) ([]string, error) {
	s.Helper()
	recorder := &warningRecorder{}
	config := rest.CopyConfig(s.config)
	config.WarningHandler = recorder
	client, err := dynamic.NewForConfig(config)
	s.must(err)
	return func(object *unstructured.Unstructured) ([]string, error) {
		objects := client.Resource(s.resource()).Namespace(s.namespace)
		_, err := objects.Create(s.Context(), s.inVersion(object), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return recorder.take(), err
	}
}

// warningRecorder records warnings.
type warningRecorder struct {
	mutex sync.Mutex
	all   []string
}

func (h *warningRecorder) HandleWarningHeader(_ int, _, text string) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.all = append(h.all, text)
}

func (h *warningRecorder) take() []string {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	all := h.all
	h.all = nil
	return all
}
