//go:build check || solution

// TestReconcile checks what a call of Reconcile writes. TestRequeueAfter and TestRequeueAfterWrites
// check when it asks to be called again. TestRun checks what the program does in a cluster while
// time passes. Functions such as until and wantReplicas are in cluster_test.go, settled and
// wantAfter in round_test.go.
//
// As given, the program writes nothing, and never asks to be called again. `workshop test` checks
// these failures:
//
// fails: TestReconcile/there is no Deployment: it creates one, and writes the status
// says: Reconcile wrote [], want ["Deployment" "status"]
//
// fails: TestReconcile/the Deployment has the wrong replicas: it scales it, and writes the status
// says: Reconcile wrote [], want ["Deployment" "status"]
//
// fails: TestReconcile/the status is out of date: it writes the status, and then records an Event
// says: Reconcile wrote [], want ["status" "Event"]
//
// fails: TestReconcile/the Deployment is someone else's: it writes only the status
// says: Reconcile wrote [], want ["status" "Event"]
//
// fails: TestReconcile/a write failed: it returns the error, and an empty result
// says: a write failed: Reconcile returned no error, want one
//
// fails: TestReconcile/a create is refused: it writes the status and an Event
// says: Reconcile wrote [], want ["Deployment" "status" "Event"]
//
// fails: TestReconcile/a create is refused again, in other words: it doesn't write the status again
// says: Reconcile wrote [], want ["Deployment"]
//
// fails: TestReconcile/there is a conflict: it returns the error, and leaves the status alone
// says: Reconcile wrote [], want ["Deployment"]
//
// fails: TestReconcile/the namespace is being deleted: it returns no error, and leaves the status alone
// says: Reconcile wrote [], want ["Deployment"]
//
// fails: TestReconcile/a write of the status failed: it returns the error, and records no Event
// says: a write failed: Reconcile returned no error, want one
//
// fails: TestRequeueAfter/in a window: until it ends
// says: RequeueAfter is 0s, which is never, want 7h0m0s
//
// fails: TestRequeueAfter/a moment before a boundary: a moment
// says: RequeueAfter is 0s, which is never, want 1ms
//
// fails: TestRequeueAfter/exactly at a boundary: until the next one
// says: RequeueAfter is 0s, which is never, want 2h0m0s
//
// fails: TestRequeueAfter/in the last window of the day: until midnight
// says: RequeueAfter is 0s, which is never, want 30s
//
// fails: TestRequeueAfter/outside of all windows: until one begins
// says: RequeueAfter is 0s, which is never, want 45m0s
//
// fails: TestRequeueAfter/the next window has the same number of replicas: until it begins
// says: RequeueAfter is 0s, which is never, want 30m0s
//
// fails: TestRequeueAfter/intervalMint is shorter than the time to the boundary: intervalMint
// says: RequeueAfter is 0s, which is never, want 20m0s
//
// fails: TestRequeueAfter/intervalMint is longer than the time to the boundary: until the boundary
// says: RequeueAfter is 0s, which is never, want 10m0s
//
// fails: TestRequeueAfter/intervalMint, and no boundary: intervalMint
// says: RequeueAfter is 0s, which is never, want 20m0s
//
// fails: TestRequeueAfterWrites/after creating the Deployment: until the window ends
// says: RequeueAfter is 0s, which is never, want 7h0m0s
//
// fails: TestRequeueAfterWrites/after scaling the Deployment: until the window ends
// says: RequeueAfter is 0s, which is never, want 7h0m0s
//
// fails: TestRequeueAfterWrites/after writing the status: until the window ends
// says: RequeueAfter is 0s, which is never, want 7h0m0s
//
// fails: TestRequeueAfterWrites/two writes took five seconds each: ten seconds less
// says: RequeueAfter is 0s, which is never, want 6h59m50s
//
// fails: TestRequeueAfterWrites/two writes took until after the boundary: at once
// says: the writes took from 16:59:55 to 17:00:05: RequeueAfter is 0s, want more than 0
//
// fails: TestRun
// says: setUp doesn't watch Deployments, so Reconcile can't read them from the cache: apps/v1

