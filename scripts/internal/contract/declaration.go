// Package contract declares what scripts/acceptance tests: the promises about Foos and TDSets, the
// faults, and which chapter doesn't keep a promise, or not while a fault lasts.
//
// This file has the declaration, and at its end what differs on a cluster with real containers.
// matrix.go shows it to readers, and selection.go finds the tests of one promise or fault.
package contract

import (
	"slices"
	"strings"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/faults"
	"example.com/operators/scripts/internal/program"
)

// Named is a promise or a fault. Its tests' names begin with its own.
type Named struct {
	Name, What string
	// Means says of a promise what is promised, in a sentence without its full stop.
	Means string
}

func (n Named) IsFault() bool { return strings.HasPrefix(n.Name, "F") }

// Contract is what programs for one kind promise while all goes well, and through faults.
type Contract struct {
	Kind     string
	Promises []Named
	// notHeld says, by chapter number and the name of a promise or fault, why that isn't held;
	// notAsked, why nobody asks. All that isn't named in either is held.
	notHeld, notAsked map[string]map[string]string
	// provided says in the same way what a promise or fault that is held takes.
	provided map[string]map[string]string
}

func All() []Contract { return []Contract{foos(), tdsets()} }

func Of(kind string) Contract {
	all := All()
	return all[slices.IndexFunc(all, func(c Contract) bool { return c.Kind == kind })]
}

// events is true of every recorder: 03's recorder_test.go shows it.
const events = "but for Events: client-go doesn't retry an Event that the API server has rejected"

func foos() Contract {
	const lost = "a write that fails is lost until something else happens to the Foo"
	const idle = "if no write is under way in that moment: it would be lost"
	const two = "there is no leader election: two replicas work at once"
	return Contract{
		Kind: chapters.Foo,
		Promises: []Named{
			{"B1", "create", "a Foo gets a Deployment with the name, the replicas and the labels that it asks for, and is its owner"},
			{"B2", "scale", "a changed `replicas` reaches the Deployment, and `kubectl scale foo` works"},
			{"B3", "status", "availableReplicas, observedGeneration and Ready follow the Deployment, and are written only when they change"},
			{"B4", "drift", "what somebody changes by hand is put back, a deleted Deployment is made again, and what is others' is left alone"},
			{"B5", "rename", "with a changed deploymentName the new Deployment is made, and then the old one deleted"},
			{"B6", "refusal", "a Deployment that isn't this Foo's is never touched; the Foo says so, and takes the name once it is free"},
			{"B7", "delete", "the Deployment goes with its Foo, and a Foo that is being deleted gets nothing; when a whole namespace is deleted, at most one write for each Foo is refused"},
			{"B8", "catch-up", "what changed while the program was down is acted on when it starts"},
			{"B9", "quiet", "while nothing changes nothing is written, whatever is looked at again"},
			{"B10", "bad input", "the API server refuses it and names the field; a CRD or a permission that is missing is waited for"},
			{"B11", "conflict", "somebody who writes at the same time loses nothing"},
		},
		provided: map[string]map[string]string{
			"01": {"F1": idle, "F3": idle},
			"02": {"F1": idle, "F3": idle},
			"03": {"F4a": events, "F4c": events},
			"04": {"F4a": events, "F4c": events},
			"05": {"F4a": events, "F4c": events},
			"06": {"F4a": events, "F4c": events},
		},
		notHeld: map[string]map[string]string{
			"01": {"F4a": lost, "F4b": lost, "F4c": lost, "F6c": two, "F7": two, "F8": lost},
			"02": {"F4a": lost, "F4c": lost, "F6c": two, "F7": two, "F8": lost},
		},
	}
}

