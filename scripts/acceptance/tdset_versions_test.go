package acceptance

// The promise T13: no field of a TDSet is lost, whichever version of the API wrote it. The conversion
// belongs to the CRD, which all tests share, so these tests run alone.

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/yaml"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/faults"
	"example.com/operators/scripts/internal/operator"
)

// hasVersions reports whether the program's API has several versions that the API server can have
// it convert.
func hasVersions(j judged) bool { return j.holds("T13") && callsLoopback() }

// Old clients change TDSets while the fault lasts, and the program only knows v2.
func TestVersionsUnderFaults(t *testing.T) {
	forEachChapter(t, chapters.TDSet, hasVersions, func(t *testing.T, env *environment, j judged) {
		for _, fault := range faults.All() {
			if !slices.Contains([]string{"F1", "F3", "F4a", "F4c", "F5"}, fault.Name) {
				continue
			}
			t.Run("T13 versions: no field is lost that old clients write during "+fault.Name, func(t *testing.T) {
				s := newScenario(t, env, j)
				proxy := s.behindProxy()
				s.convertsTDSets("v2")
				s.start()
				s.must(s.createFull("full"))
				s.sentinel("settled")

				// The operator is killed in F5, and until it is back, nobody converts TDSets.
				edit := func(replicas int64) {
					s.eventually("an old client edits the TDSet", func() error { return s.editInV1("full", replicas) })
				}
				end := s.begin(fault, proxy)
				edit(3)
				end()

				edit(5)
				s.sentinel("afterwards")
				s.isFullExceptFor("full", 5)
			})
		}
	})
}

func TestUpgradeAndDowngrade(t *testing.T) {
	const name = "T13 versions: no field is lost through an upgrade and a downgrade"
	alone(t, chapters.TDSet, name, hasVersions, func(t *testing.T, s *scenario) {
		s.hasOnlyV1()
		old := tdsetObject("old", 2, window{9, 17, 5}, window{22, 6, 0}, window{19, 24, 1})
		with(old, "Europe/Berlin", "timeZone")
		with(old, int64(30), "intervalMint")
		with(old, map[string]any{"port": int64(80)}, "service")
		_, err := s.version("v1").Create(t.Context(), old, metav1.CreateOptions{})
		s.must(err)
		want := s.inVersion(old).Object["spec"]

		for _, stored := range []string{"v2", "v1", "v2"} {
			s.convertsTDSets(stored)
			s.start()
			if stored == "v2" && s.specIn("v2", "full") == nil {
				s.must(s.createFull("full"))
			}
			for _, name := range []string{"old", "full"} { // store them in this version
				s.must(s.label(name, "stored", stored))
			}
			if diff := cmp.Diff(want, s.specIn("v2", "old")); diff != "" {
				t.Errorf("stored in %s, old in v2 (-want +got):\n%s", stored, diff)
			}
			if diff := cmp.Diff(old.Object["spec"], s.specIn("v1", "old")); diff != "" {
				t.Errorf("stored in %s, old in v1 (-want +got):\n%s", stored, diff)
			}
			s.isFullExceptFor("full", 0)
			s.operator.Stop()
		}
	})
}

// While no webhook answers, requests that need a conversion fail, and change nothing.
func TestTheWebhookIsKilled(t *testing.T) {
	const name = "T13 versions: no field is lost while the webhook is down"
	alone(t, chapters.TDSet, name, hasVersions, func(t *testing.T, s *scenario) {
		s.convertsTDSets("v2")
		s.start()
		s.must(s.createFull("full"))
		s.operator.Destroy()

		for what, err := range map[string]error{"a change": s.editInV1("full", 3), "a read": s.readV1("full")} {
			if err == nil || !strings.Contains(err.Error(), "conversion webhook") {
				t.Errorf("%s in v1: got the error %v, want one that names the conversion webhook", what, err)
			}
		}
		s.isFullExceptFor("full", 0) // in v2, which needs no conversion
		s.must(s.label("full", "meanwhile", "yes"))

		s.start()
		s.must(s.editInV1("full", 3))
		s.isFullExceptFor("full", 3)
	})
}

// convertsTDSets makes the API server store TDSets in that version, serve both, and ask the operator
// to convert them. Each start of the operator then waits until it answers.
func (s *scenario) convertsTDSets(stored string) {
	s.Helper()
	var err error
	s.converter, err = operator.NewLocalWebhooks(s.TempDir())
	s.must(err)
	s.applyCRD(func(version map[string]any) bool {
		version["storage"] = version["name"] == stored
		return true
	})
	// The API server has noticed it when it asks the operator, which doesn't run yet.
	const probe = "probe"
	other := map[string]string{"v1": "v2", "v2": "v1"}[stored]
	object := tdsetObject(probe, 1, always)
	if stored == "v2" {
		object = s.inVersion(object)
	}
	s.eventually("the API server asks for a conversion", func() error {
		_, err := s.version(stored).Create(s.Context(), object, metav1.CreateOptions{})
		if err != nil && !strings.Contains(err.Error(), "already exists") {
			return err
		}
		_, err = s.version(other).Get(s.Context(), probe, metav1.GetOptions{})
		if err == nil || !strings.Contains(err.Error(), "conversion webhook") {
			return fmt.Errorf("it answers %v", err)
		}
		return nil
	})
	s.must(s.version(stored).Delete(s.Context(), probe, metav1.DeleteOptions{}))
}

