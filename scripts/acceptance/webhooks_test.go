// The webhooks of the chapters that have some. They are left out of all other tests: one that is down blocks what B8 and F5 are about.

package acceptance

import (
	"context"
	"os"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/webhooks"
)

func TestWebhooks(t *testing.T) {
	has := func(chapter chapters.Chapter) bool { return chapter.Parts().Webhooks != "" }
	alone(t, "B10 bad input: webhooks default, refuse, and let pass what they are not asked about", has, func(t *testing.T, s *scenario) {
		manifests, err := os.ReadFile(s.chapter.Parts().Webhooks)
		s.must(err)
		local, err := webhooks.New(t.TempDir())
		s.must(err)
		configurations, err := local.Configurations(manifests, s.namespace)
		s.must(err)
		s.flags = local.Flags()
		s.start()
		s.must(local.Await(t.Context()))
		t.Cleanup(func() {
			if err := webhooks.Delete(context.Background(), s.kubectl); err != nil {
				t.Error(err)
			}
		})
		s.must(s.kubectl.Apply(t.Context(), configurations))

		// The API server learns of a configuration within moments: the first Foo that gets its default shows that it has.
		s.eventually("a Foo without deploymentName gets its own", func() error {
			object := fooObject("defaulted", "", int64(1))
			delete(object.Object["spec"].(map[string]any), "deploymentName")
			_, err := s.foos().Create(t.Context(), object, metav1.CreateOptions{})
			return err
		})
		if foo := s.becomesReady("defaulted"); foo.Spec.DeploymentName != "defaulted" {
			t.Errorf("its deploymentName is %q", foo.Spec.DeploymentName)
		}

		_, err = s.foos().Create(t.Context(), fooObject("second", "defaulted", int64(1)), metav1.CreateOptions{})
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.deploymentName") || !strings.Contains(err.Error(), "choose another name") {
			t.Errorf("a name that is asked for already: want a refusal that names the field and the mend, got: %v", err)
		}

		s.patchFoo("defaulted", `{"spec":{"replicas":2}}`)
		s.becomesReady("defaulted")

		// With nobody to answer, what they aren't asked about goes on.
		s.operator.Stop()
		s.patchFoo("defaulted", `{"metadata":{"labels":{"touched":"yes"}},"spec":{"replicas":3}}`)
		_, err = s.foos().Patch(t.Context(), "defaulted", types.MergePatchType, []byte(`{"spec":{"deploymentName":"other"}}`), metav1.PatchOptions{})
		if !apierrors.IsInternalError(err) {
			t.Errorf("a new deploymentName that the webhooks can't judge: want the API server's refusal, got: %v", err)
		}
		if _, err := s.foos().Create(t.Context(), fooObject("blocked", "blocked", int64(1)), metav1.CreateOptions{}); !apierrors.IsInternalError(err) {
			t.Errorf("a Foo that the webhooks can't judge: want the API server's refusal, got: %v", err)
		}
		s.must(s.foos().Delete(t.Context(), "defaulted", metav1.DeleteOptions{}))
	})
}
