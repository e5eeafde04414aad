// How the controller learns about changes: from one Reflector for TDSets and another for
// Deployments, which run starts. They use the chapter's package wire.

package main

import (
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"example.com/operators/01-raw-watch/wire"
)

// controller creates a Deployment for each TDSet and keeps it in the state that the TDSet asks for.
type controller struct {
	client *wire.Client
	clock  clock.WithTickerAndDelayedExecution

	tdsetReflector      *wire.Reflector
	deploymentReflector *wire.Reflector
}

// newController returns a controller for the TDSets in namespace; "" means all namespaces.
func newController(config *rest.Config, namespace string, wallClock clock.WithTickerAndDelayedExecution) (*controller, error) {
	client, err := wire.NewClient(config)
	if err != nil {
		return nil, err
	}
	return &controller{
		client:              client,
		clock:               wallClock,
		tdsetReflector:      wire.NewReflector(client, tdsetsPath(namespace)),
		deploymentReflector: wire.NewReflector(client, deploymentsPath(namespace)),
	}, nil
}
