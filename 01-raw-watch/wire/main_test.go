package wire

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails the whole run if a test leaves a goroutine behind, because a Reflector has to end
// with its context.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}
