package cluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/problem"
)

func TestAComponentThatEndsCancelsTheWait(t *testing.T) {
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
			err := c.whileAlive(t.Context(), func(ctx context.Context) error {
				// No process has pid 0.
				if err := os.WriteFile(filepath.Join(c.kwok(), "pids", "kube-apiserver.pid"), []byte("0"), 0o600); err != nil {
					t.Error(err)
				}
				<-ctx.Done()
				return ctx.Err()
			})
			var p *problem.Problem
			if !errors.As(err, &p) || !strings.Contains(err.Error(), test.want) || p.Log != c.ComponentLog("kube-apiserver") {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestWorkThatSucceeds(t *testing.T) {
	if err := newCluster(t).whileAlive(t.Context(), func(context.Context) error { return nil }); err != nil {
		t.Error(err)
	}
}

func TestLastErrorOfKwokctl(t *testing.T) {
	tests := map[string]struct{ log, want string }{
		"the last error counts": {
			`{"level":"ERROR","msg":"first","err":"a"}` + "\n" + `{"level":"ERROR","msg":"Execute exit","err":"b"}` + "\n" + `{"level":"INFO","msg":"c"}`, "b",
		},
		"there is no error": {`{"level":"INFO","msg":"c"}` + "\nnot JSON", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := lastError(test.log); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestKwokctlsProblem(t *testing.T) {
	for output, want := range map[string]string{
		`{"level":"ERROR","msg":"wait","err":"dial tcp 127.0.0.1:1: connect: connection refused"}`: `kwokctl couldn't create cluster "test"`,
		`{"level":"ERROR","msg":"copy","err":"write /x: no space left on device"}`:                 `kwokctl couldn't create cluster "test", since the disk is full`,
	} {
		var p *problem.Problem
		err := newCluster(t).kwokctlProblem([]string{"create", "cluster"}, output, errors.New("exit status 1"))
		if !errors.As(err, &p) || p.What != want || p.Fix == "" {
			t.Errorf("%s: got %v, want %q", output, err, want)
		}
	}
}
