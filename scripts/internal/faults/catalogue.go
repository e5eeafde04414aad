// Package faults is the only catalogue of the course's faults. The judge checks that an operator
// survives each fault, `workshop lens` shows what a chapter's program does about it, and the matrix
// says which chapter survives which. (Other checks of the judge may cause trouble of their own, such
// as somebody who writes at the same time.)
//
// To add a fault, add an entry here. Its code is a method of the fault proxy.
package faults

import (
	"net/http"
	"slices"
	"time"

	"example.com/operators/scripts/internal/faultproxy"
)

// Fault is something that goes wrong while an operator works.
type Fault struct {
	Name string
	// Label is a few words for a button. Title completes the sentence "the operator survives …".
	Label, Title string
	// Why says when this happens and what the operator must do, Fix what to change if it doesn't, and
	// Lesson where the course teaches it: a path in the repository.
	Why, Fix, Lesson string
	// Does says what happens when the fault begins, and See afterwards what there was to see.
	Does, See string
	// Lasts is how long the judge lets it last. 0 means three seconds.
	Lasts time.Duration
	// Unsurvived says that no program survives it. It is shown but neither judged nor in the matrix.
	Unsurvived bool
	// Kills says that the program is killed between two writes. The judge tries each pair of writes.
	Kills bool
	// Replicas says that several replicas of the program run and elect a leader, if they can.
	Replicas bool
	// LeaderDies says that the leader is killed. Such a fault needs no proxy, and has no Begin.
	LeaderDies bool
	// Begin injects the fault.
	Begin func(Target) *faultproxy.Fault
	// end is another fault when this one ends, or nil.
	end func(*faultproxy.Proxy, ...faultproxy.Match) *faultproxy.Fault
}

// Target is what a fault acts on.
type Target struct {
	Proxy *faultproxy.Proxy
	// Kill kills the program once. It is started again.
	Kill func()
	// Owned are the resources of the objects that the program creates, such as deployments.
	Owned []string
}

// End injects what the fault ends with, in the watches that match. Call it before the Stop of what
// Begin has returned. It returns nil if the fault simply ends.
func (f Fault) End(p *faultproxy.Proxy, matches ...faultproxy.Match) *faultproxy.Fault {
	if f.end == nil {
		return nil
	}
	return f.end(p, matches...)
}

