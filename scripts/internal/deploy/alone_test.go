package deploy

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/testkit"
)

// fakeCluster has simulated nodes and an audit log.
type fakeCluster struct {
	cluster.Backend
	log string
}

func (c fakeCluster) Nodes() cluster.Nodes { return cluster.Simulated }
func (c fakeCluster) AuditLog() string     { return c.log }

// watch is the audit log's event when a watch of Foos begins or ends. The API server was started in
// second 10.
func watch(stage, id string, second int, agent, namespace string) string {
	return fmt.Sprintf(`{"stage":%q,"auditID":%q,"stageTimestamp":"1970-01-01T00:00:%02d.500000Z","verb":"watch","userAgent":%q,`+
		`"objectRef":{"resource":"foos","namespace":%q},"responseStatus":{"code":200}}`, stage, id, second, agent, namespace)
}

func TestCheckWarnsOfAnotherController(t *testing.T) {
	const begun, ended = "ResponseStarted", "ResponseComplete"
	const other = "03-workqueue/v0.0.0 (linux/amd64) kubernetes/$Format"
	for sentence, test := range map[string]struct {
		log       []string
		kind      string // "": Foo
		namespace string
		want      bool
	}{
		"another controller watches":                      {log: []string{watch(begun, "a", 11, other, "")}, want: true},
		"another controller has stopped":                  {log: []string{watch(begun, "a", 11, other, ""), watch(ended, "a", 12, other, "")}},
		"a watch is older than the API server":            {log: []string{watch(begun, "a", 9, other, "")}},
		"kubectl get --watch changes nothing":             {log: []string{watch(begun, "a", 11, "kubectl/v1.36.3 (linux/amd64)", "")}},
		"the garbage collector watches all kinds":         {log: []string{watch(begun, "a", 11, "kube-controller-manager/v1.36.3 (linux/amd64)", "")}},
		"a controller of another kind":                    {log: []string{watch(begun, "a", 11, other, "")}, kind: "TDSet"},
		"a tour beside a controller of all namespaces":    {log: []string{watch(begun, "a", 11, other, "")}, namespace: "demo", want: true},
		"a tour beside a controller of another namespace": {log: []string{watch(begun, "a", 11, other, "default")}, namespace: "demo"},
	} {
		t.Run(sentence, func(t *testing.T) {
			dir := testkit.Write(t, t.TempDir(), map[string]string{
				"audit.log": strings.Join(test.log, "\n") + "\n",
				"kubectl":   "#!/bin/sh\nprintf 'go_threads 9\\nprocess_start_time_seconds 1.000012e+01\\n'\n",
			})
			if err := os.Chmod(filepath.Join(dir, "kubectl"), 0o755); err != nil {
				t.Fatal(err)
			}
			var warnings strings.Builder
			err := CheckOthers(t.Context(), fakeCluster{log: filepath.Join(dir, "audit.log")},
				cluster.Kubectl{Binary: filepath.Join(dir, "kubectl")}, cmp.Or(test.kind, "Foo"), test.namespace, &warnings)
			if err != nil {
				t.Fatal(err)
			}
			if got := warnings.String(); strings.HasPrefix(got, "Warning: 03-workqueue already watches Foos") != test.want || !test.want && got != "" {
				t.Errorf("the warning is %q, want one: %v", got, test.want)
			}
		})
	}
}
