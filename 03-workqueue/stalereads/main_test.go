package main

import (
	"os"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
)

// Each way keeps its word on a real server, with a cache that is a second behind.
func TestWays(t *testing.T) {
	kubeconfig := os.Getenv("TEST_KUBECONFIG")
	if kubeconfig == "" {
		t.Skip("set TEST_KUBECONFIG to the path of the kubeconfig of a disposable cluster")
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for sentence, test := range map[string]struct {
		way                  way
		wantSurplus          bool
		mayBeRefused, mayAsk bool
	}{
		"trusting the cache makes too many Pods":                 {way: trustCache, wantSurplus: true, mayBeRefused: true},
		"expectations prevent that, but not a refused status":    {way: useExpectations, mayBeRefused: true},
		"live reads prevent both, and cost requests":             {way: readLive, mayAsk: true},
		"remembered resourceVersions prevent both, without them": {way: trackWrites},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			e := &experiment{behind: time.Second, foos: 2}
			got, err := e.run(t.Context(), config, start(test.way))
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v", got)
			if (got.surplus > 0) != test.wantSurplus || got.surplus < 0 {
				t.Errorf("%d Pods too many, want some: %t", got.surplus, test.wantSurplus)
			}
			if (got.refused > 0) != test.mayBeRefused {
				t.Errorf("%d writes were refused, want some: %t", got.refused, test.mayBeRefused)
			}
			if (got.reads > 0) != test.mayAsk {
				t.Errorf("%d requests that read, want some: %t", got.reads, test.mayAsk)
			}
			if got.latency <= 0 {
				t.Errorf("the median Foo has had all its Pods after %v", got.latency)
			}
		})
	}
}
