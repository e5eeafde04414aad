package lens

// A session with chapter 03's program on a real API server.

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/program"
	"example.com/operators/scripts/internal/testkit"
)

// startSession starts chapter 03's program on the test cluster. It skips the test if there is none.
func startSession(t *testing.T) *Session {
	t.Helper()
	target, _ := testkit.Cluster(t)
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
	binary, err := p.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	session, err := Start(t.Context(), Options{
		Programs: []Program{{Name: "03", Chapter: found[0], Built: p, Binary: binary}}, Namespaces: "lenstest-",
		Target: target, Dir: t.TempDir(),
		Kubectl: cluster.Kubectl{
			Binary: filepath.Join(root, ".workshop", "bin", "kubectl"), Kubeconfig: os.Getenv("TEST_KUBECONFIG"),
		},
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

// A Foo is created and scaled while three writes fail. A chain of causes leads from the button to the
// failures, the retries, and the write that succeeds.
func TestASession(t *testing.T) {
	session := startSession(t)
	press := func(action string) {
		t.Helper()
		if err := session.Do(t.Context(), Action{Action: action, Object: session.oldest()}); err != nil {
			t.Fatalf("%s: %v", action, err)
		}
		session.rest(t.Context())
	}
	press("create")
	testkit.Await(t, time.Minute, "the new Foo is Ready", func() error {
		if !slices.ContainsFunc(session.Recorder.All(), func(item Item) bool {
			return item.Object == "foos lenstest-03/foo-1" && strings.Contains(item.Detail, `"status": "True"`)
		}) {
			return errors.New("its status doesn't say so")
		}
		return nil
	})
	press("F4a")
	press("scale")
	press("F4a") // ends
	for _, want := range []Item{
		{Lane: Objects, Label: "foos lenstest-03/foo-1"},
		{Lane: Events, Label: "MODIFIED foos lenstest-03/foo-1"},
		{Lane: Requests, Label: "update deployments lenstest-03/foo-1 500", Failed: true},
		{Lane: Work, Label: "lenstest-03/foo-1", Failed: true},
		{Lane: Queue, Label: "lenstest-03/foo-1, failure 2", Failed: true},
		{Lane: Requests, Label: "update deployments lenstest-03/foo-1 200"},
		{Lane: Objects, Label: "deployments lenstest-03/foo-1"},
	} {
		testkit.Await(t, time.Minute, fmt.Sprintf("scaling has caused %+v", want), func() error {
			var others []string
			for _, item := range causedByScale(session.Recorder.All()) {
				if item.Lane == want.Lane && item.Label == want.Label && item.Failed == want.Failed {
					return nil
				}
				others = append(others, item.Label)
			}
			return fmt.Errorf("it has caused %q", others)
		})
	}
	press("kill")
	press("stop")
	press("stop") // starts it again
	press("delete")
	if session.oldest() != "" {
		t.Error("the Foo is still there")
	}
}

// causedByScale returns all that pressing Scale has caused.
func causedByScale(items []Item) (caused []Item) {
	ids := map[int]bool{}
	for found := true; found; {
		found = false
		for _, item := range items {
			because := slices.ContainsFunc(item.Causes, func(cause int) bool { return ids[cause] })
			if !ids[item.ID] && (because || item.Lane == Actions && strings.HasPrefix(item.Label, "Scale ")) {
				ids[item.ID], found = true, true
				caused = append(caused, item)
			}
		}
	}
	return caused
}
