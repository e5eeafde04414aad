package main

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails the whole run if a test leaves a goroutine behind, because the controller has to
// end with its context. And it makes informers list, then watch: fakes don't send the bookmark that
// ends the initial events of a watch, so an informer would wait for it forever.
func TestMain(m *testing.M) {
	os.Setenv("KUBE_FEATURE_WatchListClient", "false")
	goleak.VerifyTestMain(m)
}
