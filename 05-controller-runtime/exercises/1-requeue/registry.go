// The registry of names, a service outside the cluster. You don't need to change anything here.

package requeue

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Registry gives out names, each to one owner. It sends no events, so you have to ask it for the
// state of a claim.
type Registry interface {
	// Claim asks for a name on behalf of an owner, and returns the state of that claim. Asking
	// again does no harm.
	//
	// ErrRefused means that the registry will never give out this name. Any other error says
	// nothing about the name: the registry or the network may be down or overloaded.
	Claim(ctx context.Context, name string, owner types.UID) (Claim, error)
}

// ErrRefused is the error for a name that the registry doesn't accept.
var ErrRefused = errors.New("the registry refuses this name")

// Claim is the state of a claim.
type Claim struct {
	State State
	// KnowsMoreIn is the time until the registry will know more. 0 means that it can't say.
	KnowsMoreIn time.Duration
}

// State is the outcome of a claim so far.
type State string

const (
	Pending    State = "Pending"    // the registry is working on it
	Taken      State = "Taken"      // somebody else has the name, and may give it back one day
	Registered State = "Registered" // the owner has the name, for good
)

// pollEvery is the pause before the registry is asked again, if it can't say when its answer may
// change.
const pollEvery = 5 * time.Minute
