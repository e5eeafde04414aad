package suite

// One run at a time: two would take each other's clusters away, and the reader's copy of the repository. And nothing of a run is
// left behind, unless there is a failure to look at.

import (
	"context"

	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/runs"
)

// begin returns when no other run goes on in this repository; end removes what this one has made, and lets the next one begin. The commands
// in the texts run in another repository, the reader's copy, and so don't wait for the run that has started them. The folders are those of
// .workshop that this run makes.
func (s *Suite) begin(ctx context.Context, folders ...string) (end func(), err error) {
	step := s.UI.Start("tests")
	defer step.Drop()
	this, err := runs.Begin(ctx, s.Root, func(holder string) { step.Update("waiting for %s", holder) })
	if err != nil {
		return nil, err
	}
	s.this = this
	end = func() {
		if err := this.End(ctx); err != nil {
			s.counts.Failed++
			s.UI.Say("%s", problem.Format(err))
		}
	}
	if err := this.Own(folders...); err != nil {
		end()
		return nil, err
	}
	return end, nil
}

// What runs make in .workshop: the tests' cluster, and the reader's copy of the repository with its clusters.
const (
	testCluster = "clusters/" + clusterName
	readersRoot = "reader"
)