package main

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestReconcile(t *testing.T) {
	for sentence, test := range map[string]func(t *testing.T){
		"there is no Deployment: it creates one, and writes the status": func(t *testing.T) {
			r := settled(t, "10:00")
			r.deployment, r.tdset.Status = nil, TDSetStatus{}
			r.wantWrites("Deployment", "status")
		},
		"the Deployment has the wrong replicas: it scales it, and writes the status": func(t *testing.T) {
			r := settled(t, "10:00")
			r.deployment.Spec.Replicas, r.tdset.Status = new(int32(3)), TDSetStatus{}
			r.wantWrites("Deployment", "status")
		},
		"the status is out of date: it writes the status, and then records an Event": func(t *testing.T) {
			r := settled(t, "10:00")
			r.tdset.Status = TDSetStatus{}
			r.wantWrites("status", "Event")
		},
		"the Deployment is someone else's: it writes only the status": func(t *testing.T) {
			r := settled(t, "10:00")
			r.deployment.OwnerReferences, r.deployment.Spec.Replicas = nil, new(int32(3))
			r.wantWrites("status", "Event")
		},
		"everything is as it should be: it writes nothing": func(t *testing.T) {
			settled(t, "10:00").wantWrites()
		},
		"the TDSet has been deleted: it writes nothing": func(t *testing.T) {
			r := settled(t, "10:00")
			r.tdset, r.deployment = nil, nil
			r.wantWrites()
		},
		"the TDSet is being deleted: it writes nothing": func(t *testing.T) {
			r := settled(t, "10:00")
			r.deployment = nil
			beingDeleted(r.tdset)
			r.wantWrites()
		},
		"a write failed: it returns the error, and an empty result": func(t *testing.T) {
			r := settled(t, "10:00")
			r.deployment, r.writeFails = nil, errors.New("the server is busy")
			r.wantError()
		},
		"a create is refused: it writes the status and an Event": func(t *testing.T) {
			r := settled(t, "10:00")
			r.deployment, r.deploymentFails = nil, refused("exceeded quota, used: 1", "")
			r.wantError()
			r.wrote("Deployment", "status", "Event")
		},
		"a create is refused again, in other words: it doesn't write the status again": func(t *testing.T) {
			r := settled(t, "10:00")
			r.tdset.Status = desiredStatus(r.tdset, nil, 0, refused("exceeded quota, used: 1", ""), metav1.NewTime(r.at))
			r.deployment, r.deploymentFails = nil, refused("exceeded quota, used: 2", "")
			r.wantError()
			r.wrote("Deployment")
		},
		"there is a conflict: it returns the error, and leaves the status alone": func(t *testing.T) {
			r := settled(t, "10:00")
			r.deployment, r.deploymentFails = nil, apierrors.NewConflict(schema.GroupResource{}, name, errors.New("somebody else owns a field"))
			r.wantError()
			r.wrote("Deployment")
		},
		"the namespace is being deleted: it returns no error, and leaves the status alone": func(t *testing.T) {
			r := settled(t, "10:00")
			r.deployment, r.deploymentFails = nil, refused("the namespace is being terminated", corev1.NamespaceTerminatingCause)
			r.wantWrites("Deployment")
		},
		"a write of the status failed: it returns the error, and records no Event": func(t *testing.T) {
			r := settled(t, "10:00")
			r.tdset.Status, r.writeFails = TDSetStatus{}, errors.New("the server is busy")
			r.wantError()
			r.wrote("status")
		},
	} {
		t.Run(sentence, func(t *testing.T) { synctest.Test(t, test) })
	}
}

func TestRequeueAfter(t *testing.T) {
	every := func(minutes int32) func(*TDSetSpec) { return func(spec *TDSetSpec) { spec.IntervalMint = minutes } }
	windows := func(windows ...Scheduling) func(*TDSetSpec) {
		return func(spec *TDSetSpec) { spec.SchedulingConfig = windows }
	}
	wholeDay := windows(Scheduling{StartTime: 0, EndTime: 24, Replica: 3})
	alike := windows(Scheduling{StartTime: 8, EndTime: 10, Replica: 3}, Scheduling{StartTime: 10, EndTime: 12, Replica: 3})
	for sentence, test := range map[string]struct {
		round *round
		want  time.Duration // 0: never
	}{
		"in a window: until it ends":                                               {settled(t, "10:00"), 7 * time.Hour},
		"a moment before a boundary: a moment":                                     {settled(t, "16:59:59.999"), time.Millisecond},
		"exactly at a boundary: until the next one":                                {settled(t, "17:00"), 2 * time.Hour},
		"in the last window of the day: until midnight":                            {settled(t, "23:59:30"), 30 * time.Second},
		"outside of all windows: until one begins":                                 {settled(t, "00:15"), 45 * time.Minute},
		"the next window has the same number of replicas: until it begins":         {settled(t, "09:30", alike), 30 * time.Minute},
		"one window for the whole day: never":                                      {settled(t, "10:00", wholeDay), 0},
		"no windows: never":                                                        {settled(t, "10:00", windows()), 0},
		"intervalMint is shorter than the time to the boundary: intervalMint":      {settled(t, "16:30", every(20)), 20 * time.Minute},
		"intervalMint is longer than the time to the boundary: until the boundary": {settled(t, "16:50", every(20)), 10 * time.Minute},
		"intervalMint, and no boundary: intervalMint":                              {settled(t, "10:00", windows(), every(20)), 20 * time.Minute},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				test.round.T = t
				test.round.wantAfter(test.want)
			})
		})
	}
}

