package cluster

import (
	"errors"
	"os"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/problem"
)

func TestAComponentThatEnds(t *testing.T) {
	tests := map[string]struct {
		log  string
		want string // in the sentence
	}{
		"the last error is shown, not a later line": {
			"I1121 03:21:22.1 fine\nE1121 03:21:22.2 broken\nI1121 03:21:22.3 bye\n",
			"kube-apiserver of cluster \"test\" ended while the cluster started: its log says: E1121 03:21:22.2 broken",
		},
		"etcd's JSON is recognized": {
			`{"level":"fatal","msg":"write failed","error":"write /x: no space left on device"}` + "\n",
			"since the disk is full",
		},
		"a refused connection isn't explained as a missing module": {
			"E1121 03:21:22.2 lost lease: dial tcp 127.0.0.1:1: connect: connection refused\n",
			"ended while the cluster started: its log says: E1121",
		},
		"an empty log": {
			"", "its log says: ",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			if err := os.WriteFile(c.ComponentLog("kube-apiserver"), []byte(test.log), 0o600); err != nil {
				t.Fatal(err)
			}
			err := c.ended("kube-apiserver")
			var p *problem.Problem
			if !errors.As(err, &p) || !strings.Contains(err.Error(), test.want) || p.Log != c.ComponentLog("kube-apiserver") {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
