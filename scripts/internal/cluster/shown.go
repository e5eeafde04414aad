package cluster

import (
	"context"
	"fmt"

	"example.com/operators/scripts/internal/ui"
)

// UpShown starts a cluster with that many nodes (0: no change), and shows the progress.
func UpShown(ctx context.Context, show *ui.UI, c Backend, nodes int) (result UpResult, err error) {
	what := fmt.Sprintf("cluster %q", c.Name())
	err = show.While(what, func(step *ui.Step) (done string, err error) {
		result, err = c.Up(ctx, UpOptions{Nodes: nodes, Progress: func(doing string) { step.Update("%s", doing) }})
		if result.Outcome != AlreadyUp {
			done = fmt.Sprintf("%s %s", what, result.Outcome)
		}
		return done, err
	})
	return result, err
}
