// The shutdown of a manager whose caches never sync. This file is here for production, so read it last.

package main

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
)

// start runs mgr until ctx ends. A manager whose caches aren't synced yet never returns, but loops
// (controller-runtime 0.25.2, runnableGroup.Start). It has no work then, so don't wait for it.
func start(ctx context.Context, mgr ctrl.Manager) error {
	synced, stopped := make(chan struct{}), make(chan error, 1)
	if err := mgr.Add(afterSync(func() { close(synced) })); err != nil {
		return err
	}
	go func() { stopped <- mgr.Start(ctx) }()
	select {
	case err := <-stopped:
		return err
	case <-ctx.Done():
	}
	select {
	case <-synced:
		return <-stopped
	default:
		return nil
	}
}

// afterSync is called as soon as the caches are synced, whether this replica leads or not.
type afterSync func()

func (f afterSync) Start(context.Context) error { f(); return nil }

func (afterSync) NeedLeaderElection() bool { return false }