// hasOnlyV1 makes the CRD that of the first release, which knew only v1.
func (s *scenario) hasOnlyV1() {
	s.Helper()
	_, err := s.kubectl.Run(s.Context(), "delete", "--wait", "-f", s.program.CRD)
	s.must(err)
	s.converter = nil
	s.applyCRD(func(version map[string]any) bool {
		version["storage"] = true
		return version["name"] == "v1"
	})
	s.eventually("v1 is served", func() error {
		_, err := s.version("v1").List(s.Context(), metav1.ListOptions{})
		return err
	})
}

// applyCRD applies the program's CRD with the versions that keep accepts, and may change.
func (s *scenario) applyCRD(keep func(version map[string]any) bool) {
	s.Helper()
	content, err := os.ReadFile(s.program.CRD)
	s.must(err)
	var crd unstructured.Unstructured
	s.must(yaml.Unmarshal(content, &crd.Object))
	all, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
	s.must(err)
	var kept []any
	for _, version := range all {
		if keep(version.(map[string]any)) {
			kept = append(kept, version)
		}
	}
	s.must(unstructured.SetNestedSlice(crd.Object, kept, "spec", "versions"))
	if s.converter != nil {
		s.converter.Convert(&crd)
	}
	content, err = yaml.Marshal(crd.Object)
	s.must(err)
	delete(s.applied, s.Kind) // the next test applies its own
	s.must(s.kubectl.Apply(s.Context(), content))
}

// version returns the client for TDSets of that version.
func (s *scenario) version(version string) dynamic.ResourceInterface {
	resource := s.resource()
	resource.Version = version
	return s.dynamic.Resource(resource).Namespace(s.namespace)
}

// full is a schedule of v2 that v1 can't express.
const full = `
container: {image: "example.com/app:1", port: 8000}
service: {port: 80}
timeZone: Europe/Berlin
defaultReplicas: 4
intervalMinutes: 30
windows:
- {name: office, start: "09:15", end: "17:45", days: [Mon, Tue, Wed, Thu, Fri], replicas: 0}
- {name: night, start: "22:30", end: "06:05", replicas: 1}
- {name: saturday, start: "10:00", end: "24:00", days: [Sat], replicas: 2}
`

// createFull creates a TDSet with that schedule.
func (s *scenario) createFull(name string) error {
	var spec map[string]any
	s.must(yaml.Unmarshal([]byte(full), &spec))
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "schedule.rs/v2", "kind": "TDSet", "metadata": map[string]any{"name": name}, "spec": spec,
	}}
	_, err := s.version("v2").Create(s.Context(), object, metav1.CreateOptions{})
	return err
}

// editInV1 reads the TDSet in v1, changes the replicas of its first window, and writes it back, as
// an old client does. The operator writes to the TDSet, too, so after a conflict it starts over.
func (s *scenario) editInV1(name string, replicas int64) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		object, err := s.version("v1").Get(s.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		windows, _, err := unstructured.NestedSlice(object.Object, "spec", "schedulingConfig")
		if err != nil || len(windows) == 0 {
			return errors.Join(err, fmt.Errorf("%d windows in v1", len(windows)))
		}
		windows[0].(map[string]any)["replica"] = replicas
		s.must(unstructured.SetNestedSlice(object.Object, windows, "spec", "schedulingConfig"))
		_, err = s.version("v1").Update(s.Context(), object, metav1.UpdateOptions{})
		return err
	})
}

func (s *scenario) readV1(name string) error {
	_, err := s.version("v1").Get(s.Context(), name, metav1.GetOptions{})
	return err
}

// label sets a label in v2.
func (s *scenario) label(name, label, value string) error {
	patch := fmt.Sprintf(`{"metadata":{"labels":{%q:%q}}}`, label, value)
	_, err := s.version("v2").Patch(s.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

// specIn returns the TDSet's spec in that version, or nil if there is no such TDSet.
func (s *scenario) specIn(version, name string) any {
	s.Helper()
	list, err := s.version(version).List(s.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	s.must(err)
	if len(list.Items) == 0 {
		return nil
	}
	return list.Items[0].Object["spec"]
}

// isFullExceptFor fails the test unless the TDSet has the schedule full, with those replicas in its
// first window.
func (s *scenario) isFullExceptFor(name string, replicas int64) {
	s.Helper()
	var want map[string]any
	s.must(yaml.Unmarshal([]byte(strings.Replace(full, "Fri], replicas: 0",
		fmt.Sprintf("Fri], replicas: %d", replicas), 1)), &want))
	got, err := yaml.Marshal(s.specIn("v2", name))
	s.must(err)
	var compared map[string]any
	s.must(yaml.Unmarshal(got, &compared))
	if diff := cmp.Diff(want, compared); diff != "" {
		s.Errorf("the TDSet %s in v2 (-want +got):\n%s", name, diff)
	}
}
