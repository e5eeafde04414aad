package lens

// A session with chapter 03's program on a real API server.

import (
	"cmp"
	"errors"
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
	"example.com/operators/scripts/internal/testkit"
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
	for number, fault := range faults {
		content, err := os.ReadFile(filepath.Join("testdata", "traces", fault+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		got := play(t, session, fault, fmt.Sprintf("foo-%d", number+1))
		var missing []string
		for want := range strings.Lines(string(content)) {
			if want = strings.TrimSpace(want); !slices.Contains(got, want) {
				missing = append(missing, want)
			}
		}
		isError := func(item Item) bool { return item.Lane == Events && strings.HasPrefix(item.Label, "ERROR ") }
		if fault == "F2b" && !slices.ContainsFunc(session.Recorder.All(), isError) {
			t.Error("F2b: the 410 that ended the watch isn't shown")
		}
		if len(missing) > 0 {
			t.Errorf("%s: the trace lacks %q:\n%s", fault, missing, strings.Join(got, "\n"))
		}
	}
}

// hits is how often a fault must strike before it ends. The default is once.
var hits = map[string]int{"F4a": 3, "F4c": 3, "F8": 3}

// play creates a Foo, scales it, ends the fault when it has struck, and returns the trace.
func play(t *testing.T, session *Session, fault, object string) []string {
	t.Helper()
	press := func(action string) {
		t.Helper()
		if _, err := session.Do(t.Context(), Action{Action: action, Object: object}); err != nil {
			t.Fatalf("%s: %s: %v", fault, action, err)
		}
	}
	press("create")
	testkit.Await(t, time.Minute, "the new Foo is Ready", func() error {
		if !slices.ContainsFunc(session.Recorder.All(), func(item Item) bool {
			return item.Lane == Objects && strings.HasSuffix(item.Object, "/"+object) && strings.HasPrefix(item.Object, "foos ") && strings.Contains(item.Detail, `"status": "True"`)
		}) {
			return errors.New("its status doesn't say so")
		}
		return nil
	})
	session.rest(t.Context())
	before := session.Recorder.Last()
	traced := func() []string { return trace(session.Recorder.All(), before) }
	press(fault)
	began := session.programs[0].faults[fault]
	press("scale")
	testkit.Await(t, time.Minute, fault+" has struck, and the new version is stored", func() error {
		if got, want := began.Hits(), cmp.Or(hits[fault], 1); got < want {
			return fmt.Errorf("%d hits, want %d", got, want)
		}
		if got := traced(); !slices.Contains(got, "objects: foos") {
			return fmt.Errorf("the trace is %q", got)
		}
		return nil
	})
	press(fault)
	testkit.Await(t, time.Minute, "after "+fault+", the Deployment is scaled", func() error {
		for _, item := range session.Recorder.All() {
			if item.ID > before && item.Lane == Requests && strings.HasPrefix(item.Label, "update deployments") && !item.Failed {
				return nil
			}
		}
		return errors.New("no such request")
	})
	session.rest(t.Context())
	return traced()
}

// trace describes all that the first scaling after an item caused: a sorted list without names and
// times.
func trace(items []Item, after int) []string {
	byID, effects := map[int]Item{}, map[int][]int{}
	var todo []int
	var end Item // of the fault
	for _, item := range items {
		byID[item.ID] = item
		for _, cause := range item.Causes {
			effects[cause] = append(effects[cause], item.ID)
		}
		switch {
		case item.ID <= after || item.Lane != Actions:
		case len(todo) == 0 && strings.HasPrefix(item.Label, "Scale"):
			todo = []int{item.ID}
		case strings.Contains(item.Label, " ends for "):
			end = item
		}
	}
	lines, seen := map[string]bool{}, map[int]bool{}
	for len(todo) > 0 {
		id := todo[0]
		todo = todo[1:]
		if seen[id] {
			continue
		}
		seen[id] = true
		lines[describe(byID[id], end)] = true
		todo = append(todo, effects[id]...)
	}
	return slices.Sorted(maps.Keys(lines))
}

// describe returns an item without names and times.
func describe(item, end Item) string {
	var words []string
	for _, word := range strings.Fields(item.Label) {
		if !strings.Contains(word, "foo-") {
			words = append(words, strings.TrimSuffix(word, ","))
		}
	}
	if item.Lane == Actions {
		words = words[:1] // without the numbers
	}
	line := strings.TrimSpace(fmt.Sprintf("%s: %s", item.Lane, strings.Join(words, " ")))
	switch {
	case item.Lane == Work && item.Failed:
		line += " failed"
	case (item.Lane == Events || item.Lane == Cache) && item.At < end.At && item.Until > end.At:
		line += " until the fault ended"
	}
	return line
}

// The name that somebody else takes is that of the next Foo.
func TestTakeTheName(t *testing.T) {
	session := startSession(t)
	for _, action := range []string{"take", "create"} {
		if _, err := session.Do(t.Context(), Action{Action: action}); err != nil {
			t.Fatalf("%s: %v", action, err)
		}
	}
	testkit.Await(t, time.Minute, "the Foo says that the Deployment isn't its own", func() error {
		items := session.Recorder.All()
		last := slices.IndexFunc(items, func(item Item) bool {
			return item.Lane == Objects && item.Object == "foos lenstest-03/foo-1" && strings.Contains(item.Detail, `"status": "False"`)
		})
		if last < 0 {
			return errors.New("no such status")
		}
		return nil
	})
}
