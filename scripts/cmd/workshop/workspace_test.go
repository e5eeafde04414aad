package main

import (
	"cmp"
	"errors"
	"testing"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/kind"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/testfiles"
)

// Which cluster is meant: what the user says, or else one of kind, if there is one.
func TestTheCluster(t *testing.T) {
	for sentence, test := range map[string]struct {
		on     string
		exists bool // one of kind
		want   cluster.Nodes
	}{
		"nothing said, nothing there":            {"", false, cluster.Simulated},
		"nothing said, and one of kind is there": {"", true, cluster.Containers},
		"kind, which isn't there yet":            {"kind", false, cluster.Containers},
		"kwok, though one of kind is there":      {"kwok", true, cluster.Simulated},
		"nobody knows that one":                  {"minikube", false, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			root := t.TempDir()
			if test.exists {
				testfiles.Write(t, root, map[string]string{".workshop/kind/mine/made": "id"})
			}
			t.Setenv("WORKSHOP_ROOT", root)
			t.Setenv("WORKSHOP_CLUSTER", "mine")
			t.Setenv(nodesVariable, test.on)
			c, err := theCluster()
			if test.want == "" {
				if err == nil {
					t.Errorf("got %v, want an error", c)
				}
				return
			}
			if err != nil || c.Nodes() != test.want || c.Name() != "mine" {
				t.Errorf("got %v, error %v, want one on %s", c, err, test.want)
			}
		})
	}
}

func TestWhatIsForKindAlone(t *testing.T) {
	for sentence, test := range map[string]struct {
		refused func() error
		want    string
	}{
		"a node image": {func() error { _, err := clusterToUp(false, "kindest/node:v1"); return err }, "--image is for clusters of kind"},
		"the stand-in": {func() error {
			c, err := theCluster()
			return cmp.Or(err, loadStandIn(t.Context(), c))
		}, "--stand-in is for clusters of kind: on simulated nodes nothing is pulled"},
		"a node image for tests":   {func() error { return testableOn("", false, "kindest/node:v1") }, "--image is for clusters of kind"},
		"not some promises' tests": {func() error { return testableOn(cluster.Containers, true, "") }, "--only is for simulated nodes"},
		"a deployment":             {func() error { _, err := ofKind(); return err }, "there is no cluster of kind: simulated nodes run no containers"},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Setenv("WORKSHOP_ROOT", t.TempDir())
			t.Setenv("WORKSHOP_CLUSTER", "")
			t.Setenv(nodesVariable, "")
			var p *problem.Problem
			if err := test.refused(); !errors.As(err, &p) || p.What != test.want || p.Mend == "" {
				t.Errorf("got %v, want %q and its mend", err, test.want)
			}
		})
	}
}

func TestTheImageIsForTheClusterOfKind(t *testing.T) {
	t.Setenv("WORKSHOP_ROOT", t.TempDir())
	t.Setenv("WORKSHOP_CLUSTER", "")
	c, err := clusterToUp(true, "kindest/node:v1")
	if made, ofKind := c.(*kind.Cluster); err != nil || !ofKind || made.Image != "kindest/node:v1" {
		t.Errorf("got %+v, error %v", c, err)
	}
}
