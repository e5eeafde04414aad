package main

import (
	"fmt"
	"testing"
	"time"

	"example.com/operators/05-controller-runtime/test/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m, "..") }

// The option keeps its word on a real API server, with a cache that is a second behind. Chapter 03
// tests the files that it has too.
func TestReadYourWrites(t *testing.T) {
	for _, readYourWrites := range []bool{false, true} {
		t.Run(fmt.Sprintf("reads wait for your own writes: %t", readYourWrites), func(t *testing.T) {
			e := &experiment{behind: time.Second, foos: 2}
			got, err := e.run(t.Context(), testenv.New(t).Config, start(readYourWrites, 4))
			testenv.Must(t, err)
			t.Logf("%+v", got)
			if (got.surplus > 0) == readYourWrites || got.surplus < 0 {
				t.Errorf("%d Pods too many, want some: %t", got.surplus, !readYourWrites)
			}
			if (got.refused > 0) == readYourWrites {
				t.Errorf("%d writes were refused, want some: %t", got.refused, !readYourWrites)
			}
			if got.reads > 0 {
				t.Errorf("%d requests that read, want none", got.reads)
			}
		})
	}
}
