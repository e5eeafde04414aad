// Leader election. If there are several replicas, one works and the others wait to take over. They
// agree by means of a Lease, an object that the leader has to renew. This file is here for
// production, and one call in main.go starts it, so read it last.

package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

var errLostLease = errors.New("lost the lease: another replica may be working, so this one has to restart")

type leaderElection struct {
	enabled   bool
	namespace string // of the Lease
	leaderelection.LeaderElectionConfig
}

// run runs work once this replica leads, or at once without leader election. On shutdown, ctx ends:
// work may finish what it is doing, and the leader renews the lease until then. If the lease is
// lost, leading ends too: work must stop at once, and run returns errLostLease.
func (l leaderElection) run(ctx context.Context, config *rest.Config, work func(ctx, leading context.Context)) error {
	if !l.enabled {
		work(ctx, context.WithoutCancel(ctx))
		return nil
	}
	// After a renewal, the leader waits for the retry period. It retries the next renewal until the
	// deadline, and then tries to release the lease for half as long. Only then may another lead.
	if l.RetryPeriod+l.RenewDeadline*3/2 >= l.LeaseDuration {
		return fmt.Errorf("--leader-election-lease-duration %v: must be more than the retry period (%v) and 1.5 times the renew deadline (%v) together",
			l.LeaseDuration, l.RetryPeriod, l.RenewDeadline)
	}
	hostname, _ := os.Hostname() // tells people who leads; the UUID makes the identity unique
	identity := resourcelock.ResourceLockConfig{Identity: hostname + "_" + string(uuid.NewUUID())}
	lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, l.namespace, "foo-controller", identity, config, l.RenewDeadline)
	if err != nil {
		return fmt.Errorf("lock for leader election: %w", err)
	}

	leading, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	worked := make(chan struct{})
	// A shutdown before this replica leads ends the wait.
	stopWaiting := context.AfterFunc(ctx, func() { stop(nil); close(worked) })
	l.Lock = releasedLast{lock, func() { stop(errLostLease); <-worked }}
	l.ReleaseOnCancel = true
	l.Callbacks = leaderelection.LeaderCallbacks{
		OnStartedLeading: func(context.Context) {
			if stopWaiting() {
				working, shutDown := context.WithCancel(leading)
				context.AfterFunc(ctx, shutDown)
				work(working, leading)
				stop(nil)
				close(worked)
			}
		},
		OnStoppedLeading: func() { stop(errLostLease) },
		OnNewLeader:      func(identity string) { klog.InfoS("There is a leader", "identity", identity) },
	}
	elector, err := leaderelection.NewLeaderElector(l.LeaderElectionConfig)
	if err != nil {
		return fmt.Errorf("leader election: %w", err)
	}
	elector.Run(leading)
	<-worked
	if context.Cause(leading) == errLostLease {
		return errLostLease
	}
	return nil
}

// releasedLast is a lock that is released only after the work has ended. client-go also releases a
// lock that it couldn't renew in time, and it does that before it cancels the work.
type releasedLast struct {
	resourcelock.Interface
	endWork func()
}

func (l releasedLast) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if record.HolderIdentity == "" {
		l.endWork()
	}
	return l.Interface.Update(ctx, record)
}
