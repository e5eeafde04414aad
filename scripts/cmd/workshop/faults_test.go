package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Command lines that are wrong, or need no cluster.
func TestExitCodesOfFaultsTestAndDocs(t *testing.T) {
	root := t.TempDir()
	t.Setenv("WORKSHOP_ROOT", root)
	if err := os.Mkdir(filepath.Join(root, "01-a"), 0o700); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]int{
		"faults":                     0,
		"faults 01":                  exitWrongUsage,
		"faults 01 F4a F5":           exitWrongUsage,
		"faults 01 F9":               exitFailed,
		"faults 01 F2":               exitFailed,
		"faults 02 F4a":              exitFailed,
		"test --only B12":            exitFailed,
		"test 01 --only=":            exitFailed,
		"docs --write 01":            exitWrongUsage,
		"test 01 --only B4 --matrix": exitFailed,
	} {
		if got := run(t.Context(), strings.Fields(args)); got != want {
			t.Errorf("%s: exit code %d, want %d", args, got, want)
		}
	}
}

func TestATimedFaultBeginsAtOnceAndEndsAfterItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns, start := timed(time.Minute), time.Now()
		var at []time.Duration
		for range 2 {
			<-turns
			at = append(at, time.Since(start))
		}
		if at[0] != 0 || at[1] != time.Minute {
			t.Errorf("the fault begins and ends after %v, want 0s and 1m0s", at)
		}
		select {
		case <-turns:
			t.Error("got a third turn, want two")
		case <-time.After(time.Hour):
		}
	})
}

func TestEachLineOfInputIsATurn(t *testing.T) {
	turns := onEnter(strings.NewReader("\nand more\n"))
	for range 2 {
		<-turns
	}
}
