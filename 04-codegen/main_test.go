package main

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails the whole run if a test leaves a goroutine behind.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}
