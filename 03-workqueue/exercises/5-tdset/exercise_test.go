//go:build check || solution

// These tests check what the program does in a cluster while time passes. Their helpers, such as
// until and wantReplicas, are in cluster_test.go.
//
// As given, the program processes each TDSet only once. `workshop test` checks these failures:
//
// fails: TestRun/a new image is rolled out
// says: the Deployment's image is crccheck/hello-world, want another
//
// fails: TestRun/what was changed by hand is put back, and what was deleted is made again
// says: at 00:00:01 the Deployment has 1 replicas, want 3
//
// fails: TestRun/a Deployment that was deleted while the watch had lost its history is made again
// says: at 00:05:00 there is no Deployment, want one with 3 replicas
//
// fails: TestRun/a Deployment that isn't the TDSet's is left alone, until its name is free
// says: at 00:00:01 there is no Deployment, want one with 3 replicas
//
// fails: TestRun/the status follows the Deployment
// says: there is no condition Ready, want one with the reason Progressing
//
// fails: TestRun/a day: the Deployment is scaled at every boundary, exactly then, and never in between
// says: the Deployment was written [],
//
// fails: TestRun/a new schedule counts at once, and so do its boundaries
// says: at 10:00:01 the Deployment has 5 replicas, want 7
//
// fails: TestRun/one of them may be earlier than the one that was waited for
// says: at 12:00:00 the Deployment has 5 replicas, want 3
//
// fails: TestRun/two TDSets: each is scaled at its own boundaries, and both at one that they share
// says: at 09:00:00 the second TDSet's Deployment has 3 replicas, want 7
//
// fails: TestRun/an event of an unrelated Deployment forgets no boundary
// says: at 09:00:00 the Deployment has 3 replicas, want 5
//
// fails: TestRun/a server that fails for five minutes at a boundary: it is done within a minute after that
// says: at 09:05:30 the Deployment has 3 replicas, want 5
//
// fails: TestRun/a server that fails for a second: it is done a moment after that
// says: at 09:00:03 the Deployment has 3 replicas, want 5
//
// fails: TestRun/failures are forgotten when all is well: the next one begins with a short pause again
// says: at 09:05:30 the Deployment has 3 replicas, want 5
//
// fails: TestRun/a change that comes while the server fails: it is done within a minute after that
// says: the Deployment's image is crccheck/hello-world, want another
//
// fails: TestRun/intervalMint: it looks at least that often
// says: in the eleven minutes up to 00:11 it hasn't looked once

