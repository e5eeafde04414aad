package cluster

import (
	"context"
	"fmt"

	"example.com/operators/scripts/internal/ui"
)

// UpShown brings a cluster up, with a given number of nodes (0: as they are), and shows what is done.
func UpShown(ctx context.Context, show *ui.UI, c Backend, nodes int) (UpResult, error) {
	step := show.Start(fmt.Sprintf("cluster %q", c.Name()))
	result, err := c.Up(ctx, UpOptions{
		Nodes:    nodes,
		Progress: func(doing string) { step.Update("%s", doing) },
	})
	switch {
	case err != nil:
		step.Fail()
	case result.Outcome == AlreadyUp:
		step.Drop()
	default:
		step.Done("cluster %q %s", c.Name(), result.Outcome)
	}
	return result, err
}
