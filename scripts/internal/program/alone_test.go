package program

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/testkit"
)

// fakeKubectl is a shell script.
func fakeKubectl(t *testing.T, script string) cluster.Kubectl {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "kubectl")
	if err := os.WriteFile(binary, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return cluster.Kubectl{Binary: binary}
}

func TestAnotherDeployment(t *testing.T) {
	for sentence, test := range map[string]struct {
		kind, except string // what is to be deployed, and where
		running      string // the namespace of the running Deployment
		wantFix      string // "": there is no problem
	}{
		"another chapter's controller of Foos": {
			chapters.Foo, "foo-operator-system", "foo-system", "deploy 05 --remove",
		},
		"another chapter's controller in the same namespace": {chapters.Foo, "foo-system", "foo-system", ""},
		"a controller of Foos, and a chapter about TDSets":   {chapters.TDSet, "", "foo-system", ""},
		"chapter 07, and a solved TDSet": {
			chapters.TDSet, "tdset-operator-system", "tdset-system", "deploy 05 --tdset --remove",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			k := fakeKubectl(t, `case "$*" in *" --namespace `+test.running+` "*) echo deployment/a;; esac`)
			err := checkAlone(t.Context(), k, test.kind, test.except)
			var p *problem.Problem
			if errors.As(err, &p) != (test.wantFix != "") || p != nil && !strings.Contains(p.Fix, test.wantFix) {
				t.Errorf("got %v, want the fix %q", err, test.wantFix)
			}
		})
	}
}

// simulated is a cluster with simulated nodes and an audit log.
type simulated struct {
	cluster.Backend
	log string
}

func (c simulated) Nodes() cluster.Nodes { return cluster.Simulated }
func (c simulated) AuditLog() string     { return c.log }

// watch is the audit log's event when a watch of Foos begins or ends. The API server was started in
// second 10.
func watch(stage string, second int, agent, namespace string) string {
	return fmt.Sprintf(`{"stage":%q,"auditID":"a","stageTimestamp":"1970-01-01T00:00:%02d.500000Z","verb":"watch",`+
		`"userAgent":%q,"objectRef":{"resource":"foos","namespace":%q},"responseStatus":{"code":200}}`+"\n",
		stage, second, agent, namespace)
}

func TestAnotherControllerThatWatches(t *testing.T) {
	const begun, ended = "ResponseStarted", "ResponseComplete"
	const other = "03-workqueue/v0.0.0 (linux/amd64) kubernetes/$Format"
	running := watch(begun, 11, other, "")
	for sentence, test := range map[string]struct {
		log       string
		kind      string // "": Foo
		namespace string
		want      bool
	}{
		"another controller watches":              {log: running, want: true},
		"another controller has stopped":          {log: running + watch(ended, 12, other, "")},
		"a watch is older than the API server":    {log: watch(begun, 9, other, "")},
		"kubectl get --watch changes nothing":     {log: watch(begun, 11, "kubectl/v1.36.3 (linux/amd64)", "")},
		"the garbage collector watches all kinds": {log: watch(begun, 11, "kube-controller-manager/v1.36.3", "")},
		"a controller of another kind":            {log: running, kind: "TDSet"},
		"a tour beside a controller of all":       {log: running, namespace: "demo", want: true},
		"a tour beside another namespace":         {log: watch(begun, 11, other, "default"), namespace: "demo"},
	} {
		t.Run(sentence, func(t *testing.T) {
			dir := testkit.Write(t, t.TempDir(), map[string]string{"audit.log": test.log})
			k := fakeKubectl(t, `printf 'go_threads 9\nprocess_start_time_seconds 1.000012e+01\n'`)
			var warnings strings.Builder
			err := CheckOthers(t.Context(), simulated{log: filepath.Join(dir, "audit.log")}, k,
				cmp.Or(test.kind, "Foo"), test.namespace, &warnings)
			got := strings.HasPrefix(warnings.String(), "Warning: 03-workqueue already watches Foos")
			if err != nil || got != test.want || !test.want && warnings.Len() > 0 {
				t.Errorf("error %v, warning %q, want one: %v", err, &warnings, test.want)
			}
		})
	}
}
