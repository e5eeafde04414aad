//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/operators/07-tdset-operator/test/utils"
)

// A TDSet's life: it becomes available, its Service answers, and when it is deleted, it goes after
// its Pods.
func TestATDSet(t *testing.T) { aLife(t) }

func aLife(t *testing.T) {
	const ofTDSet = "schedule.rs/tdset=web"
	namespace := aNamespace(t)
	apply(t, namespace, "web", always(standIn, 2)+", service: {port: 8080}")

	kubectl(t, "wait", "-n", namespace, "tdset/web", "--for=condition=Ready", "--timeout=3m")
	names := pods(t, namespace, ofTDSet)
	if len(names) != 2 {
		t.Errorf("the Pods are %q, want 2", names)
	}
	address := kubectl(t, "get", "-n", namespace, "service/web", "-o", "jsonpath={.spec.clusterIP}")
	answer := askFromPod(t, namespace, "client", "default", "http://"+address+":8080/")
	by, _, _ := strings.Cut(strings.TrimPrefix(answer, "200 OK\nhost="), " ")
	if !slices.Contains(names, by) {
		t.Errorf("the Service's answer is %q, want one from a Pod in %q", answer, names)
	}

	kubectl(t, "delete", "-n", namespace, "tdset/web", "--timeout=3m") // returns when it is gone
	atWork := kubectl(t, "get", "pods", "-n", namespace, "-l", ofTDSet, "--field-selector=status.phase!=Succeeded,status.phase!=Failed", "-o", "name")
	if strings.Contains(atWork, "pod/") { // a Pod may outlive its container for a moment
		t.Errorf("the TDSet is gone, but these Pods are still running:\n%s", atWork)
	}
	kubectl(t, "wait", "-n", namespace, "deployment/web", "service/web", "--for=delete", "--timeout=1m") // by the garbage collector
}

// The sample of the operator that this one replaces, with an image that the nodes have.
func TestTheSample(t *testing.T) {
	root, err := utils.ProjectDir()
	if err != nil {
		t.Fatal(err)
	}
	sample, err := os.ReadFile(filepath.Join(root, "config/samples/schedule_v2_tdset.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	kubectl(t, "apply", "-f", "config/samples/namespace.yaml")
	t.Cleanup(func() { kubectl(t, "delete", "-k", "config/samples", "--timeout=3m") })
	here := strings.Replace(string(sample), "image: crccheck/hello-world\n", "image: "+standIn+"\n", 1)
	if output, err := utils.RunWith(here, "kubectl", "apply", "-f", "-"); err != nil || !strings.Contains(output, "no window includes the time from 00:00 to 01:00") {
		t.Fatalf("kubectl apply printed\n%s\nwant a warning about the time from 00:00 to 01:00, and no error", output)
	}

	kubectl(t, "wait", "-n", "temp", "tdset/tdset-hello-world", "--for=condition=Ready", "--timeout=3m")
	names := pods(t, "temp", "schedule.rs/tdset=tdset-hello-world")
	if len(names) < 2 {
		t.Errorf("the Pods are %q, want at least 2, the smallest number of any hour", names)
	}
	for _, pod := range names {
		if _, err := utils.Exec("kubectl", "get", "--raw", "/api/v1/namespaces/temp/pods/"+pod+":8000/proxy/"); err != nil {
			t.Errorf("the Pod %s doesn't answer: %v", pod, err)
		}
	}
}
