// The webhooks of the chapters that have some. They are left out of all other tests: one that is down blocks what B8 and F5 are about.

package acceptance

import (
	"context"
	"fmt"
	"os"
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
	"example.com/operators/scripts/internal/contract"
	"example.com/operators/scripts/internal/webhooks"
)

func hasWebhooks(j judged) bool {
	return j.program.Webhooks != "" && whyLeftOut(contract.URLWebhooks) == ""
}

// serveWebhooks starts the operator with its webhooks, and has the API server call them. It learns of that within moments.
func (s *scenario) serveWebhooks() {
	s.Helper()
	manifests, err := os.ReadFile(s.program.Webhooks)
	s.must(err)
	local, err := webhooks.New(s.TempDir())
	s.must(err)
	configurations, err := local.Configurations(manifests, s.namespace)
	s.must(err)
	s.flags = local.Flags()
	s.start()
	s.must(local.Await(s.Context()))
	s.Cleanup(func() {
		if err := webhooks.Delete(context.Background(), s.kubectl); err != nil {
			s.Error(err)
		}
	})
	s.must(s.kubectl.Apply(s.Context(), configurations))
}

func TestWebhooks(t *testing.T) {
	const name = "B10 bad input: webhooks default, refuse, and let pass what they are not asked about"
	alone(t, chapters.Foo, name, hasWebhooks, func(t *testing.T, s *scenario) {
		s.serveWebhooks()
		s.eventually("a Foo without deploymentName gets its own", func() error {
			object := fooObject("defaulted", "", int64(1))
			delete(object.Object["spec"].(map[string]any), "deploymentName")
			_, err := s.foos().Create(t.Context(), object, metav1.CreateOptions{})
			return err
		})
		if foo := s.becomesReady("defaulted"); foo.Spec.DeploymentName != "defaulted" {
			t.Errorf("its deploymentName is %q", foo.Spec.DeploymentName)
		}

		_, err := s.foos().Create(t.Context(), fooObject("second", "defaulted", int64(1)), metav1.CreateOptions{})
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.deploymentName") || !strings.Contains(err.Error(), "choose another name") {
			t.Errorf("a name that is asked for already: want a refusal that names the field and the fix, got: %v", err)
		}

		s.patchFoo("defaulted", `{"spec":{"replicas":2}}`)
		s.becomesReady("defaulted")

		// With nobody to answer, what they aren't asked about goes on.
		s.operator.Stop()
		s.patchFoo("defaulted", `{"metadata":{"labels":{"touched":"yes"}},"spec":{"replicas":3}}`)
		s.isBlocked("defaulted", `{"spec":{"deploymentName":"other"}}`, fooObject("blocked", "blocked", int64(1)))
		s.must(s.foos().Delete(t.Context(), "defaulted", metav1.DeleteOptions{}))
	})
}

// isBlocked complains unless the API server refuses to make that change, and that object, since nobody answers whom it has to ask.
func (s *scenario) isBlocked(name, patch string, object *unstructured.Unstructured) {
	s.Helper()
	_, err := s.objects().Patch(s.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if !apierrors.IsInternalError(err) {
		s.Errorf("a change that the webhooks can't judge, %s: want the API server's refusal, got: %v", patch, err)
	}
	if _, err := s.objects().Create(s.Context(), object, metav1.CreateOptions{}); !apierrors.IsInternalError(err) {
		s.Errorf("a %s that the webhooks can't judge: want the API server's refusal, got: %v", s.Kind, err)
	}
}

func TestWebhooksOfTDSets(t *testing.T) {
	const name = "T12 bad input: webhooks warn, refuse what an older CRD lets pass, and let pass what they are not asked about"
	alone(t, chapters.TDSet, name, hasWebhooks, func(t *testing.T, s *scenario) {
		s.loosenCRD()
		s.serveWebhooks()
		warned := s.warnings()
		s.eventually("a window whose hours belong to another one is warned of", func() error {
			said, err := warned(tdsetObject("a", 1, office, window{16, 9, 3}))
			if err != nil || !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, "spec.schedulingConfig[1]") }) {
				return fmt.Errorf("the answer is %q, error %v", said, err)
			}
			return nil
		})
		for sentence, test := range map[string]struct {
			object *unstructured.Unstructured
			want   string
		}{
			"an unknown zone":      {with(tdsetObject("b", 1, office), "Mars/Olympus", "timeZone"), "spec.timeZone"},
			"the same hours twice": {tdsetObject("b", 1, window{9, 0, 1}, window{9, 24, 2}), "spec.schedulingConfig[1]"},
			"start is end":         {tdsetObject("b", 1, window{9, 9, 1}), "spec.schedulingConfig[0]"},
		} {
			if _, err := warned(test.object); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: want a refusal that names %s, got: %v", sentence, test.want, err)
			}
		}
		s.createTDSet("a", 1)
		s.becomesScheduled("a", 1)

		// With nobody to answer, what they aren't asked about goes on.
		s.operator.Stop()
		s.patchTDSet("a", `{"metadata":{"labels":{"touched":"yes"}},"spec":{"container":{"image":"example.com/app:2"}}}`)
		s.isBlocked("a", `{"spec":{"schedulingConfig":[{"startTime":1,"endTime":2,"replica":3}]}}`, tdsetObject("blocked", 1))
		s.deleteTDSet("a", metav1.DeletePropagationBackground)
	})
}

// warnings returns what asks the API server to make an object, for a try, and returns what it warns of.
func (s *scenario) warnings() func(*unstructured.Unstructured) ([]string, error) {
	s.Helper()
	heard := &heard{}
	config := rest.CopyConfig(s.config)
	config.WarningHandler = heard
	client, err := dynamic.NewForConfig(config)
	s.must(err)
	return func(object *unstructured.Unstructured) ([]string, error) {
		objects := client.Resource(resources[s.Kind]).Namespace(s.namespace)
		_, err := objects.Create(s.Context(), object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return heard.take(), err
	}
}

// heard remembers warnings.
type heard struct {
	mutex sync.Mutex
	all   []string
}

// HandleWarningHeader remembers one.
func (h *heard) HandleWarningHeader(_ int, _, text string) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.all = append(h.all, text)
}

func (h *heard) take() []string {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	all := h.all
	h.all = nil
	return all
}