func TestRequeueAfterWrites(t *testing.T) {
	for sentence, test := range map[string]func(t *testing.T){
		"after creating the Deployment: until the window ends": func(t *testing.T) {
			r := settled(t, "10:00")
			r.deployment = nil
			r.wantAfter(7 * time.Hour)
		},
		"after scaling the Deployment: until the window ends": func(t *testing.T) {
			r := settled(t, "10:00")
			r.deployment.Spec.Replicas = new(int32(3))
			r.wantAfter(7 * time.Hour)
		},
		"after writing the status: until the window ends": func(t *testing.T) {
			r := settled(t, "10:00")
			r.tdset.Status = TDSetStatus{}
			r.wantAfter(7 * time.Hour)
		},
		"two writes took five seconds each: ten seconds less": func(t *testing.T) {
			r := settled(t, "10:00")
			r.deployment, r.writeTakes = nil, 5*time.Second
			r.wantAfter(7*time.Hour - 10*time.Second)
		},
		"two writes took until after the boundary: at once": func(t *testing.T) {
			r := settled(t, "16:59:55")
			r.deployment, r.writeTakes = nil, 5*time.Second
			result, err := r.reconcile()
			if err != nil {
				t.Fatalf("Reconcile returned the error: %v", err)
			}
			if after := result.RequeueAfter; after <= 0 || after > time.Second {
				t.Errorf("the writes took from 16:59:55 to 17:00:05: RequeueAfter is %v, want more than 0 (0 or less means never) and at most a second", after)
			}
		},
		"the TDSet has been deleted: never": func(t *testing.T) {
			r := settled(t, "10:00")
			r.tdset = nil
			r.wantAfter(0)
		},
		"the TDSet is being deleted: never": func(t *testing.T) {
			r := settled(t, "10:00")
			beingDeleted(r.tdset)
			r.wantAfter(0)
		},
	} {
		t.Run(sentence, func(t *testing.T) { synctest.Test(t, test) })
	}
}

