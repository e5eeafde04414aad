// Leader election. If there are several replicas, one works and the others wait to take over. They
// agree by means of a Lease, an object that the leader has to renew. This file is here for
// production, and one call in main.go starts it, so read it last.

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
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

const leaseName = "foo-controller"

var errLostLease = errors.New("lost the lease: another replica may be working, so this one has to restart")

// leaderElection has the settings. retryPeriod + 1.5 × renewDeadline must be less than
// leaseDuration. That is how long a leader may go on after its last renewal: it waits for the next
// one, retries it until the deadline, and then tries to release the lease for half as long.
type leaderElection struct {
	namespace     string        // of the Lease
	leaseDuration time.Duration // how long the other replicas wait after the last renewal
	renewDeadline time.Duration // how long the leader retries a renewal before it gives up
	retryPeriod   time.Duration // how long the leader waits between two renewals
}

// newClient returns the client for the Lease. A request may take up to half of renewDeadline.
func (l leaderElection) newClient(config *rest.Config) (kubernetes.Interface, error) {
	if l.retryPeriod+l.renewDeadline*3/2 >= l.leaseDuration {
		return nil, fmt.Errorf("--leader-election-lease-duration %v: must be more than the retry period (%v) and 1.5 times the renew deadline (%v) together",
			l.leaseDuration, l.retryPeriod, l.renewDeadline)
	}
	config = rest.CopyConfig(config)
	config.Timeout = l.renewDeadline / 2
	return kubernetes.NewForConfig(config)
}

// lead waits until this replica leads, then runs work, and returns after it. On shutdown, ctx ends:
// work may finish what it is doing, and the leader renews the lease until then. If the lease is
// lost, leading ends too: work must stop at once, and lead returns errLostLease.
func (l leaderElection) lead(ctx context.Context, kube kubernetes.Interface, work func(ctx, leading context.Context)) error {
	hostname, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("identity of this replica: %w", err)
	}
	holding, release := context.WithCancel(context.WithoutCancel(ctx))
	defer release()
	stopWaiting := context.AfterFunc(ctx, release) // for a shutdown before this replica leads
	leading, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWork()
	worked := make(chan struct{})

	lock := releasedLast{&resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: l.namespace, Name: leaseName},
		Client:     kube.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: hostname + "_" + string(uuid.NewUUID())},
	}, func() { stopWork(); <-worked }}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Name:            leaseName,
		Lock:            lock,
		LeaseDuration:   l.leaseDuration,
		RenewDeadline:   l.renewDeadline,
		RetryPeriod:     l.retryPeriod,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(holding context.Context) {
				defer close(worked)
				if !stopWaiting() {
					return
				}
				working, stop := context.WithCancel(ctx)
				defer stop()
				context.AfterFunc(holding, stopWork)
				context.AfterFunc(leading, stop)
				work(working, leading)
				if leading.Err() == nil {
					release()
				}
			},
			OnStoppedLeading: func() {},
			OnNewLeader:      func(identity string) { klog.InfoS("There is a leader", "identity", identity) },
		},
	})
	if err != nil {
		return fmt.Errorf("leader election: %w", err)
	}
	elector.Run(holding)
	if holding.Err() == nil {
		<-worked
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
