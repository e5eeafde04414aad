package main

import (
	"bytes"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/operators/scripts/internal/stored"
)

func TestStoredVersionsAreATable(t *testing.T) {
	in := func(version string) metav1.TypeMeta { return metav1.TypeMeta{APIVersion: version} }
	for sentence, test := range map[string]struct {
		objects []stored.Object
		want    string
	}{
		"with namespaces": {
			[]stored.Object{{Namespace: "shop", Name: "web", TypeMeta: in("schedule.rs/v1")}, {Namespace: "a", Name: "b", TypeMeta: in("schedule.rs/v2")}},
			"NAMESPACE   NAME   STORED AS\nshop        web    schedule.rs/v1\na           b      schedule.rs/v2\n",
		},
		"without namespaces": {
			[]stored.Object{{Name: "node-1", TypeMeta: in("v1")}},
			"NAME     STORED AS\nnode-1   v1\n",
		},
		"without objects": {nil, "No objects are stored.\n"},
	} {
		t.Run(sentence, func(t *testing.T) {
			var got bytes.Buffer
			command := newStoredCommand()
			command.SetOut(&got)
			command.SetErr(&got)
			if err := printVersions(command, test.objects); err != nil || got.String() != test.want {
				t.Errorf("got %v:\n%s\nwant:\n%s", err, got.String(), test.want)
			}
		})
	}
}

func TestStoredNeedsOurEtcd(t *testing.T) {
	t.Setenv("WORKSHOP_ROOT", t.TempDir())
	t.Setenv("WORKSHOP_CLUSTER", "")
	for nodes, want := range map[string]string{
		"kind": "its etcd isn't reachable from here",
		"kwok": `cluster "workshop" isn't up`,
	} {
		t.Setenv(nodesVariable, nodes)
		if code, stderr := runAndRead(t, "stored", "tdsets"); code != exitFailed || !strings.Contains(stderr, want) {
			t.Errorf("on %s: exit code %d, stderr:\n%s", nodes, code, stderr)
		}
	}
}