// All returns all faults, in the order of the matrix.
func All() []Fault {
	return []Fault{
		{
			Name: "F1", Label: "watches are cut", Title: "watches that are cut again and again",
			Why:    "Load balancers, proxies and restarts of the API server cut watches every day. No change may be lost.",
			Fix:    "Use an informer or client-go's Reflector: both watch again from the last version that they have seen.",
			Lesson: "02-informers/README.md",
			Does: "all watches are cut, and each new watch is cut after one event. " +
				"Writes in flight fail too, because they share the watches' HTTP/2 connection",
			See:   "Each watch that is cut is followed by a new one from the last known version, so no change is lost.",
			Begin: func(t Target) *faultproxy.Fault { return t.Proxy.KeepCutting() },
		},
		{
			Name: "F2", Label: "events lost, then 410", Title: "watches that miss events and then get 410 Gone",
			Why:    "The API server forgets old versions. A client that was away must find out itself what has been deleted.",
			Fix:    "Use an informer, and handle deletions: after a new list, it calls DeleteFunc with a tombstone.",
			Lesson: "02-informers/README.md",
			Does:   "no events arrive, and when the fault ends, the watches get 410 Gone instead",
			See:    "The program missed these events. After the 410 it listed everything again, and compared.",
			Lasts:  time.Second,
			Begin:  noEvents,
			end:    (*faultproxy.Proxy).GoneAsEvent,
		},
		{
			Name: "F3", Label: "no API server", Title: "an API server that can't be reached for a few seconds",
			Why:    "Upgrades restart the API server. If an operator exits or gives up then, somebody has to step in.",
			Fix:    "Don't exit if a request fails. Return the error to the work queue, and let the informer reconnect.",
			Lesson: "02-informers/README.md",
			Does:   "the program's connections are closed, and so is each new one. You can still reach the API server",
			See:    "The program keeps trying to connect. Once it can, it catches up with whatever has changed meanwhile.",
			Begin:  func(t Target) *faultproxy.Fault { return t.Proxy.Down() },
		},
		{
			Name: "F4a", Label: "writes fail (500)", Title: "writes that fail with 500 (internal error)",
			Why:    "A failed write must be retried, because nobody else will do it.",
			Fix:    "Return each error to the work queue (AddRateLimited, or an error from Reconcile), which retries it.",
			Lesson: "03-workqueue/README.md",
			Does:   "writes are answered with 500",
			See:    "From chapter 03 on, the key of a failed write waits in a queue and is retried. Chapters 01 and 02 lose it.",
			Begin:  failWrites(http.StatusInternalServerError),
		},
		{
			Name: "F4b", Label: "writes fail (429)", Title: "writes that fail with 429 (too many requests)",
			Why:    "The API server is protecting itself from overload. The operator must wait and try again.",
			Fix:    "Return the error to the work queue. By then, client-go has waited as long as it was asked to.",
			Lesson: "03-workqueue/README.md",
			Does:   "writes are answered with 429, which asks the client to retry in a second",
			See:    "client-go repeats such a write itself, a second later. Chapter 01 doesn't use client-go, and loses it.",
			Begin:  failWrites(http.StatusTooManyRequests),
		},
		{
			Name: "F4c", Label: "writes fail (409)", Title: "writes that fail with 409 (conflict)",
			Why:    "The object has changed since the operator read it, so the operator must read and decide again.",
			Fix:    "Return the error to the work queue, and don't repeat the write with the old object.",
			Lesson: "03-workqueue/README.md",
			Does:   "writes are answered with 409 Conflict",
			See:    "After a conflict, a program must read and decide again. From chapter 03 on, the queue makes it do so.",
			Begin:  failWrites(http.StatusConflict),
		},
		{
			Name: "F5", Label: "killed after a write", Title: "being killed between any two of its writes",
			Why:    "A Pod can be killed at any time, and its replacement doesn't get the same events again.",
			Fix:    "Derive from the objects what is left to do, never from memory or from a status field.",
			Lesson: "03-workqueue/README.md",
			Does:   "the program is killed after its next write, before it can send another, and then it is started again",
			See:    "The new process got no event for the rest of the work. It listed everything, and found it by comparing.",
			Kills:  true,
			Begin:  func(t Target) *faultproxy.Fault { return t.Proxy.AfterWrite(1, t.Kill) },
		},
		{
			Name: "F6a", Label: "connection freezes", Title: "a connection that freezes",
			Why:    "A network that drops packets doesn't close the connection. Only a client that sends pings notices.",
			Fix:    "Use client-go, whose HTTP/2 connections send pings, and leave its connection settings as they are.",
			Lesson: "02-informers/README.md",
			Does:   "the connection is frozen: it stays open, but no bytes get through",
			See:    "Nothing arrives, and nothing fails until a ping gets no answer. Then the program opens a new connection.",
			Lasts:  8 * time.Second,
			Begin:  func(t Target) *faultproxy.Fault { return t.Proxy.Freeze() },
		},
		{
			Name: "F6b", Label: "watches go silent", Title: "watches that go silent",
			Does: "the watches go silent: their connection works, but no events arrive",
			See: "No chapter's program notices, because client-go has no timeout for a silent watch. " +
				"03-workqueue/more/production.md shows how to set one.",
			Unsurvived: true,
			Begin:      noEvents,
		},
		{
			Name: "F6c", Label: "lease not renewed", Title: "a lease that the leader can't renew",
			Why:      "If only its requests for the lease hang, nothing but its own clock can tell a leader to stop.",
			Fix:      "Use client-go's leader election, and exit as soon as it says that the lease is lost.",
			Lesson:   "03-workqueue/README.md",
			Does:     "requests for the Lease get no response, but all others do",
			See:      "A leader gives up and is started again before its lease runs out, so there is never a second leader.",
			Replicas: true,
			Begin:    func(t Target) *faultproxy.Fault { return t.Proxy.Hang(faultproxy.Resource("leases")) },
		},
		{
			Name: "F7", Label: "leader dies", Title: "the death of the leader while a second replica waits",
			Why:      "Without leader election, the replicas of an operator undo each other's work in each of its rollouts.",
			Fix:      "Turn on leader election, and let only the leader write.",
			Lesson:   "03-workqueue/README.md",
			Does:     "the leader is killed while a second replica waits",
			Replicas: true, LeaderDies: true,
		},
		{
			Name: "F8", Label: "permissions lost", Title: "a temporary loss of its permissions for owned objects",
			Why:    "Permissions change while operators run. Once they are back, the operator must retry what was refused.",
			Fix:    "Return the error of a refused request to the work queue, so that the key is retried.",
			Lesson: "03-workqueue/README.md",
			Does:   "the program's requests for Deployments are answered with 403 Forbidden",
			See:    "What was refused must be retried once the permission is back.",
			Begin:  func(t Target) *faultproxy.Fault { return t.Proxy.Forbid(faultproxy.Resource(t.Owned...)) },
		},
		{
			Name: "F9", Label: "cache 5 s behind", Title: "a cache that is seconds behind",
			Why:    "Under load, events arrive seconds late. If the operator trusts its cache, it creates objects twice.",
			Fix:    "Use fixed names, send a resourceVersion or UID with each write, and ask the API server before a create.",
			Lesson: "03-workqueue/more/stale-reads.md",
			Does:   "each watch event arrives 5 seconds late, but other requests are answered at once",
			See:    "For 5 seconds the program worked with an old cache. Did it write anything that it shouldn't have?",
			Lasts:  9 * time.Second,
			Begin:  func(t Target) *faultproxy.Fault { return t.Proxy.Delay(5 * time.Second) },
		},
	}
}

func noEvents(t Target) *faultproxy.Fault { return t.Proxy.Delay(24 * time.Hour) }

func failWrites(code int) func(Target) *faultproxy.Fault {
	return func(t Target) *faultproxy.Fault { return t.Proxy.FailWrites(code) }
}

// Survivable returns the faults that an operator can survive.
func Survivable() []Fault {
	return slices.DeleteFunc(All(), func(f Fault) bool { return f.Unsurvived })
}
