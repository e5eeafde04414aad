//go:build check || solution

// These tests check what the program does in a cluster while time passes. Their helpers, such as
// until and wantReplicas, are in cluster_test.go.
//
// As given, the program processes each TDSet only once. `workshop test` checks these failures:
//
// fails: TestRun/a new image is rolled out
// says: the Deployment's image is crccheck/hello-world, want another
//
// fails: TestRun/a manual change is reverted, and a deleted Deployment is created again
// says: at 00:00:01 the Deployment has 1 replicas, want 3
//
// fails: TestRun/a Deployment is created again even if the watch missed its deletion
// says: at 00:05:00 there is no Deployment, want one with 3 replicas
//
// fails: TestRun/someone else's Deployment is left alone, and replaced only after it is deleted
// says: at 00:00:01 there is no Deployment, want one with 3 replicas
//
// fails: TestRun/the status follows the Deployment
// says: the condition Ready has the reason Progressing, want AsScheduled
//
// fails: TestRun/a refused create is visible, and a retry writes no status
// says: at 00:07:00 there is no Deployment, want one with 3 replicas
//
// fails: TestRun/for a whole day, the Deployment is scaled exactly at each boundary, and never in between
// says: the writes of the Deployment are [],
//
// fails: TestRun/a new schedule applies at once, and so do its boundaries
// says: at 10:00:01 the Deployment has 5 replicas, want 7
//
// fails: TestRun/the first boundary of a new schedule may be earlier than the old one
// says: at 12:00:00 the Deployment has 5 replicas, want 3
//
// fails: TestRun/two TDSets are each scaled at their own boundaries, and both at a shared one
// says: at 09:00:00 the second TDSet's Deployment has 3 replicas, want 7
//
// fails: TestRun/an event of an unrelated Deployment doesn't cancel a boundary
// says: at 09:00:00 the Deployment has 3 replicas, want 5
//
// fails: TestRun/if the server fails for five minutes at a boundary, the Deployment is scaled within a minute after that
// says: at 09:05:30 the Deployment has 3 replicas, want 5
//
// fails: TestRun/if the server fails for a second, the Deployment is scaled a moment after that
// says: at 09:00:03 the Deployment has 3 replicas, want 5
//
// fails: TestRun/after a success, the next failure is retried after a short delay again
// says: at 09:05:30 the Deployment has 3 replicas, want 5
//
// fails: TestRun/a new image that is set while the server fails is rolled out within a minute after that
// says: the Deployment's image is crccheck/hello-world, want another
//
// fails: TestRun/with intervalMint, the TDSet is checked at least that often
// says: in the eleven minutes before 00:11: got no call of c.clock.Now, want at least one

