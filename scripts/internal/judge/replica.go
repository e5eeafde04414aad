package judge

// A replica of the operator: a process that is started again when it exits, as a Pod's container is.

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	gopsutil "github.com/shirou/gopsutil/v4/process"

	"example.com/operators/scripts/internal/faultproxy"
	"example.com/operators/scripts/internal/operator"
	"example.com/operators/scripts/internal/process"
)

// replica is a replica of the operator, behind a proxy of its own.
type replica struct {
	*operator.Replica
	scenario *scenario
	webhooks operator.LocalWebhooks  // if the operator has any
	replace  func(arg string) string // replaces the placeholders that Reference describes
}

// Stop stops the replica, and then the API server doesn't call its webhooks any more.
func (r *replica) Stop() {
	r.Replica.Stop()
	r.scenario.uninstall(r.webhooks.Address)
}

// Destroy kills the replica for good, and then the API server doesn't call its webhooks any more.
func (r *replica) Destroy() {
	r.Replica.Destroy()
	r.scenario.uninstall(r.webhooks.Address)
}

// start starts a replica, with more arguments than the usual ones.
func (s *scenario) start(more ...string) *replica {
	r := s.startBehind(func(*faultproxy.Proxy) {}, more...)
	if s.webhooks != nil {
		if err := s.soon(r.serves); err != nil {
			s.fails.Store(true)
			s.found(Error, s.diagnosis(s.samples[0]), "the operator doesn't serve its webhooks: %s", plain(err))
			s.unable("the check can't go on without the webhooks")
		}
		s.install(r.webhooks)
	}
	return r
}

// serves returns nil if the replica serves its webhooks.
func (r *replica) serves() error { return r.webhooks.Answers(r.scenario.ctx) }

// startBehind starts a replica when do has prepared its proxy. The API server doesn't call its
// webhooks, which may fail now.
func (s *scenario) startBehind(do func(*faultproxy.Proxy), more ...string) *replica {
	kubeconfig := filepath.Join(s.dir, fmt.Sprintf("kubeconfig-%d", len(s.replicas)))
	behind, err := operator.Behind(s.target, s.kubeconfig, kubeconfig)
	s.must(err)
	s.cleanup(behind.Close)
	s.cleanup(s.removeConverted)
	s.cleanup(func() { s.uninstall(s.installedAt) })
	if s.page != nil {
		s.page.Follow(fmt.Sprintf("replica %d", len(s.replicas)+1), "", behind.Proxy)
	}
	do(behind.Proxy)
	first, err := process.OfOperators.Free(3)
	s.must(err)
	metrics, probes, webhooks := strconv.Itoa(first), strconv.Itoa(first+1), strconv.Itoa(first+2)
	r := &replica{Replica: behind, scenario: s}
	env := slices.Clone(operator.Pings)
	placeholders := []string{
		"{kubeconfig}", kubeconfig, "{namespace}", s.namespace, "{metrics}", metrics, "{probes}", probes,
	}
	if s.webhooks != nil {
		r.webhooks = s.webhooksOfNext(webhooks)
		placeholders = append(placeholders, "{webhooks}", r.webhooks.Port(), "{certificates}", s.webhooks.Dir)
		env = append(env, "ENABLE_WEBHOOKS=true", "TMPDIR="+strings.TrimSuffix(s.webhooks.Dir, defaultCertDir))
		if len(s.replicas) == 0 {
			s.convertAt(r.webhooks)
		}
	}
	r.replace = strings.NewReplacer(placeholders...).Replace
	var args []string
	for _, arg := range slices.Concat(s.command[1:], more) {
		args = append(args, r.replace(arg))
	}
	s.step("start %s %s", filepath.Base(s.binary), strings.Join(args, " "))
	for name, value := range s.config.Env {
		env = append(env, name+"="+r.replace(value))
	}
	options := operator.Options{Binary: s.binary, Args: args, Env: env}
	if s.config.InCluster {
		options.InPod = s.namespace
	}
	s.must(behind.Start(options))
	s.replicas = append(s.replicas, r)
	return r
}

// crashes are the exits of all replicas that nobody has asked for.
func (s *scenario) crashes() (crashes []Evidence) {
	for _, r := range s.replicas {
		for _, exit := range r.Exits() {
			crashes = append(crashes, Evidence{exit.At, fmt.Sprintf("the operator exits: %v", exit.Why), ownLines(exit.Log)})
		}
	}
	return crashes
}

// foundCrashes is a finding if the operator has exited by itself.
func (s *scenario) foundCrashes() {
	if crashes := s.crashes(); len(crashes) > 0 {
		s.found(Error, crashes, "the operator exits unexpectedly")
	}
}

// usage is what an operator has used, in all or for each of some objects.
type usage struct {
	requests float64
	cpu      float64 // in ms
	memory   float64 // in KiB
}

// usage returns what a replica has used so far.
func (s *scenario) usage(r *replica) usage {
	p, err := gopsutil.NewProcessWithContext(s.ctx, int32(r.PID()))
	s.must(err)
	times, err := p.TimesWithContext(s.ctx)
	s.must(err)
	memory, err := p.MemoryInfoWithContext(s.ctx)
	s.must(err)
	return usage{float64(len(r.Proxy.Requests())), (times.User + times.System) * 1000, float64(memory.RSS) / (1 << 10)}
}

// forEach returns what has been used since before, for each of that many objects.
func (u usage) forEach(objects int, before usage) usage {
	count := float64(objects)
	return usage{(u.requests - before.requests) / count, (u.cpu - before.cpu) / count, (u.memory - before.memory) / count}
}
