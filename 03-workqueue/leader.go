// Leader election: of several copies of this program one works, and the others wait to take over. The copies agree by a
// Lease, an object that the leader has to renew. One call in main.go; read it last.

package main

import (
	"context"
	"fmt"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

const leaseName = "foo-controller"

// leaderElection says how to elect.
type leaderElection struct {
	namespace     string        // of the Lease
	leaseDuration time.Duration // how long the others wait for a leader that is silent
	renewDeadline time.Duration // how long a leader tries to renew before it gives up; shorter
	retryPeriod   time.Duration // how often everybody tries; shorter still
}

// lead waits until this copy leads, then runs work. It returns when ctx has ended and work is done. If the lease is lost
// meanwhile, work's context ends with the cause errLostLease, and so does lead: the program should exit and start anew,
// since nothing that it believes is sure any longer.
func (l leaderElection) lead(ctx context.Context, client kubernetes.Interface, work func(context.Context)) error {
	hostname, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("a name for this copy: %w", err)
	}
	// The lease outlives ctx: it is held until the work is done, and given back then.
	holding, giveBack := context.WithCancel(context.WithoutCancel(ctx))
	defer giveBack()
	stopWaiting := context.AfterFunc(ctx, giveBack) // told to stop before it ever led
	worked := make(chan struct{})

	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Name: leaseName,
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: l.namespace, Name: leaseName},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: hostname + "_" + string(uuid.NewUUID())},
		},
		LeaseDuration:   l.leaseDuration,
		RenewDeadline:   l.renewDeadline,
		RetryPeriod:     l.retryPeriod,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(leading context.Context) {
				defer close(worked)
				if !stopWaiting() {
					return
				}
				working, stop := context.WithCancelCause(ctx)
				defer stop(nil)
				context.AfterFunc(leading, func() { stop(errLostLease) })
				work(working)
				if leading.Err() == nil { // a lost lease isn't ours to give back
					giveBack()
				}
			},
			OnStoppedLeading: func() {},
			OnNewLeader:      func(identity string) { klog.InfoS("There is a leader", "identity", identity) },
		},
	})
	if err != nil {
		return fmt.Errorf("leader election: %w", err)
	}
	klog.InfoS("Waiting to lead", "lease", klog.KRef(l.namespace, leaseName))
	elector.Run(holding)
	if holding.Err() == nil {
		<-worked
		return errLostLease
	}
	return nil
}
