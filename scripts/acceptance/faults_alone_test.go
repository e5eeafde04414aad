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
		f.flags = f.elects()
		f.settle()
		first := f.operator
		second := f.another()
		second.flags = f.flags
		second.start()
		second.eventually("the second copy asks who leads", func() error {
			if count(second.proxy.Requests(), "leases") == 0 {
				return errors.New("not yet")
			}
			return nil
		})
		f.sentinel("meanwhile")
		if writes := second.proxy.Writes(); len(writes) > 0 {
			t.Errorf("both work at once: the second copy sent %v", writes)
		}
		first.Destroy()
		f.upheaval()
		f.judge(t)
		if len(second.proxy.Writes()) == 0 {
			t.Error("the second copy has done nothing")
		}
	})
}

// elects are the flags by which copies of the program agree on a leader, within seconds.
func (s *scenario) elects() []string {
	return []string{"--leader-elect", "--leader-election-namespace", s.namespace,
		"--leader-election-lease-duration", "3s", "--leader-election-renew-deadline", "2s", "--leader-election-retry-period", "500ms"}
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