package main

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestRun(t *testing.T) {
	for sentence, test := range map[string]func(c *cluster){
		"a TDSet that was there before the program gets its Deployment, with the replicas of the hour": func(c *cluster) {
			c.until("10:00")
			c.putTDSet()
			c.running(func() {
				c.wantReplicas(5)
			})
		},
		"a TDSet that comes later gets its Deployment at once": func(c *cluster) {
			c.until("10:00")
			c.running(func() {
				c.putTDSet()
				c.wantReplicas(5)
			})
		},
		"a TDSet that is being deleted gets nothing": func(c *cluster) {
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
		"what was changed by hand is put back, and what was deleted is made again": func(c *cluster) {
			c.putTDSet()
			c.running(func() {
				c.changeDeployment(func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(1)) })
				c.wantReplicas(3)
				c.remove("deployments")
				c.wantReplicas(3)
			})
		},
		"a Deployment that was deleted while the watch had lost its history is made again": func(c *cluster) {
			c.putTDSet()
			c.running(func() {
				c.removeUnseen("deployments")
				c.until("00:05")
				c.wantReplicas(3)
			})
		},
		"a Deployment that isn't the TDSet's is left alone, until its name is free": func(c *cluster) {
			c.putTDSet()
			other := desiredDeployment(example(c.T), 1)
			other.OwnerReferences = nil
			c.put(other, "deployments")
			c.running(func() {
				c.wantReplicas(1)
				c.wantReason(errResourceExists)
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
		"a day: the Deployment is scaled at every boundary, exactly then, and never in between": func(c *cluster) {
			c.putTDSet()
			c.running(func() {
				c.scaled, c.status = nil, nil
				c.until("11:00")
				c.clock.looks()
				c.until("16:30")
				if looks := c.clock.looks(); looks > 0 {
					c.Errorf("from 11:00 to 16:30 the program asked %d times what time it is, want none: nothing happens then", looks)
				}
				c.until("00:30")
			})
			c.wantScaled("01:00:00: 2", "07:00:00: 3", "09:00:00: 5", "17:00:00: 3", "19:00:00: 2", "00:00:00: 3")
			if len(c.status) > len(c.scaled) {
				c.Errorf("the status was written at %q, want no more writes than of the Deployment", c.status)
			}
		},
		"a new schedule counts at once, and so do its boundaries": func(c *cluster) {
			c.until("10:00")
			c.putTDSet()
			c.running(func() {
				c.putTDSet(func(tdset *TDSet) { tdset.Spec.SchedulingConfig = []Scheduling{{8, 20, 7}} })
				c.wantReplicas(7)
				c.until("20:00")
				c.wantReplicas(3)
			})
		},
		"one of them may be earlier than the one that was waited for": func(c *cluster) {
			c.until("10:00")
			c.putTDSet()
			c.running(func() {
				c.putTDSet(func(tdset *TDSet) { tdset.Spec.SchedulingConfig = []Scheduling{{8, 12, 7}} })
				c.until("12:00")
				c.wantReplicas(3)
				c.until("08:00")
				c.wantReplicas(7)
			})
		},
		"two TDSets: each is scaled at its own boundaries, and both at one that they share": func(c *cluster) {
			c.until("08:00")
			c.putTDSet()
			c.putAnother(Scheduling{9, 11, 7}, Scheduling{12, 17, 8})
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
		"an event of an unrelated Deployment forgets no boundary": func(c *cluster) {
			c.until("08:00")
			c.putTDSet()
			c.running(func() {
				c.putUnrelated()
				c.until("09:00")
				c.wantReplicas(5)
			})
		},
		"the boundaries of a schedule that was replaced do no harm": func(c *cluster) {
			c.until("10:00")
			c.putTDSet()
			c.running(func() {
				c.putTDSet(func(tdset *TDSet) { tdset.Spec.SchedulingConfig = []Scheduling{{8, 20, 7}} })
				c.scaled, c.status = nil, nil
				c.until("17:30")
				c.wantNothingWritten()
			})
		},
		"nor do those of a TDSet that is gone": func(c *cluster) {
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
		"a server that fails for five minutes at a boundary: it is done within a minute after that": func(c *cluster) {
			c.until("08:00")
			c.putTDSet()
			c.running(func() {
				c.clock.looks()
				c.failing("08:59:30", "09:04:30")
				if looks := c.clock.looks(); looks > 100 {
					c.Errorf("while the server failed, the program asked %d times what time it is: it tries again too often", looks)
				}
				c.until("09:05:30")
				c.wantReplicas(5)
				c.until("17:00")
				c.wantReplicas(3)
			})
		},
		"a server that fails for a second: it is done a moment after that": func(c *cluster) {
			c.until("08:00")
			c.putTDSet()
			c.running(func() {
				c.failing("08:59:59", "09:00:01")
				c.until("09:00:03")
				c.wantReplicas(5)
			})
		},
		"failures are forgotten when all is well: the next one begins with a short pause again": func(c *cluster) {
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
		"a change that comes while the server fails: it is done within a minute after that": func(c *cluster) {
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
		"intervalMint: it looks at least that often": func(c *cluster) {
			c.putTDSet(func(tdset *TDSet) {
				tdset.Spec.SchedulingConfig = []Scheduling{}
				tdset.Spec.IntervalMint = 10
			})
			c.running(func() {
				for _, at := range []string{"00:11", "00:22", "00:33"} {
					c.clock.looks()
					if c.until(at); c.clock.looks() == 0 {
						c.Errorf("in the eleven minutes up to %s it hasn't looked once", at)
					}
				}
			})
		},
		"once the program has ended, nothing happens at a boundary": func(c *cluster) {
			c.until("08:00")
			c.putTDSet()
			c.running(func() {})
			c.clock.looks()
			c.until("09:30")
			c.wantNoLooks("at 09:00, when the program had ended")
		},
	} {
		t.Run(sentence, func(t *testing.T) { inACluster(t, (*controller).run, test) })
	}
}
