// Leader election. If there are several replicas, one works and the others wait to take over. They
// agree by means of a Lease, an object that the leader has to renew.

package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

// Kubernetes' own controllers use the same values.
const (
	leaseDuration = 15 * time.Second // how long the other replicas wait after the last renewal
	renewDeadline = 10 * time.Second // how long the leader retries a renewal before it gives up
	retryPeriod   = 2 * time.Second  // how long the leader waits between two renewals
)

// runAsLeader calls work as soon as this replica leads. When ctx ends, it waits until work has
// returned. Meanwhile, nobody renews the lease, so work has to return before the lease expires. If
// the lease is lost, the program exits, because another replica may be working.
func runAsLeader(ctx context.Context, config *rest.Config, namespace string, work func(context.Context)) error {
	hostname, _ := os.Hostname() // tells people who leads; the UUID makes the identity unique
	identity := resourcelock.ResourceLockConfig{Identity: hostname + "_" + string(uuid.NewUUID())}
	lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, namespace, "foo-controller", identity, config, renewDeadline)
	if err != nil {
		return fmt.Errorf("lock for leader election: %w", err)
	}
	worked := make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:          lock,
		LeaseDuration: leaseDuration,
		RenewDeadline: renewDeadline,
		RetryPeriod:   retryPeriod,
		Callbacks: leaderelection.LeaderCallbacks{
			OnNewLeader: func(identity string) { klog.InfoS("There is a leader", "identity", identity) },
			OnStartedLeading: func(ctx context.Context) {
				defer close(worked)
				work(ctx)
			},
			OnStoppedLeading: func() {
				if ctx.Err() == nil {
					klog.ErrorS(nil, "Lost the lease, exiting: another replica may be working")
					klog.FlushAndExit(klog.ExitFlushTimeout, 1)
				}
			},
		},
	})
	if err != nil {
		return fmt.Errorf("leader election: %w", err)
	}
	elector.Run(ctx)
	if elector.IsLeader() {
		<-worked
	}
	return nil
}
