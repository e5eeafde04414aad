// What is declared: the promises, the faults, and what isn't held. The tests are held to it.

package acceptance

import (
	"slices"
	"strings"

	"example.com/operators/scripts/internal/chapters"
)

// Named is a promise or a fault. Its tests' names begin with its own.
type Named struct{ Name, What string }

// IsFault tells which of the two it is.
func (n Named) IsFault() bool { return strings.HasPrefix(n.Name, "F") }

// Contract is what the programs for objects of one kind promise while all goes well, and through faults.
type Contract struct {
	Kind     string
	Promises []Named
	// notHeld says, by chapter number and the name of a promise or fault, why that isn't held; notAsked, why nobody asks. All that isn't
	// named in either is held.
	notHeld, notAsked map[string]map[string]string
}

// Contracts are all that there are.
func Contracts() []Contract { return []Contract{foos(), tdsets()} }

// contractOf is the contract of that kind.
func contractOf(kind string) Contract {
	all := Contracts()
	return all[slices.IndexFunc(all, func(c Contract) bool { return c.Kind == kind })]
}

func foos() Contract {
	const lost = "a write that fails is lost until something else happens to the Foo"
	const deaf = "client-go has no deadline for a watch that is silent: it stays deaf for minutes"
	const two = "there is no leader election: two copies work at once"
	return Contract{
		Kind: chapters.Foo,
		Promises: []Named{
			{"B1", "create"},
			{"B2", "scale"},
			{"B3", "status"},
			{"B4", "drift"},
			{"B5", "rename"},
			{"B6", "refusal"},
			{"B7", "delete"},
			{"B8", "catch-up"},
			{"B9", "quiet"},
			{"B10", "bad input"},
			{"B11", "conflict"},
		},
		notHeld: map[string]map[string]string{
			"01": {"F4a": lost, "F4b": lost, "F4c": lost, "F7": two, "F8": lost},
			"02": {"F4a": lost, "F4c": lost, "F6b": deaf, "F7": two, "F8": lost},
		},
	}
}

// tdsets is the contract of chapter 07's program, and, by as much as their layer can hold, of the solutions of the exercises TDSet.
func tdsets() Contract {
	const late = "what fails is tried again a minute later, and no sooner"
	const noZone = "its API has no timeZone: hours are hours of UTC"
	const noService = "it makes no Service"
	const left = "the exercises leave out what it takes: the chapters have it"
	const slow = "not judged: the cluster takes half a minute to recover, and the chapters' own programs show it"
	exercise := map[string]string{"T4": noZone, "T6": noService, "F3": slow, "F6b": left, "F7": left}
	return Contract{
		Kind: chapters.TDSet,
		Promises: []Named{
			{"T1", "create"},
			{"T2", "boundary"},
			{"T3", "midnight"},
			{"T4", "zone"},
			{"T5", "image"},
			{"T6", "service"},
			{"T7", "drift"},
			{"T8", "refusal"},
			{"T9", "delete"},
			{"T10", "quiet"},
			{"T11", "restart"},
			{"T12", "bad input"},
		},
		notHeld: map[string]map[string]string{
			"01": {"F4a": late, "F4b": late, "F4c": late, "F8": late},
			"02": {"F4a": late, "F4c": late, "F8": late},
		},
		notAsked: map[string]map[string]string{
			"01": exercise, "02": exercise, "03": exercise, "04": exercise, "05": exercise, "06": exercise,
		},
	}
}

// Faults are what may go wrong meanwhile.
func Faults() []Named {
	return []Named{
		{"F1", "every watch connection cut, again and again"},
		{"F2", "410 Gone, as a response and as an event"},
		{"F3", "the API server killed and started again"},
		{"F4a", "writes answered 500"},
		{"F4b", "writes answered 429"},
		{"F4c", "writes answered with a conflict that there isn't"},
		{"F5", "the program killed between two of its writes"},
		{"F6a", "a frozen connection"},
		{"F6b", "watches that say nothing any more"},
		{"F7", "two copies running: one leads, and the other takes over"},
		{"F8", "forbidden for a while"},
	}
}

// Judges tells whether the chapter has a program that is held to the contract.
func (c Contract) Judges(chapter chapters.Chapter) bool {
	return c.Kind == chapters.TDSet || c.Kind == chapter.Kind()
}

// WhyNotHeld says why the chapter's program doesn't hold that promise, or the promises through that fault; "" if it does, or nobody asks.
func (c Contract) WhyNotHeld(chapter chapters.Chapter, name string) string {
	return c.notHeld[chapter.Number()][name]
}

// WhyNotAsked says why nobody asks for that of the chapter's program; "" if somebody does.
func (c Contract) WhyNotAsked(chapter chapters.Chapter, name string) string {
	return c.notAsked[chapter.Number()][name]
}

// WhyNotHeld says why the chapter's own program doesn't hold the promises through the fault; "" if it does.
func WhyNotHeld(chapter chapters.Chapter, fault string) string {
	return contractOf(chapter.Kind()).WhyNotHeld(chapter, fault)
}
