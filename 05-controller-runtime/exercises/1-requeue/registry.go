// The registry of names, a service outside the cluster. Given: there is nothing to do here.

package requeue

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Registry gives out names, each to one owner. It sends no events: who wants to know how things stand asks.
type Registry interface {
	// Claim asks for a name on behalf of an owner, and says how that stands. To ask again does no harm.
	//
	// An error that is ErrRefused says that the registry will never give out this name. Any other says nothing about the
	// name: the registry is away or overloaded, or the network is.
	Claim(ctx context.Context, name string, owner types.UID) (Claim, error)
}

// ErrRefused is what a Registry returns for what it doesn't accept as a name.
var ErrRefused = errors.New("the registry refuses this name")

// Claim is how a claim stands.
type Claim struct {
	State State
	// KnowsMoreIn says when the registry will know more. 0: it can't say.
	KnowsMoreIn time.Duration
}

// State is what became of a claim so far.
type State string

const (
	Pending    State = "Pending"    // the registry is working on it
	Taken      State = "Taken"      // it is somebody else's, who may give it back some day
	Registered State = "Registered" // it is the owner's, for good
)

// pollEvery is the time between two questions, where nothing says when the answer may be another one.
const pollEvery = 5 * time.Minute
