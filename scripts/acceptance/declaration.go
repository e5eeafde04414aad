// What is declared: the promises, the faults, and what isn't held. The tests are held to it.

package acceptance

import (
	"strings"

	"example.com/operators/scripts/internal/chapters"
)

// Named is a promise or a fault. Its tests' names begin with its own.
type Named struct{ Name, What string }

// IsFault tells which of the two it is.
func (n Named) IsFault() bool { return strings.HasPrefix(n.Name, "F") }

// Promises are what every chapter's program promises while all goes well.
func Promises() []Named {
	return []Named{
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

// notHeld says, by chapter number and fault, why the promises aren't held. All that isn't named here is held.
func notHeld() map[string]map[string]string {
	const lost = "a write that fails is lost until something else happens to the Foo"
	const deaf = "client-go has no deadline for a watch that is silent: it stays deaf for minutes"
	const two = "there is no leader election: two copies work at once"
	return map[string]map[string]string{
		"01": {"F4a": lost, "F4b": lost, "F4c": lost, "F7": two, "F8": lost},
		"02": {"F4a": lost, "F4c": lost, "F6b": deaf, "F7": two, "F8": lost},
	}
}

// WhyNotHeld says why the chapter doesn't hold the promises through the fault; "" if it does.
func WhyNotHeld(chapter chapters.Chapter, fault string) string {
	return notHeld()[chapter.Number()][fault]
}

// holds tells whether the chapter is declared to hold the promises through the fault.
func holds(chapter chapters.Chapter, fault string) bool { return WhyNotHeld(chapter, fault) == "" }
