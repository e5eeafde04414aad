// The upgrade: what the last release stored, compared with what this one wants. Each folder in
// testdata/release has a TDSet, and its Deployment, Service and status as the last release wanted
// them at noon. For a new folder, write its tdset.yaml, and -update writes the rest.

package controller

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

var update = flag.Bool("update", false, "accept what this release wants: write it into testdata/release")

const advice = `This release wants something else than the last one, so the upgrade changes these objects for every TDSet of every
user, at once or at its next transition. A change below spec.template also restarts all Pods. Undo the change, or
follow "Upgrade it" in more/packaging.md, and then accept it:
    go test ./internal/controller -run TestUpgrade -update`

func TestUpgrade(t *testing.T) {
	folders, err := filepath.Glob("testdata/release/*")
	if err != nil || len(folders) == 0 {
		t.Fatalf("no releases: %v", err)
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Cleanup(func() {
				if t.Failed() {
					t.Log(advice)
				}
			})
			tdset := readTDSet(t, filepath.Join(folder, "tdset.yaml"))
			state, err := stateAt(tdset, noon)
			must(t, err)

			// What this release would send is, to the byte, what the last one has sent.
			compareWithRelease(t, filepath.Join(folder, "deployment.yaml"), desiredDeployment(tdset, state.Replicas))
			if tdset.Spec.Service != nil {
				compareWithRelease(t, filepath.Join(folder, "service.yaml"), desiredService(tdset))
			}
			settled := seenAt(noon, tdset, deploymentOf(tdset, scaledTo(state.Replicas), withPods(state.Replicas)))
			compareWithRelease(t, filepath.Join(folder, "status.yaml"), desiredStatus(tdset, settled, earlier))

			// It finds what the last one has stored, and writes nothing.
			c := newCluster(t, stored(t, folder, tdset)...)
			if writes, _ := c.settle(); len(writes) > 0 {
				t.Errorf("after the upgrade, the operator sends %q, want nothing", writes)
			}
		})
	}
}

// compareWithRelease fails the test if an object isn't the one in a file.
func compareWithRelease(t *testing.T, file string, object any) {
	t.Helper()
	got, err := yaml.Marshal(object)
	must(t, err)
	if *update {
		must(t, os.WriteFile(file, got, 0o644))
	}
	want, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a new case has no file
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("%s (-last release, +this one):\n%s", file, diff)
	}
}

// stored returns the objects that the last release left behind: tdset with its status, and its
// objects, with all Pods available.
func stored(t *testing.T, folder string, tdset *schedulev2.TDSet) []client.Object {
	t.Helper()
	var deployment appsv1.Deployment
	readYAML(t, filepath.Join(folder, "status.yaml"), &tdset.Status)
	readYAML(t, filepath.Join(folder, "deployment.yaml"), &deployment)
	withPods(replicasOf(&deployment))(&deployment)
	objects := []client.Object{tdset, &deployment}
	if tdset.Spec.Service != nil {
		var service corev1.Service
		readYAML(t, filepath.Join(folder, "service.yaml"), &service)
		objects = append(objects, &service)
	}
	return objects
}

// readTDSet reads a TDSet of either version, as the operator gets it from the API server: in v2.
func readTDSet(t *testing.T, file string) *schedulev2.TDSet {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	tdset := &schedulev2.TDSet{}
	if strings.Contains(string(text), "apiVersion: "+schedulev1.GroupVersion.String()+"\n") {
		var old schedulev1.TDSet
		readYAML(t, file, &old)
		must(t, old.ConvertTo(tdset))
	} else {
		readYAML(t, file, tdset)
	}
	return tdset
}

// readYAML decodes a file into object. A field that object's type doesn't have is an error.
func readYAML(t *testing.T, file string, object any) {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	if err := yaml.UnmarshalStrict(text, object); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
