// Package contract declares what scripts/acceptance tests: the promises about Foos and TDSets, the
// faults, the judge's other checks, and which chapter doesn't keep a promise, or not while a fault
// lasts.
//
// This file has the declaration, and at its end what differs on a cluster with real containers.
// matrix.go shows it to readers, and selection.go finds the tests of one promise, fault or check.
package contract

import (
	"slices"
	"strings"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/faults"
	"example.com/operators/scripts/internal/judge"
)

// Named is a promise, a fault, or another check of the judge. The names of its tests begin with its
// own.
type Named struct {
	Name, What string
	// Means is what a promise promises, without the full stop. Only promises have it.
	Means string
}

func (n Named) IsFault() bool { return strings.HasPrefix(n.Name, "F") }

// Contract is what programs for one kind promise, with and without faults. A program keeps each
// promise, also through each fault, and passes each check, unless there is an exception.
type Contract struct {
	Kind       string
	Promises   []Named
	exceptions map[string]exceptions // by chapter number
}

// exceptions are by the name of a promise, a fault, or a check of the judge.
type exceptions map[string]exception

// exception is what the matrix shows instead of a plain yes, and why.
type exception struct{ shown, why string }

const (
	notHeld     = "no"
	notTested   = "–"
	sometimes   = "sometimes"
	conditional = "yes"
)

func All() []Contract { return []Contract{foos(), tdsets()} }

func Of(kind string) Contract {
	all := All()
	return all[slices.IndexFunc(all, func(c Contract) bool { return c.Kind == kind })]
}

// events is true for every recorder: 03's recorder_test.go shows it.
const events = "but an Event may be lost, because client-go doesn't retry one that the API server rejects"

var eventsMayBeLost = exceptions{"F4a": {conditional, events}, "F4c": {conditional, events}}

// tooMany is true for every client of client-go. The matrix notes it for chapter 02, where nothing
// else retries.
const tooMany = "client-go itself retries a request that is answered with 429"

func foos() Contract {
	const lost = "a failed write isn't retried until something else happens to the Foo"
	const idle = "only if no write is in flight at that moment, because a write in flight fails with its " +
		"connection and isn't retried"
	const cut = "a cut also ends the writes in flight, if there are any, and a failed write isn't retried until " +
		"something else happens to the Foo"
	const fresh = "it reads from the API server each time: always fresh, but one request each"
	const lists = "it lists all Deployments for each Foo, so many Foos need more CPU time each; whether that is " +
		"above the judge's limit depends on the machine"
	const two = "there is no leader election, so two replicas do the same work at once"
	return Contract{
		Kind: chapters.Foo,
		Promises: []Named{
			{"B1", "create", "a Foo gets a Deployment with the name, replicas and labels that it asks for, and owns it"},
			{"B2", "scale",
				"a change of `replicas` reaches the Deployment, including one made by `kubectl scale foo`, and a " +
					"HorizontalPodAutoscaler finds the Foo's Pods"},
			{"B3", "status",
				"the status (availableReplicas, observedGeneration and Ready) follows the Deployment, and is " +
					"written only when it changes"},
			{"B4", "drift",
				"manual changes are reverted, a deleted Deployment is created again, and other people's fields " +
					"are left alone"},
			{"B5", "rename", "if deploymentName changes, the new Deployment is created, and then the old one is deleted"},
			{"B6", "refusal",
				"a Deployment that isn't this Foo's is never touched. The Foo's status says so, and the Foo gets " +
					"its own Deployment once the name is free"},
			{"B7", "delete",
				"the Deployment is deleted with its Foo, and a Foo that is being deleted gets no new one. While a " +
					"whole namespace is being deleted, the API server refuses new objects there, and the program " +
					"doesn't retry those writes"},
			{"B8", "catch-up", "on startup, the program acts on what changed while it was down"},
			{"B9", "quiet", "while nothing changes, nothing is written, however often objects are checked"},
			{"B10", "bad input",
				"the API server refuses an invalid Foo and names the field. If a CRD or a permission is missing, " +
					"the program starts working once it is there (from 05 on, possibly after a restart)"},
			{"B11", "conflict", "if somebody else writes at the same time, their change isn't lost"},
			{"B12", "refused write",
				"if the API server refuses a write (because of a quota or an admission policy, for example), " +
					"stores other values, or refuses the Deployment's Pods, the status says why. When the cause is " +
					"gone, the Foo recovers by itself (in 01 and 02, only when something else happens to it)"},
		},
		exceptions: map[string]exceptions{
			"01": {
				"F1": {sometimes, cut}, "F3": {conditional, idle}, "F4a": {notHeld, lost}, "F4b": {notHeld, lost},
				"F4c": {notHeld, lost}, "F6c": {notTested, two}, "F7": {notHeld, two}, "F8": {notHeld, lost},
				"reads": {notHeld, fresh}, "refusals": {notHeld, lost}, "cost": {sometimes, lists},
			},
			"02": {
				"F1": {sometimes, cut}, "F3": {conditional, idle}, "F4a": {notHeld, lost}, "F4b": {conditional, tooMany},
				"F4c": {notHeld, lost}, "F6c": {notTested, two}, "F7": {notHeld, two}, "F8": {notHeld, lost},
				"refusals": {notHeld, lost},
			},
			"03": eventsMayBeLost, "04": eventsMayBeLost, "05": eventsMayBeLost, "06": eventsMayBeLost,
		},
	}
}

