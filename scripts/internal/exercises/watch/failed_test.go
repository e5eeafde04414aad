package watch

import (
	"errors"
	"testing"
)

// A failure around the checks is printed above the keys, or in the list while that is open.
func TestAFailureAroundTheChecks(t *testing.T) {
	root := t.TempDir()
	writeSum(t, root, "01-a", "1-one", nil)
	failed := make(chan error)
	w := watchOn(t, root, Watch{Failed: failed}, true, 24)
	w.waitFor(keysLine)
	failed <- errors.New("the room can't be reached")
	w.waitFor("\nthe room can't be reached\n")
	w.waitFor(keysLine)
	w.press("l")
	w.waitFor("j k or arrows move")
	failed <- errors.New("the room is full")
	w.waitFor("Exercises\n")
	w.waitFor("the room is full\n")
	w.waitFor("j k or arrows move")
}