func TestRun(t *testing.T) {
	wantProgram(t)
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
			c.putTDSet(beingDeleted)
			c.running(func() {
				c.wantNothingWritten()
			})
		},
		"a new image is rolled out": func(c *cluster) {
			c.putTDSet()
			c.running(func() {
				c.putTDSet(func(tdset *TDSet) { tdset.Spec.Container.Image = "another" })
				if got := c.deployment().Spec.Template.Spec.Containers[0].Image; got != "another" {
					c.Errorf("the Deployment's image is %s, want another", got)
				}
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
		"someone else's Deployment is left alone, and replaced only after it is deleted": func(c *cluster) {
			c.putTDSet()
			c.put(c.othersDeployment(1), "deployments")
			c.running(func() {
				c.wantReplicas(1)
				c.wantReason(reasonResourceExists)
				c.remove("deployments")
				c.wantReplicas(3)
			})
		},
		"someone else's Deployment is left alone even if it isn't in the cache yet": func(c *cluster) {
			c.running(func() {
				c.putUnseen(c.othersDeployment(3), "deployments")
				c.putTDSet()
				c.wantReason(reasonResourceExists)
				if owners := c.deployment().OwnerReferences; len(owners) > 0 {
					c.Errorf("someone else's Deployment now has the owner %s %s, want none", owners[0].Kind, owners[0].Name)
				}
			})
		},
		"the fields that others have added to the Deployment stay when it is scaled": func(c *cluster) {
			c.putTDSet()
			c.running(func() {
				c.changeDeployment(func(d *appsv1.Deployment) {
					d.Annotations = map[string]string{"team": "blue"}
					pod := &d.Spec.Template.Spec
					pod.Containers = append(pod.Containers, corev1.Container{Name: "sidecar", Image: "log"})
					pod.Containers[0].Ports = append(pod.Containers[0].Ports, corev1.ContainerPort{Name: "metrics", ContainerPort: 9000})
				})
				c.scaled = nil
				c.until("09:00")
				c.wantReplicas(5)
				d := c.deployment()
				containers := d.Spec.Template.Spec.Containers
				if len(containers) != 2 || len(containers[0].Ports) != 2 || d.Annotations["team"] != "blue" {
					c.Errorf("the Deployment has %d containers, the first of them %d ports, and the annotations %v; want 2, 2 and team=blue",
						len(containers), len(containers[0].Ports), d.Annotations)
				}
			})
			c.wantScaled("01:00:00: 2", "07:00:00: 3", "09:00:00: 5")
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
		"the boundary of a replaced schedule is forgotten": func(c *cluster) {
			c.until("10:00")
			c.putTDSet()
			c.running(func() {
				c.putTDSet(func(tdset *TDSet) {
					tdset.Spec.SchedulingConfig = []Scheduling{{StartTime: 8, EndTime: 20, Replica: 7}}
				})
				c.until("16:59")
				c.clock.calls()
				c.until("17:01")
				c.wantNoCalls("at 17:00, although the window now ends at 20:00")
			})
		},
		"an event between two boundaries doesn't change the next one": func(c *cluster) {
			c.until("10:00")
			c.putTDSet()
			c.running(func() {
				c.changeDeployment(available)
				c.scaled, c.status = nil, nil
				c.until("12:00")
				c.putTDSet(func(tdset *TDSet) { tdset.Annotations = map[string]string{"team": "blue"} })
				c.wantNothingWritten()
				c.until("17:00")
			})
			c.wantScaled("17:00:00: 3")
		},
		"two TDSets are each scaled at their own boundaries": func(c *cluster) {
			c.until("08:30")
			c.putTDSet()
			c.put(elsewhere(example(c.T), Scheduling{StartTime: 10, EndTime: 12, Replica: 7}), "tdsets")
			c.running(func() {
				c.scaled = nil
				c.until("12:30")
			})
			c.wantScaled("09:00:00: 5", "10:00:00: 7", "12:00:00: 3")
		},
		"an event of a Deployment enqueues only its own TDSet": func(c *cluster) {
			c.putTDSet()
			c.running(func() {
				callsAfterChange := func(annotation string) int {
					c.clock.calls()
					c.changeDeployment(func(d *appsv1.Deployment) { d.Annotations = map[string]string{"team": annotation} })
					return c.clock.calls()
				}
				want := callsAfterChange("blue")
				c.put(elsewhere(example(c.T)), "tdsets")
				if got := callsAfterChange("red"); got > want {
					c.Errorf("a change of a Deployment led to %d calls of r.clock.Now, and to %d when there is a TDSet in another namespace: "+
						"don't enqueue all TDSets", want, got)
				}
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
		"if the server fails for six minutes at a boundary, the Deployment is scaled within a minute after that": func(c *cluster) {
			c.until("08:00")
			c.putTDSet()
			c.running(func() {
				c.clock.calls()
				c.failing("08:59:45", "09:05:45")
				if calls := c.clock.calls(); calls > 100 {
					c.Errorf("while the server failed: got %d calls of r.clock.Now, want at most 100: increase the pause between retries", calls)
				}
				c.until("09:06:45")
				c.wantReplicas(5)
				c.until("17:00")
				c.wantReplicas(3)
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
						c.Errorf("in the eleven minutes before %s: got no call of r.clock.Now, want at least one", at)
					}
				}
			})
		},
	} {
		t.Run(sentence, func(t *testing.T) { inACluster(t, test) })
	}
}

// wantProgram ends the test if the program can't do what all these tests begin with.
func wantProgram(t *testing.T) {
	t.Helper()
	inACluster(t, func(c *cluster) {
		c.until("10:00")
		c.putTDSet()
		c.running(func() { c.wantReplicas(5) })
	})
	if t.Failed() {
		t.FailNow() // all others would report the same
	}
}

// refused returns the API server's answer to a write that it refuses, with that cause, if any.
func refused(text string, cause metav1.CauseType) error {
	err := apierrors.NewForbidden(schema.GroupResource{Resource: "deployments"}, name, errors.New(text))
	if cause != "" {
		err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: cause}}
	}
	return err
}

// elsewhere moves a TDSet to another namespace, and gives it other windows, if there are any.
func elsewhere(tdset *TDSet, windows ...Scheduling) *TDSet {
	tdset.Namespace = "elsewhere"
	if len(windows) > 0 {
		tdset.Spec.SchedulingConfig = windows
	}
	return tdset
}
