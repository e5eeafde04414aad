// Leader election: of several copies of this program one works, and the others wait to take over. The copies agree by a
// Lease, an object that the leader has to renew. One call in main.go; read it last.

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/retry"
	"k8s.io/klog/v2"
)

const leaseName = "foo-controller"

var errLostLease = errors.New("the lease is lost, and another copy may be at work: start this one again (in a cluster, that happens by itself)")

// leaderElection says how to elect.
type leaderElection struct {
	namespace     string        // of the Lease
	leaseDuration time.Duration // how long the others wait for a leader that is silent
	renewDeadline time.Duration // how long a leader tries to renew before it gives up; shorter
	retryPeriod   time.Duration // how often a leader renews; shorter still. Others ask a little less often
}

// lead waits until this copy leads, then runs work. Of its two contexts ctx ends when the program is told to stop: then what is
// under way is finished. leading ends when the lease is lost: then nothing may be written any more, since another copy may be
// at work. lead returns when work has, with errLostLease if that was the reason: the program should exit and start anew,
// since nothing that it believes is sure any longer.
func (l leaderElection) lead(ctx context.Context, client kubernetes.Interface, work func(ctx, leading context.Context)) error {
	hostname, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("a name for this copy: %w", err)
	}
	lock := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: l.namespace, Name: leaseName},
		Client:     client.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: hostname + "_" + string(uuid.NewUUID())},
	}
	// The lease outlives ctx: it is held, and renewed, until the work is done.
	holding, letGo := context.WithCancel(context.WithoutCancel(ctx))
	defer letGo()
	stopWaiting := context.AfterFunc(ctx, letGo) // told to stop before it ever led
	worked := make(chan struct{})

	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Name:          leaseName,
		Lock:          lock,
		LeaseDuration: l.leaseDuration,
		RenewDeadline: l.renewDeadline,
		RetryPeriod:   l.retryPeriod,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(leading context.Context) {
				defer close(worked)
				if !stopWaiting() {
					return
				}
				working, stop := context.WithCancel(ctx)
				defer stop()
				context.AfterFunc(leading, stop)
				work(working, leading)
				if leading.Err() == nil { // a lost lease isn't ours to let go
					letGo()
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
	if elector.IsLeader() {
		l.release(context.WithoutCancel(ctx), lock)
	}
	return nil
}

// release gives the lease back, so that the next copy needn't wait until it runs out. client-go does that too (ReleaseOnCancel), but
// also when the lease couldn't be renewed, and before it says so: by the time that it had given up on a dead connection for the
// second time, the lease had run out and two copies were at work.
func (l leaderElection) release(ctx context.Context, lock resourcelock.Interface) {
	ctx, cancel := context.WithTimeout(ctx, l.renewDeadline)
	defer cancel()
	// The last renewal may still be on its way: then this one is in conflict with it.
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		record, _, err := lock.Get(ctx)
		if err != nil || record.HolderIdentity != lock.Identity() {
			return err
		}
		record.HolderIdentity = ""
		return lock.Update(ctx, *record)
	})
	if err != nil {
		klog.InfoS("The lease can't be given back: it will run out", "err", err)
	}
}