// tdsets is the contract of chapter 07's program and of the exercises TDSet, as far as they
// implement it.
func tdsets() Contract {
	const noZone = "its API has no timeZone, so hours are in UTC"
	const noService = "it doesn't create a Service"
	const one = "its API has only one version"
	const layer = "the chapter's own program shows what its layer does"
	solution := exceptions{
		"T4": {notTested, noZone}, "T6": {notTested, noService}, "T13": {notTested, one}, "T14": {notTested, one},
	}
	for _, named := range append(Faults(), Checks()...) {
		solution[named.Name] = exception{notTested, layer}
	}
	return Contract{
		Kind: chapters.TDSet,
		Promises: []Named{
			{"T1", "create",
				"a TDSet gets a Deployment with its image, its port and the replicas for this hour, owns it, and " +
					"is Ready when they are available"},
			{"T2", "boundary", "the Deployment is scaled when the next window begins, and not before"},
			{"T3", "midnight", "a window may end at midnight or run past it, and the hour from 23 on is like any other"},
			{"T4", "zone", "hours are in `spec.timeZone`, even on the days when clocks change"},
			{"T5", "image", "a changed image or port is rolled out"},
			{"T6", "service", "a Service is created, changed and deleted with `spec.service`"},
			{"T7", "drift",
				"manual changes are reverted, deleted objects are created again, and other people's fields are " +
					"left alone"},
			{"T8", "refusal",
				"an object that isn't this TDSet's is never touched. The TDSet's status says so, and the TDSet " +
					"gets its own object once the name is free"},
			{"T9", "delete",
				"the Deployment is deleted with its TDSet. While a whole namespace is being deleted, the API " +
					"server refuses new objects there, and the program doesn't retry those writes. In chapter 07, the " +
					"Pods of a TDSet stop before it is gone, within `--drain-timeout`"},
			{"T10", "quiet", "while nothing changes, nothing is written, however often objects are checked"},
			{"T11", "restart", "on startup, the program does what became due while it was down"},
			{"T12", "bad input",
				"the API server refuses an invalid TDSet and names the field. If a CRD is missing, the program " +
					"starts working once it is there (from 05 on, possibly after a restart)"},
			{"T13", "versions",
				"no field of a TDSet is lost, whichever version of the API wrote it. That also holds while the " +
					"stored version changes, in either direction, and while no webhook answers"},
			{"T14", "old clients",
				"kubectl, watches and field managers that only know v1 keep working, and are told that it is " +
					"deprecated"},
			{"T15", "refused write",
				"if the API server refuses a write, stores other values, or refuses the Deployment's Pods, the " +
					"status says why. When the cause is gone, the TDSet recovers by itself (in 01 and 02, within a " +
					"minute)"},
		},
		exceptions: map[string]exceptions{
			"01": solution, "02": solution, "03": solution, "04": solution, "05": solution, "06": solution,
			"07": eventsMayBeLost,
		},
	}
}

