package faultproxy

// What all tests share: the environment, a check for leaks, and waiting with a timeout.

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"testing"
	"time"
)

// timeout is how long anything may take. It costs nothing while all is well.
const timeout = 30 * time.Second

func TestMain(m *testing.M) {
	// With these, a client that hears nothing for a second asks whether the server is there, and
	// gives up after another one. They are read when a client is made.
	os.Setenv("HTTP2_READ_IDLE_TIMEOUT_SECONDS", "1")
	os.Setenv("HTTP2_PING_TIMEOUT_SECONDS", "1")
	code := m.Run()
	deadline := time.Now().Add(timeout)
	for leftover() != nil && time.Now().Before(deadline) {
		runtime.Gosched()
	}
	if err := leftover(); err != nil && code == 0 {
		fmt.Println("all proxies are closed, but", err)
		code = 1
	}
	os.Exit(code)
}

// ours is what the stack of a goroutine shows that a proxy needs: its own work, or net/http's on
// one of its connections.
var ours = regexp.MustCompile(`faultproxy\.(\(\*(Proxy|watch|connection|connections)\)|accepting)`)

// leftover returns an error if a goroutine of a proxy is left. A closed proxy has none, apart from
// those that net/http is just ending.
func leftover() error {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	if ours.Match(stacks) {
		return fmt.Errorf("there is still\n%s", stacks)
	}
	return nil
}

// receive returns what comes next over the channel.
func receive[T any](t *testing.T, what string, from <-chan T) T {
	t.Helper()
	select {
	case value := <-from:
		return value
	case <-time.After(timeout):
		t.Fatalf("%s: nothing after %v", what, timeout)
		panic("not reached")
	}
}

// waitFor waits until the fault has hit so often.
func waitFor(t *testing.T, fault *Fault, hits int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	if err := fault.Wait(ctx, hits); err != nil {
		t.Fatal(err)
	}
}

// number returns an error unless got is want.
func number(got, want int) error {
	if got != want {
		return fmt.Errorf("got %d, want %d", got, want)
	}
	return nil
}
