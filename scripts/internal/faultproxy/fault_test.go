package faultproxy

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
)

func TestWait(t *testing.T) {
	fault := newFault("Test")
	if err := fault.Wait(t.Context(), 0); err != nil {
		t.Error(err)
	}
	waited := make(chan error)
	go func() { waited <- fault.Wait(t.Context(), 2) }()
	fault.hit()
	if len(waited) > 0 {
		t.Error("one hit is not two")
	}
	fault.hit()
	if err := receive(t, "the wait ends", waited); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := fault.Wait(ctx, 3); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "Test (hits: 2), want 3") {
		t.Errorf("the error is %v", err)
	}
	fault.Stop() // there is nothing to stop
}

// Each does something to a program with a watch, that lists, writes, and watches again.
func TestRecipes(t *testing.T) {
	for _, recipe := range Recipes() {
		t.Run(recipe.Name+" "+recipe.Does, func(t *testing.T) {
			_, proxy, config := setup(t)
			client := httpClient(t, config)
			openWatch(t, client, proxy)
			fault := recipe.Apply(proxy)
			var program sync.WaitGroup
			for _, request := range []string{
				"GET /apis/apps/v1/deployments",
				"PATCH /apis/apps/v1/namespaces/a/deployments/x",
				"GET " + foosPath + "?watch=true&resourceVersion=10",
			} {
				program.Go(func() { try(t, client, proxy, request) })
			}
			waitFor(t, fault, 1)
			fault.Stop()
			proxy.Close()
			program.Wait()
		})
	}
}
