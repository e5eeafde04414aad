// The deadline of a watch. A connection can be dead without either end being told: then no read ever returns. TCP
// keep-alive and HTTP/2 pings notice a dead connection, but not a live one on which the watch has gone silent.

package wire

import (
	"context"
	"fmt"
	"io"
	"time"
)

// patience gives up on a wait that lasts longer than limit.
type patience struct {
	limit  time.Duration
	giveUp context.CancelCauseFunc
}

// wait begins a wait. Call what it returns when the wait is over.
func (p patience) wait() (over func() bool) {
	return time.AfterFunc(p.limit, func() {
		p.giveUp(fmt.Errorf("nothing heard for %v, not even a bookmark", p.limit))
	}).Stop
}

// patientReader gives up when a single Read lasts too long. Time between Reads, in which events are acted on, doesn't
// count.
type patientReader struct {
	io.Reader
	patience
}

func (r *patientReader) Read(buffer []byte) (int, error) {
	defer r.wait()()
	return r.Reader.Read(buffer)
}

// cause returns why ctx was cancelled, if it was, and err otherwise: "context canceled" explains nothing.
func cause(ctx context.Context, err error) error {
	if reason := context.Cause(ctx); reason != nil {
		return reason
	}
	return err
}
