// F3, F6c and F7: faults of the API server and of a program's replicas.

package acceptance

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/contract"
	"example.com/operators/scripts/internal/faultproxy"
	"example.com/operators/scripts/internal/program"
)

// TestAPIServerRestart is F3. Nothing else runs beside it, because all tests share the API server
// that it kills. It kills it once for all programs. On kind, which has no room for all of them at
// once, it kills it once for each.
func TestAPIServerRestart(t *testing.T) {
	name, holds := heldFault(t, chapters.Foo, "F3")
	env := testEnvironment(t)
	all := newGathering(t, len(env.programsFor(chapters.Foo, holds)))
	run := sideBySide
	if kindNode() != "" {
		run = alone
	}
	run(t, chapters.Foo, name, holds, func(t *testing.T, s *scenario) {
		settled := all
		if kindNode() != "" {
			settled = newGathering(t, 1)
		}
		arrive := settled.join(t)
		if !inCluster() {
			s = s.throughProxy().scenario
		}
		s.settle()
		arrive(func() { s.restartAPIServer(func() {}) })
		s.upheaval()
		s.judge(t, judgements())
	})
}

// gathering makes parallel tests wait for each other, and then does something once for all.
type gathering struct {
	missing sync.WaitGroup
	once    sync.Once
}

// newGathering is for that number of tests, which must all be able to run at once.
func newGathering(t *testing.T, tests int) *gathering {
	t.Helper()
	if atOnce, err := strconv.Atoi(flag.Lookup("test.parallel").Value.String()); err != nil || atOnce < tests {
		t.Fatalf("%d tests wait for each other: run them with -parallel=%[1]d or more", tests)
	}
	g := &gathering{}
	g.missing.Add(tests)
	return g
}

// join returns a function that waits until all tests have called it, and then calls do once. It
// doesn't wait for a test that fails earlier.
func (g *gathering) join(t *testing.T) (arrive func(do func())) {
	arrived := sync.OnceFunc(g.missing.Done)
	t.Cleanup(arrived)
	return func(do func()) {
		arrived()
		g.missing.Wait()
		g.once.Do(do)
	}
}

// restartAPIServer kills the API server, calls meanwhile, and starts it again.
func (s *scenario) restartAPIServer(meanwhile func()) {
	s.Helper()
	if kindNode() != "" {
		s.restartAPIServerOnNode(meanwhile)
		return
	}
	bin, err := filepath.EvalSymlinks(os.Getenv("WORKSHOP_TEST_BIN"))
	s.must(err)
	kubeconfig, err := filepath.EvalSymlinks(os.Getenv("TEST_KUBECONFIG"))
	s.must(err)
	c := cluster.New("../..", bin, os.Getenv("TEST_CLUSTER"))
	if c.Kubeconfig() != kubeconfig {
		s.Fatal("to kill the API server, set TEST_CLUSTER to the workshop's cluster and WORKSHOP_TEST_BIN to its programs' folder")
	}
	s.must(c.Kill(s.Context(), "kube-apiserver"))
	meanwhile()
	_, err = c.Up(s.Context(), cluster.UpOptions{})
	s.must(err)
}

// TestTwoReplicas is F7: the leader is killed, and not started again.
func TestTwoReplicas(t *testing.T) {
	name, holds := heldFault(t, chapters.Foo, "F7")
	sideBySide(t, chapters.Foo, name, holds, func(t *testing.T, s *scenario) {
		if inCluster() {
			s.electTwo()
			s.settle()
			s.losesLeader(s.upheaval)
			s.judge(t, judgements())
			return
		}
		s.detectRaces()
		f := s.throughProxy()
		f.flags = f.elects()
		f.settle()
		second := f.secondReplica(func(second *faulty) { second.start() })
		f.operator.Destroy()
		f.upheaval()
		f.judge(t, judgements())
		if len(second.proxy.Writes()) == 0 {
			t.Error("the second replica has written nothing")
		}
	})
}

// TestFrozenLease is F6c: the leader can't renew its lease, but its other requests are answered. It
// must stop working before the other replica starts.
func TestFrozenLease(t *testing.T) {
	name, holds := heldFault(t, chapters.Foo, "F6c")
	sideBySide(t, chapters.Foo, name, holds, func(t *testing.T, s *scenario) {
		f := s.throughProxy()
		f.flags = f.elects()
		f.settle()
		f.leaseFreezes(func(second *faulty) { second.start() }, f.upheaval)
		f.judge(t, judgements())
	})
}

// leaseFreezes starts a second replica, freezes the first one's lease, calls meanwhile, and gives
// both work until the second one has taken over. According to the audit log, the first one's last
// write must be answered before the API server received the second one's first.
func (f *faulty) leaseFreezes(start func(second *faulty), meanwhile func()) {
	f.Helper()
	log := audit.Log{Path: f.auditLog}
	f.must(log.SkipToEnd())
	second := f.secondReplica(func(second *faulty) {
		// The audit log tells replicas apart by their User-Agent, which begins with the program's
		// name.
		name := second.program.Name
		second.program.Name += "-second"
		second.binaries = second.TempDir()
		f.must(os.Symlink(filepath.Join(f.binaries, name), filepath.Join(second.binaries, second.program.Name)))
		start(second)
	})
	f.hits(f.proxy.Hang(faultproxy.Resource("leases")), 1)
	meanwhile()
	drift := 2
	f.eventually("the second replica works", func() error {
		drift = 5 - drift
		f.patchDeployment("drifted", fmt.Sprintf(`{"spec":{"replicas":%d}}`, drift))
		if len(second.proxy.Writes()) == 0 {
			return errors.New("it has written nothing")
		}
		return nil
	})
	requests, err := log.Requests(audit.ServiceAccount(f.home, program.ServiceAccount))
	f.must(err)
	var last, first audit.Request
	for _, request := range requests {
		switch {
		case !request.IsWrite() || request.Resource == "leases" || request.Resource == "events":
		case request.Client() == second.program.Name:
			if first.Received.IsZero() || request.Received.Before(first.Received) {
				first = request
			}
		case request.Answered.After(last.Answered):
			last = request
		}
	}
	if last.Answered.IsZero() || first.Received.IsZero() || !last.Answered.Before(first.Received) {
		f.Errorf("both worked at once: the first replica's last write was answered at %v (%s), and the second one's first was received at %v (%s)",
			last.Answered, last, first.Received, first)
	}
	f.Logf("between the two writes: %v", first.Received.Sub(last.Answered))
}

// secondReplica starts a second replica, and checks that it waits for the Lease.
func (f *faulty) secondReplica(start func(*faulty)) *faulty {
	f.Helper()
	second := f.another()
	second.flags = f.flags
	start(second)
	second.eventually("the second replica asks for the Lease", func() error {
		if count(second.proxy.Requests(), "leases") == 0 {
			return errors.New("not yet")
		}
		return nil
	})
	f.sentinel("meanwhile")
	if writes := second.proxy.Writes(); len(writes) > 0 {
		f.Errorf("both replicas work at once: the second one wrote %v", writes)
	}
	return second
}

// elects are the flags with which replicas elect a leader.
func (s *scenario) elects() []string {
	return []string{"--leader-elect", "--leader-election-namespace", s.home}
}

// heldFault returns the name of a fault's tests, and which programs keep their promises through it.
func heldFault(t *testing.T, kind, fault string) (name string, holds func(judged) bool) {
	t.Helper()
	found, err := contract.Find(fault)
	if err != nil {
		t.Fatal(err)
	}
	return judged{Contract: contract.Of(kind)}.faultName(found[0]), func(j judged) bool { return j.holds(fault) }
}