// proofs are the judge's checks that prove a promise, or the part of it that scripts/acceptance has no
// test of its own for.
var proofs = map[string][]string{
	"B4":  {"drift", "recreate", "foreign-fields"},
	"B7":  {"delete-background", "delete-held", "delete-namespace"},
	"B9":  {"quiet", "restart"},
	"B10": {"start-without-crd", "start-without-permissions"},
	"B11": {"conflicts"},
	"T9":  {"delete-namespace"},
	"T12": {"start-without-crd"},
}

// Proofs returns the judge's checks that prove a promise, beside the tests of scripts/acceptance. The
// judge only checks the chapters' own programs.
func (n Named) Proofs() []string { return proofs[n.Name] }

// Faults returns the faults that the contract covers.
func Faults() (all []Named) {
	for _, fault := range faults.Survivable() {
		all = append(all, Named{Name: fault.Name, What: fault.Title})
	}
	return all
}

// Checks returns the judge's checks that aren't about faults. A chapter's program has no version before
// it, so upgrade isn't one of them.
func Checks() (all []Named) {
	for _, check := range judge.All() {
		if !check.IsFault && check.Name != "upgrade" {
			all = append(all, Named{Name: check.Name, What: check.Promise})
		}
	}
	return all
}

func (c Contract) exception(chapter chapters.Chapter, name string) exception {
	return c.exceptions[chapter.Number()][name]
}

// why returns why there is an exception of this sort, or "" if there is none.
func (c Contract) why(chapter chapters.Chapter, name, sort string) string {
	if e := c.exception(chapter, name); e.shown == sort {
		return e.why
	}
	return ""
}

// WhyNotHeld returns why the chapter's program doesn't keep that promise, or the promises through
// that fault. It returns "" if it does, or if that isn't tested.
func (c Contract) WhyNotHeld(chapter chapters.Chapter, name string) string {
	return c.why(chapter, name, notHeld)
}

// WhyNotTested returns why that isn't tested for the chapter's program, or "" if it is.
func (c Contract) WhyNotTested(chapter chapters.Chapter, name string) string {
	return c.why(chapter, name, notTested)
}

// IsByChance reports whether the chapter's program only sometimes keeps that.
func (c Contract) IsByChance(chapter chapters.Chapter, name string) bool {
	return c.exception(chapter, name).shown == sometimes
}

// Survived counts the faults through which the chapter's own program always keeps its promises.
func Survived(chapter chapters.Chapter) (n int) {
	for _, fault := range Faults() {
		if !slices.Contains([]string{notHeld, sometimes, notTested}, Of(chapter.Kind()).exception(chapter, fault.Name).shown) {
			n++
		}
	}
	return n
}

// Images are the images in the tests' Pods, besides the samples'. Where containers are real, the node
// must have them. Any program will do that answers HTTP on ports 80 and 8000 with its Pod's name, and
// can run twice in the same Pod. Images with "broken" in their names aren't here, because no node may
// have them.
func Images() []string {
	return []string{"example.com/app:1", "example.com/app:2", "example.com/someone-elses:1", "example.com/sidecar:1"}
}

// AtOnce is how many tests may run at a time where containers are real, because the one node
// runs 110 Pods at most, and a test has a dozen.
const AtOnce = 4
