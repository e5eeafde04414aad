//go:build e2e

// The migration of VERSIONS.md on a whole cluster: the API server calls the conversion through its
// Service, and trusts the CA that the operator has written into the CRD.

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.com/operators/07-tdset-operator/test/utils"
)

// A client that only knows v1 keeps writing through all stages in which v1 is served. In the end,
// nothing is lost, and nobody converts any more: an object that was still stored in v1 would have no
// windows then.
func TestTheMigration(t *testing.T) {
	namespace := aNamespace(t)
	t.Cleanup(func() { // before the namespace is deleted
		applyStage(t, "3-both-served-v2-stored")
		if err := deploy(); err != nil {
			t.Error(err)
		}
	})
	kubectl(t, "delete", "crd", crd, "--timeout=3m")
	applyStage(t, "1-v1-only")
	kubectl(t, "wait", "crd", crd, "--for=condition=Established", "--timeout=1m")
	eventually(t, "v1 is served", func() bool { return createV1(namespace, "old-0") == nil })
	for i := 1; i < 5; i++ {
		if err := createV1(namespace, fmt.Sprintf("old-%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	written := make(chan error, 1)
	go func() { written <- keepWriting(ctx, namespace) }()

	applyStage(t, "2-both-served-v1-stored")
	eventually(t, "v2 is served, and the operator converts", func() bool {
		starts, err := startsInV2(namespace, "old-1")
		return err == nil && starts == "09:00"
	})
	kubectl(t, "patch", "tdset.v2.schedule.rs/old-1", "-n", namespace, "--type=json", "-p", `[{"op": "replace", "path": "/spec/windows/0/start", "value": "09:30"}]`)
	applyStage(t, "3-both-served-v2-stored")
	eventually(t, "the API server has noticed", func() bool {
		return strings.Contains(kubectl(t, "get", "crd", crd, "-o", "jsonpath={.status.storedVersions}"), "v2")
	})
	eventually(t, "a write changes the stored version", func() bool {
		before := resourceVersion(t, namespace, "old-2")
		kubectl(t, "patch", "tdset.v2.schedule.rs/old-2", "-n", namespace, "--type=merge", "-p", "{}")
		return resourceVersion(t, namespace, "old-2") != before
	})
	for i := range 5 {
		kubectl(t, "patch", fmt.Sprintf("tdset.v2.schedule.rs/old-%d", i), "-n", namespace, "--type=merge", "-p", "{}")
	}
	kubectl(t, "patch", "crd", crd, "--subresource=status", "--type=merge", "-p", `{"status": {"storedVersions": ["v2"]}}`)
	stop()
	if err := <-written; err != nil {
		t.Errorf("a write in v1 failed: %v", err)
	}

	applyStage(t, "4-v2-only")
	eventually(t, "v1 isn't served any more", func() bool {
		output, err := utils.Exec("kubectl", "get", "--raw", "/apis/schedule.rs/v1/namespaces/"+namespace+"/tdsets")
		return err != nil && strings.Contains(output, "NotFound")
	})
	for i, want := range []string{"09:00", "09:30", "09:00", "09:00", "09:00"} {
		if starts, err := startsInV2(namespace, fmt.Sprintf("old-%d", i)); err != nil || starts != want {
			t.Errorf("old-%d starts at %q, want %s (%v)", i, starts, want, err)
		}
	}
}

// applyStage applies a stage's CRD, as VERSIONS.md does.
func applyStage(t *testing.T, stage string) {
	t.Helper()
	kubectl(t, "apply", "--server-side", "--force-conflicts", "-k", filepath.Join("config", "migration", stage))
}

// createV1 creates a TDSet with one window, from 9 to 17.
func createV1(namespace, name string) error {
	tdset := fmt.Sprintf("apiVersion: schedule.rs/v1\nkind: TDSet\nmetadata: {name: %s}\n"+
		"spec: {container: {image: %q, port: 80}, schedulingConfig: [{startTime: 9, endTime: 17, replica: 1}]}\n", name, standIn)
	_, err := utils.RunWith(tdset, "kubectl", "create", "-n", namespace, "-f", "-")
	return err
}

// replicaEnded matches what kubectl prints if the replica that should convert an object has ended.
var replicaEnded = regexp.MustCompile(`conversion webhook .*(EOF|connection refused)\s*$`)

// keepWriting changes a TDSet in v1 until ctx ends, or a write fails. Like any client, it tries again
// if a replica that should have converted the object has just ended.
func keepWriting(ctx context.Context, namespace string) error {
	unanswered := 0
	for n := 1; ; n++ {
		patch := fmt.Sprintf(`{"spec": {"defaultReplica": %d}}`, n%2+1)
		output, err := utils.Exec("kubectl", "patch", "tdset.v1.schedule.rs/old-0", "-n", namespace, "--type=merge", "-p", patch)
		switch {
		case err != nil && unanswered < 3 && replicaEnded.MatchString(output):
			unanswered++
		case err != nil:
			return fmt.Errorf("write %d: %w", n, err)
		case ctx.Err() != nil:
			fmt.Fprintln(os.Stderr, "e2e:", n-unanswered, "writes in v1 succeeded, and", unanswered, "had to be repeated")
			if n < 10 {
				return errors.New("too few to be a load")
			}
			return nil
		}
	}
}

// startsInV2 returns when the TDSet's windows start.
func startsInV2(namespace, name string) (string, error) {
	return utils.Exec("kubectl", "get", "tdset.v2.schedule.rs/"+name, "-n", namespace, "-o", "jsonpath={.spec.windows[*].start}")
}

func resourceVersion(t *testing.T, namespace, name string) string {
	t.Helper()
	return kubectl(t, "get", "tdset.v2.schedule.rs/"+name, "-n", namespace, "-o", "jsonpath={.metadata.resourceVersion}")
}
