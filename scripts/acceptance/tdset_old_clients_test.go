package acceptance

// The promise T14: clients that only know v1 keep working.

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/yaml"

	"example.com/operators/scripts/internal/chapters"
)

func TestOldClients(t *testing.T) {
	const name = "T14 old clients: kubectl and watches and field managers of v1 keep working"
	alone(t, chapters.TDSet, name, hasVersions, func(t *testing.T, s *scenario) {
		s.convertsTDSets("v2")
		s.startAt(at(10, 30))

		s.oldKubectl()
		s.oldWatch()
		s.oldFieldManager()
		old := *s
		old.apiVersion = "v1"
		if got, err := old.warnings()(tdsetObject("dry-run", 1, office)); err != nil ||
			!slices.ContainsFunc(got, func(text string) bool { return strings.Contains(text, "deprecated") }) {
			t.Errorf("a create in v1 gets the warnings %q, error %v; want one that says deprecated", got, err)
		}
	})
}

// oldKubectl applies a manifest of v1, reads it in v1, and changes it.
func (s *scenario) oldKubectl() {
	s.Helper()
	manifest := filepath.Join(s.TempDir(), "tdset.yaml")
	apply := func(replicas int64) string {
		content, err := yaml.Marshal(s.withTestZone(tdsetObject("applied", 1, window{9, 17, replicas})).Object)
		s.must(err)
		s.must(os.WriteFile(manifest, content, 0o600))
		result, err := s.kubectl.Run(s.Context(), "apply", "--namespace", s.namespace, "-f", manifest)
		s.must(err)
		return strings.TrimSpace(result)
	}
	for _, want := range []struct {
		replicas int64
		result   string
	}{{2, "created"}, {2, "unchanged"}, {3, "configured"}} {
		if got := apply(want.replicas); got != "tdset.schedule.rs/applied "+want.result {
			s.Errorf("kubectl apply with %d replicas printed %q, want %s", want.replicas, got, want.result)
		}
	}
	s.becomesScheduled("applied", 3)
	for version, window := range map[string]string{"v1": "9-17", "v2": "9-17"} {
		got, err := s.kubectl.Run(s.Context(), "get", "tdsets."+version+".schedule.rs", "applied", "--namespace",
			s.namespace, "--no-headers")
		s.must(err)
		if fields := strings.Fields(got); len(fields) < 3 || fields[0] != "applied" || fields[1] != window ||
			fields[2] != "3" {
			s.Errorf("kubectl get in %s printed %q, want the window %s and 3 replicas", version, got, window)
		}
	}
}

// oldWatch watches in v1 what a client of v2 changes.
func (s *scenario) oldWatch() {
	s.Helper()
	watcher, err := s.version("v1").Watch(s.Context(),
		metav1.ListOptions{FieldSelector: "metadata.name=full", ResourceVersion: "0"})
	s.must(err)
	defer watcher.Stop()
	s.must(s.createFull("full"))
	s.eventually("the watch in v1 shows the TDSet in v1", func() error {
		select {
		case event := <-watcher.ResultChan():
			object, isTDSet := event.Object.(*unstructured.Unstructured)
			if event.Type != watch.Added || !isTDSet || object.GetAPIVersion() != "schedule.rs/v1" {
				s.Fatalf("got %s of %v, want ADDED of a TDSet in v1", event.Type, event.Object)
			}
			windows, _, err := unstructured.NestedSlice(object.Object, "spec", "schedulingConfig")
			if err != nil || len(windows) != 3 {
				s.Fatalf("got %d windows, error %v; want 3", len(windows), err)
			}
			return nil
		default:
			return fmt.Errorf("no event yet")
		}
	})
}

// oldFieldManager applies some fields in v1, and another manager others in v2. Both keep theirs.
func (s *scenario) oldFieldManager() {
	s.Helper()
	apply := func(version, manager, spec string) {
		s.Helper()
		patch := fmt.Sprintf(`{"apiVersion":"schedule.rs/%s","kind":"TDSet","metadata":{"name":"shared"},"spec":%s}`,
			version, spec)
		_, err := s.version(version).Patch(s.Context(), "shared", types.ApplyPatchType, []byte(patch),
			metav1.PatchOptions{FieldManager: manager})
		s.must(err)
	}
	const v2 = `{"container":{"image":"example.com/app:1","port":8000},"timeZone":"UTC",
		"windows":[{"name":"office","start":"09:15","end":"17:45","replicas":%d}]}`
	apply("v2", "new", fmt.Sprintf(v2, 1))
	apply("v1", "old", `{"defaultReplica":7}`)
	apply("v2", "new", fmt.Sprintf(v2, 2))
	apply("v1", "old", `{"defaultReplica":8}`)

	object, err := s.version("v2").Get(s.Context(), "shared", metav1.GetOptions{})
	s.must(err)
	defaults, _, _ := unstructured.NestedInt64(object.Object, "spec", "defaultReplicas")
	windows, _, _ := unstructured.NestedSlice(object.Object, "spec", "windows")
	if defaults != 8 || len(windows) != 1 || windows[0].(map[string]any)["replicas"] != int64(2) ||
		windows[0].(map[string]any)["start"] != "09:15" {
		s.Errorf("it has %d replicas by default and the windows %v; want 8, and one with 2 replicas from 09:15",
			defaults, windows)
	}
}
