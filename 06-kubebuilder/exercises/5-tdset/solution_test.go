//go:build solution

package main

import (
	"os"
	"testing"
)

// `workshop run 06 --tdset` applies this file, so it must be what controller-gen makes from the
// solution.
func TestTheCommittedCRDIsTheGeneratedOne(t *testing.T) {
	want, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile("manifests/crd.yaml"); err != nil || string(got) != want {
		t.Errorf("manifests/crd.yaml isn't what controller-gen makes from solution.go (%v): run go generate in this folder", err)
	}
}
