// F3 and F7: faults that are not the proxy's to make.

package acceptance

import (
	"errors"
	"os"
	"testing"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/cluster"
)

// TestAPIServerRestart is F3. It runs alone, since all share the API server that it kills.
func TestAPIServerRestart(t *testing.T) {
	faultAlone(t, "F3", func(t *testing.T, s *scenario) {
		c := cluster.New("../..", os.Getenv("WORKSHOP_TEST_BIN"), os.Getenv("TEST_CLUSTER"))
		if c.Kubeconfig() != os.Getenv("TEST_KUBECONFIG") {
			t.Fatal("to kill the API server, name the workshop's cluster in TEST_CLUSTER and its programs' folder in WORKSHOP_TEST_BIN")
		}
		f := s.throughProxy()
		f.settle()
		f.must(c.Kill(t.Context(), "kube-apiserver"))
		_, err := c.Up(t.Context(), cluster.UpOptions{})
		f.must(err)
		f.upheaval()
		f.judge(t)
	})
}

// TestTwoCopies is F7: the one that leads is killed, and doesn't come back.
func TestTwoCopies(t *testing.T) {
	faultAlone(t, "F7", func(t *testing.T, s *scenario) {
		f := s.throughProxy()
		for _, args := range [][]string{
			{"create", "role", "leases", "--verb", "get,create,update", "--resource", "leases"},
			{"create", "rolebinding", "leases", "--role", "leases", "--serviceaccount", f.namespace + ":foo-controller"},
		} {
			_, err := f.kubectl.Run(t.Context(), append([]string{"--namespace", f.namespace}, args...)...)
			f.must(err)
		}
		f.flags = []string{"--leader-elect", "--leader-election-namespace", f.namespace,
			"--leader-election-lease-duration", "3s", "--leader-election-renew-deadline", "2s", "--leader-election-retry-period", "500ms"}
		f.settle()
		first := f.operator
		f.start()
		f.eventually("the second copy knows that the first one leads", func() error {
			if !f.operator.says("There is a leader") {
				return errors.New("not yet")
			}
			return nil
		})
		if f.operator.says("Caches are synced") {
			t.Error("both work at once")
		}
		first.Destroy()
		f.upheaval()
		f.judge(t)
		if !f.operator.says("Caches are synced") {
			t.Error("the second copy has done nothing")
		}
	})
}

// faultAlone runs the test of a fault for the chapters that hold the promises through it.
func faultAlone(t *testing.T, name string, test func(t *testing.T, s *scenario)) {
	fault, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	held := func(chapter chapters.Chapter) bool { return holds(chapter, name) }
	alone(t, name+" "+fault[0].What, held, test)
}
