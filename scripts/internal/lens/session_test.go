package lens

// A session with chapter 03's program on a real API server.

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/kubectl"
	"example.com/operators/scripts/internal/program"
)

// startSession starts chapter 03's program on the test cluster. It skips the test if there is none.
func startSession(t *testing.T, flags ...string) *Session {
	t.Helper()
	kubeconfig := os.Getenv("TEST_KUBECONFIG")
	if kubeconfig == "" {
		t.Skip("needs TEST_KUBECONFIG: a kubeconfig of the workshop's cluster")
	}
	target, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	target.QPS = -1
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	found, err := chapters.Find(root, "03")
	if err != nil {
		t.Fatal(err)
	}
	p, err := program.OfChapter(found[0])
	if err != nil {
		t.Fatal(err)
	}
	k := kubectl.Kubectl{Binary: filepath.Join(root, ".workshop", "bin", "kubectl"), Kubeconfig: kubeconfig}
	if err := k.ApplyCRD(t.Context(), p.CRD); err != nil {
		t.Fatal(err)
	}
	binary, err := p.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(found[0].Parts().Sample)
	if err != nil {
		t.Fatal(err)
	}
	var sample unstructured.Unstructured
	if err := yaml.Unmarshal(content, &sample.Object); err != nil {
		t.Fatal(err)
	}
	session, err := Start(t.Context(), Options{
		Programs: []Program{{Name: "03", Built: p, Binary: binary, Flags: append([]string{"-v=4"}, flags...)}},
		Target:   target, Sample: &sample, Recorder: NewRecorder(nil), Kubectl: k, Dir: t.TempDir(), Namespaces: "lenstest-",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	})
	return session
}

// Each fault of the catalogue leaves its trace between the button and what the program did in the
// end. testdata/traces has those lines of each trace that don't depend on the machine's speed.
func TestEachFaultLeavesItsTrace(t *testing.T) {
	session := startSession(t)
	var faults []string
	for _, button := range session.Controls().Buttons {
		if button.Group == "faults" {
			faults = append(faults, button.Action)
		}
	}
	number := 0
	for _, fault := range faults {
		content, err := os.ReadFile(filepath.Join("testdata", "traces", fault+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		// On a busy machine, something else may be the cause, so each fault has three tries.
		var got, missing []string
		for range 3 {
			number++
			got = play(t, session, fault, fmt.Sprintf("foo-%d", number))
			missing = nil
			for want := range strings.Lines(string(content)) {
				if want = strings.TrimSpace(want); !slices.Contains(got, want) {
					missing = append(missing, want)
				}
			}
			if len(missing) == 0 {
				break
			}
		}
		if len(missing) > 0 {
			t.Errorf("%s: the trace lacks %q:\n%s", fault, missing, strings.Join(got, "\n"))
		}
	}
}

// play creates a Foo, scales it while the fault lasts, and returns the trace.
func play(t *testing.T, session *Session, fault, object string) []string {
	t.Helper()
	press := func(action string) {
		t.Helper()
		if _, err := session.Do(t.Context(), Action{Action: action, Object: object}); err != nil {
			t.Fatalf("%s: %s: %v", fault, action, err)
		}
	}
	press("create")
	session.rest(t.Context())
	before := session.Recorder.Last()
	press(fault)
	press("scale")
	time.Sleep(3 * time.Second) // the fault lasts that long
	press(fault)
	for late := time.Now().Add(30 * time.Second); time.Now().Before(late); time.Sleep(50 * time.Millisecond) {
		if slices.Contains(trace(session.Recorder.All(), before), "requests: update deployments 200") {
			break
		}
	}
	session.rest(t.Context())
	return trace(session.Recorder.All(), before)
}

// trace describes all that the first scaling after an item caused, and the items of the fault: a
// sorted list without names and times.
func trace(items []Item, after int) []string {
	byID, effects := map[int]Item{}, map[int][]int{}
	var todo []int
	for _, item := range items {
		byID[item.ID] = item
		for _, cause := range item.Causes {
			effects[cause] = append(effects[cause], item.ID)
		}
		if len(todo) == 0 && item.ID > after && item.Lane == Actions && strings.HasPrefix(item.Label, "Scale") {
			todo = []int{item.ID}
		}
	}
	lines := map[string]bool{}
	seen := map[int]bool{}
	for len(todo) > 0 {
		id := todo[0]
		todo = todo[1:]
		if seen[id] {
			continue
		}
		seen[id] = true
		lines[describe(byID[id])] = true
		todo = append(todo, effects[id]...)
	}
	return slices.Sorted(maps.Keys(lines))
}

// describe returns an item without names and times.
func describe(item Item) string {
	var words []string
	for _, word := range strings.Fields(item.Label) {
		if !strings.Contains(word, "foo-") {
			words = append(words, strings.TrimSuffix(word, ","))
		}
	}
	if item.Lane == Actions {
		words = words[:1] // without the numbers
	}
	line := fmt.Sprintf("%s: %s", item.Lane, strings.Join(words, " "))
	switch {
	case item.Lane == Work && item.Failed:
		line += "failed"
	case (item.Lane == Events || item.Lane == Cache) && item.Until-item.At > 1000:
		line += " after more than a second"
	}
	return strings.TrimSpace(cmp.Or(line, string(item.Lane)))
}
