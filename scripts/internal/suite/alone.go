package suite

// One run at a time: two would take each other's clusters away, and the reader's copy of the repository. And nothing of a run is
// left behind, unless there is a failure to look at.

import (
	"context"
	"errors"

	"example.com/operators/scripts/internal/runs"
)

// begin returns when no other run goes on in this repository. end removes what this run has made and
// lets the next one begin; if it can't, it adds the reason to the run's error. The folders are those
// of .workshop that this run makes. The commands in the texts run in another repository, the reader's
// copy, and so don't wait for the run that has started them.
func (s *Suite) begin(ctx context.Context, folders ...string) (end func(result *error), err error) {
	step := s.UI.Start("tests")
	defer step.Drop()
	this, err := runs.Begin(ctx, s.Root, func(holder string) { step.Update("waiting for %s", holder) })
	if err != nil {
		return nil, err
	}
	s.this = this
	end = func(result *error) { *result = errors.Join(*result, this.End(ctx)) }
	if err := this.Own(folders...); err != nil {
		end(&err)
		return nil, err
	}
	return end, nil
}

// Runs create these in .workshop: clusters, and the reader's repository with its clusters.
const (
	clusters    = "clusters/"
	readersRoot = "reader"
)