// tdsets is the contract of chapter 07's program and, as far as they go, of the exercises TDSet.
func tdsets() Contract {
	const late = "what fails is tried again a minute later, and no sooner"
	const noZone = "its API has no timeZone: hours are hours of UTC"
	const noService = "it makes no Service"
	const left = "the exercises leave out what it takes: the chapters have it"
	const slow = "not judged: the cluster takes half a minute to recover, and the chapters' own programs show it"
	exercise := map[string]string{"T4": noZone, "T6": noService, "F3": slow, "F6b": left, "F6c": left, "F7": left}
	return Contract{
		Kind: chapters.TDSet,
		Promises: []Named{
			{"T1", "create", "a TDSet gets a Deployment with its image, its port and the replicas of this hour, is its owner, and is Ready when they are available"},
			{"T2", "boundary", "when another window begins, the Deployment is scaled, and not before"},
			{"T3", "midnight", "a window may end at midnight or go on past it, and the hour from 23 on is one like any other"},
			{"T4", "zone", "hours are those of `spec.timeZone`, on the days on which clocks are set too"},
			{"T5", "image", "a changed image or port is rolled out"},
			{"T6", "service", "a Service comes, changes and goes with `spec.service`"},
			{"T7", "drift", "what somebody changes by hand is put back, what is deleted is made again, and what is others' is left alone"},
			{"T8", "refusal", "what isn't this TDSet's is never touched; the TDSet says so, and takes the name once it is free"},
			{"T9", "delete", "the Deployment goes with its TDSet; in chapter 07 its Pods end before the TDSet is gone, within `--drain-timeout`, and when a whole namespace is deleted, at most one write for each TDSet is refused"},
			{"T10", "quiet", "while nothing changes nothing is written, whatever is looked at again"},
			{"T11", "restart", "what was due while the program was down is done when it starts"},
			{"T12", "bad input", "the API server refuses it and names the field; a CRD that is missing is waited for"},
		},
		notHeld: map[string]map[string]string{
			"01": {"F4a": late, "F4b": late, "F4c": late, "F8": late},
			"02": {"F4a": late, "F4c": late, "F8": late},
		},
		provided: map[string]map[string]string{"07": {"F4a": events, "F4c": events}},
		notAsked: map[string]map[string]string{
			"01": exercise, "02": exercise, "03": exercise, "04": exercise, "05": exercise, "06": exercise,
		},
	}
}

// Faults returns what may go wrong meanwhile.
func Faults() (all []Named) {
	for _, fault := range faults.All() {
		all = append(all, Named{Name: fault.Name, What: fault.Title})
	}
	return all
}

// Judges reports whether the chapter has a program that is held to the contract.
func (c Contract) Judges(chapter chapters.Chapter) bool {
	return c.Kind == chapters.TDSet || c.Kind == chapter.Kind()
}

// WhyNotHeld says why the chapter's program doesn't hold that promise, or the promises through that
// fault; "" if it does, or nobody asks.
func (c Contract) WhyNotHeld(chapter chapters.Chapter, name string) string {
	return c.notHeld[chapter.Number()][name]
}

// WhyNotAsked says why nobody asks for that of the chapter's program; "" if somebody does.
func (c Contract) WhyNotAsked(chapter chapters.Chapter, name string) string {
	return c.notAsked[chapter.Number()][name]
}

// WhyNotHeld is the same for the chapter's own program.
func WhyNotHeld(chapter chapters.Chapter, fault string) string {
	return Of(chapter.Kind()).WhyNotHeld(chapter, fault)
}

// Images are what the tests' Pods run. Where containers are real, the node has to have them: any program will do that answers HTTP on
// ports 80 and 8000 with its Pod's name, and that bears with another of its kind in its Pod. Images whose names have "broken" in
// them aren't here: nobody is to have those.
func Images() []string {
	return []string{"nginx:latest", "example.com/app:1", "example.com/app:2", "example.com/someone-elses:1", "example.com/sidecar:1"}
}

// Image is that of a program which is to run in the cluster, unless TEST_IMAGES names another: FROM scratch, with the program alone.
func Image(p program.Program) string { return p.Name + ":in-cluster" }

// AtOnce is how many tests may run at a time where containers are real: the one node holds 110 Pods, and a test has a dozen.
const AtOnce = 4

// The names of what is left out that is no fault.
const (
	ManyPods    = "crowds of three hundred"
	URLWebhooks = "webhooks at a URL"
)

// LeftOut says what isn't asked where containers are real, and why: faults by their names, and else in words. inCluster is about
// programs that run there themselves.
func LeftOut(inCluster bool) map[string]string {
	left := map[string]string{
		ManyPods:    "they are about requests, and the one node holds 110 Pods",
		URLWebhooks: "the API server, in a container, can't reach this machine's loopback: the chapters' test/e2e has webhooks by their Service",
	}
	for _, fault := range faults.All() {
		if inCluster && fault.NeedsProxy() {
			left[fault.Name] = "the proxy that makes it listens on this machine's loopback only, where no Pod gets to"
		}
	}
	return left
}