package main

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestRun(t *testing.T) {
	for sentence, test := range map[string]func(c *cluster){
		"a TDSet that existed before the start gets its Deployment, with the replicas of the hour": func(c *cluster) {
			c.until("10:00")
			c.putTDSet()
			c.running(func() {
				c.wantReplicas(5)
			})
		},
		"a TDSet that is created later gets its Deployment at once": func(c *cluster) {
			c.until("10:00")
			c.running(func() {
				c.putTDSet()
				c.wantReplicas(5)
			})
		},
		"nothing is written for a TDSet that is being deleted": func(c *cluster) {
			c.putTDSet(func(tdset *TDSet) {
				tdset.DeletionTimestamp = &metav1.Time{Time: midnight}
				tdset.Finalizers = []string{metav1.FinalizerDeleteDependents}
			})
			c.running(func() {
				c.wantNothingWritten()
			})
		},
		"a new image is rolled out": func(c *cluster) {
			c.putTDSet()
			c.running(func() {
				c.putTDSet(func(tdset *TDSet) { tdset.Spec.Container.Image = "another" })
				c.wantImage("another")
			})
		},
		"a manual change is reverted, and a deleted Deployment is created again": func(c *cluster) {
			c.putTDSet()
			c.running(func() {
				c.changeDeployment(func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(1)) })
				c.wantReplicas(3)
				c.remove("deployments")
				c.wantReplicas(3)
			})
		},
		"a Deployment is created again even if the watch missed its deletion": func(c *cluster) {
			c.putTDSet()
			c.running(func() {
				c.removeUnseen("deployments")
				c.until("00:05")
				c.wantReplicas(3)
			})
		},
		"someone else's Deployment is left alone, and replaced only after it is deleted": func(c *cluster) {
			c.putTDSet()
			other := desiredDeployment(example(c.T), 1)
			other.OwnerReferences = nil
			c.put(other, "deployments")
			c.running(func() {
				c.wantReplicas(1)
				c.wantReason(reasonResourceExists)
				c.remove("deployments")
				c.wantReplicas(3)
			})
		},
		"the status follows the Deployment": func(c *cluster) {
			c.putTDSet()
			c.running(func() {
				c.wantReason(reasonProgressing)
				c.changeDeployment(available)
				c.wantReason(reasonAsScheduled)
			})
		},
		"a refused create is visible, and a retry writes no status": func(c *cluster) {
			c.locked(func() { c.api.refusing = true })
			c.putTDSet()
			c.running(func() {
				c.until("00:05")
				c.wantReason(reasonRefused)
				if c.api.refused < 2 || len(c.status) != 1 {
					c.Errorf("the create was refused %d times, and the status written %d times, want several times, and once", c.api.refused, len(c.status))
				}
				c.locked(func() { c.api.refusing = false })
				c.until("00:07")
				c.wantReplicas(3)
			})
		},
		"for a whole day, the Deployment is scaled exactly at each boundary, and never in between": func(c *cluster) {
			c.putTDSet()
			c.running(func() {
				c.scaled, c.status = nil, nil
				c.until("11:00")
				c.clock.calls()
				c.until("16:30")
				c.wantNoCalls("from 11:00 to 16:30, when nothing changes")
				c.until("00:30")
			})
			c.wantScaled("01:00:00: 2", "07:00:00: 3", "09:00:00: 5", "17:00:00: 3", "19:00:00: 2", "00:00:00: 3")
			if len(c.status) > len(c.scaled) {
				c.Errorf("the status was written at %q, want at most as many writes as of the Deployment", c.status)
			}
		},
		"a new schedule applies at once, and so do its boundaries": func(c *cluster) {
			c.until("10:00")
			c.putTDSet()
			c.running(func() {
				c.putTDSet(func(tdset *TDSet) {
					tdset.Spec.SchedulingConfig = []Scheduling{{StartTime: 8, EndTime: 20, Replica: 7}}
				})
				c.wantReplicas(7)
				c.until("20:00")
				c.wantReplicas(3)
			})
		},
		"the first boundary of a new schedule may be earlier than the old one": func(c *cluster) {
			c.until("10:00")
			c.putTDSet()
			c.running(func() {
				c.putTDSet(func(tdset *TDSet) {
					tdset.Spec.SchedulingConfig = []Scheduling{{StartTime: 8, EndTime: 12, Replica: 7}}
				})
				c.until("12:00")
				c.wantReplicas(3)
				c.until("08:00")
				c.wantReplicas(7)
			})
		},
		"two TDSets are each scaled at their own boundaries, and both at a shared one": func(c *cluster) {
			c.until("08:00")
			c.putTDSet()
			c.putAnother(Scheduling{StartTime: 9, EndTime: 11, Replica: 7}, Scheduling{StartTime: 12, EndTime: 17, Replica: 8})
			c.running(func() {
				c.wantReplicasOfBoth(3, 3)
				c.until("09:00")
				c.wantReplicasOfBoth(5, 7)
				c.until("11:00")
				c.wantReplicasOfBoth(5, 3)
				c.until("12:00")
				c.wantReplicasOfBoth(5, 8)
				c.until("17:00")
				c.wantReplicasOfBoth(3, 3)
				c.until("19:00")
				c.wantReplicasOfBoth(2, 3)
			})
		},
		"an event of an unrelated Deployment doesn't cancel a boundary": func(c *cluster) {
			c.until("08:00")
			c.putTDSet()
			c.running(func() {
				c.putUnrelated()
				c.until("09:00")
				c.wantReplicas(5)
			})
		},
		"nothing is written at the boundaries of a replaced schedule": func(c *cluster) {
			c.until("10:00")
			c.putTDSet()
			c.running(func() {
				c.putTDSet(func(tdset *TDSet) {
					tdset.Spec.SchedulingConfig = []Scheduling{{StartTime: 8, EndTime: 20, Replica: 7}}
				})
				c.scaled, c.status = nil, nil
				c.until("17:30")
				c.wantNothingWritten()
			})
		},
		"nothing is written at the boundaries of a deleted TDSet": func(c *cluster) {
			c.until("08:00")
			c.putTDSet()
			c.running(func() {
				c.remove("tdsets")
				c.remove("deployments")
				c.scaled, c.status = nil, nil
				c.until("17:30")
				c.wantNothingWritten()
			})
		},
		"if the server fails for five minutes at a boundary, the Deployment is scaled within a minute after that": func(c *cluster) {
			c.until("08:00")
			c.putTDSet()
			c.running(func() {
				c.clock.calls()
				c.failing("08:59:30", "09:04:30")
				if calls := c.clock.calls(); calls > 100 {
					c.Errorf("while the server failed: got %d calls of c.clock.Now, want at most 100: increase the pause between retries", calls)
				}
				c.until("09:05:30")
				c.wantReplicas(5)
				c.until("17:00")
				c.wantReplicas(3)
			})
		},
		"if the server fails for a second, the Deployment is scaled a moment after that": func(c *cluster) {
			c.until("08:00")
			c.putTDSet()
			c.running(func() {
				c.failing("08:59:59", "09:00:01")
				c.until("09:00:03")
				c.wantReplicas(5)
			})
		},
		"after a success, the next failure is retried after a short delay again": func(c *cluster) {
			c.until("08:00")
			c.putTDSet()
			c.running(func() {
				c.failing("08:59:30", "09:04:30")
				c.until("09:05:30")
				c.wantReplicas(5)
				c.failing("16:59:59", "17:00:01")
				c.until("17:00:03")
				c.wantReplicas(3)
			})
		},
		"a new image that is set while the server fails is rolled out within a minute after that": func(c *cluster) {
			c.until("08:00")
			c.putTDSet()
			c.running(func() {
				c.failing("08:10:30", "08:12", func() {
					c.putTDSet(func(tdset *TDSet) { tdset.Spec.Container.Image = "another" })
				})
				c.until("08:13:10")
				c.wantImage("another")
			})
		},
		"with intervalMint, the TDSet is checked at least that often": func(c *cluster) {
			c.putTDSet(func(tdset *TDSet) {
				tdset.Spec.SchedulingConfig = []Scheduling{}
				tdset.Spec.IntervalMint = 10
			})
			c.running(func() {
				for _, at := range []string{"00:11", "00:22", "00:33"} {
					c.clock.calls()
					if c.until(at); c.clock.calls() == 0 {
						c.Errorf("in the eleven minutes before %s: got no call of c.clock.Now, want at least one", at)
					}
				}
			})
		},
		"after the shutdown, nothing happens at a boundary": func(c *cluster) {
			c.until("08:00")
			c.putTDSet()
			c.running(func() {})
			c.clock.calls()
			c.until("09:30")
			c.wantNoCalls("at 09:00, after the shutdown")
		},
	} {
		t.Run(sentence, func(t *testing.T) { inACluster(t, (*controller).run, test) })
	}
}
