// F3 and F7: faults that are not the proxy's to make.

package acceptance

import (
	"errors"
	"os"
	"testing"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/contract"
)

// TestAPIServerRestart is F3. It runs alone, since all share the API server that it kills.
func TestAPIServerRestart(t *testing.T) {
	faultAlone(t, chapters.Foo, "F3", func(t *testing.T, s *scenario) {
		if inCluster() {
			s.settle()
			s.restartAPIServer(func() {})
			s.upheaval()
			s.judge(t, judgements())
			return
		}
		f := s.throughProxy()
		f.settle()
		f.restartAPIServer(func() {})
		f.upheaval()
		f.judge(t, judgements())
	})
}

// restartAPIServer kills the API server, and starts it again after what happens meanwhile.
func (s *scenario) restartAPIServer(meanwhile func()) {
	s.Helper()
	if kindNode() != "" {
		s.restartAPIServerOnNode(meanwhile)
		return
	}
	c := cluster.New("../..", os.Getenv("WORKSHOP_TEST_BIN"), os.Getenv("TEST_CLUSTER"))
	if c.Kubeconfig() != os.Getenv("TEST_KUBECONFIG") {
		s.Fatal("to kill the API server, name the workshop's cluster in TEST_CLUSTER and its programs' folder in WORKSHOP_TEST_BIN")
	}
	s.must(c.Kill(s.Context(), "kube-apiserver"))
	meanwhile()
	_, err := c.Up(s.Context(), cluster.UpOptions{})
	s.must(err)
}

// TestTwoCopies is F7: the one that leads is killed, and doesn't come back.
func TestTwoCopies(t *testing.T) {
	faultAlone(t, chapters.Foo, "F7", func(t *testing.T, s *scenario) {
		if inCluster() {
			s.electTwo()
			s.settle()
			s.losesLeader(s.upheaval)
			s.judge(t, judgements())
			return
		}
		f := s.throughProxy()
		f.flags = f.elects()
		f.settle()
		second := f.secondCopy(func(second *faulty) { second.start() })
		f.operator.Destroy()
		f.upheaval()
		f.judge(t, judgements())
		if len(second.proxy.Writes()) == 0 {
			t.Error("the second copy has done nothing")
		}
	})
}

// secondCopy starts a second copy, and shows that it waits for its turn.
func (f *faulty) secondCopy(start func(*faulty)) *faulty {
	f.Helper()
	second := f.another()
	second.flags = f.flags
	start(second)
	second.eventually("the second copy asks who leads", func() error {
		if count(second.proxy.Requests(), "leases") == 0 {
			return errors.New("not yet")
		}
		return nil
	})
	f.sentinel("meanwhile")
	if writes := second.proxy.Writes(); len(writes) > 0 {
		f.Errorf("both work at once: the second copy sent %v", writes)
	}
	return second
}

// elects are the flags by which copies of the program agree on a leader, within seconds.
func (s *scenario) elects() []string {
	return []string{"--leader-elect", "--leader-election-namespace", s.home,
		"--leader-election-lease-duration", "3s", "--leader-election-renew-deadline", "2s", "--leader-election-retry-period", "500ms"}
}

// faultAlone runs the test of a fault for those of that kind's programs that hold the promises through it.
func faultAlone(t *testing.T, kind, name string, test func(t *testing.T, s *scenario)) {
	fault, err := contract.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	held := func(j judged) bool { return j.holds(name) }
	alone(t, kind, judged{Contract: contract.Of(kind)}.faultName(fault[0]), held, test)
}
