//go:build check || solution

// The tests of this exercise: first newController and each write separately, then the whole program
// in a cluster, while time passes. cluster_test.go has the helpers, such as until and wantReplicas.
//
// As given, newController returns an error, so no test can run. `workshop test` checks these
// failures:
//
// fails: TestNewController
// says: newController: the controller has no clients, informers and listers yet
//
// fails: TestWrites
// says: newController: the controller has no clients, informers and listers yet
//
// fails: TestRun
// says: newController: the controller has no clients, informers and listers yet

package main

import (
	"testing"
	"testing/synctest"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestNewController(t *testing.T) {
	wantController(t)
	for sentence, test := range map[string]func(c *cluster){
		"the listers read from the informers' caches": func(c *cluster) {
			tdset, deployment := example(c.T), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
			c.program.tdsetInformer.GetIndexer().Add(tdset)
			c.program.deploymentInformer.GetIndexer().Add(deployment)
			if _, err := c.program.getTDSet(c.Context(), types.NamespacedName{Namespace: namespace, Name: name}); err != nil {
				c.Errorf("tdsetsLister doesn't find the TDSet that tdsetInformer has: %v", err)
			}
			if _, err := c.program.getDeployment(c.Context(), namespace, name); err != nil {
				c.Errorf("deploymentsLister doesn't find the Deployment that deploymentInformer has: %v", err)
			}
		},
		"without a namespace, the informers watch all namespaces": func(c *cluster) {
			c.put(elsewhere(example(c.T)), "tdsets")
			c.put(elsewhere(c.othersDeployment(1)), "deployments")
			c.running(func() {
				c.wantCached("elsewhere/" + name)
			})
		},
		"with a namespace, the informers watch no other": func(c *cluster) {
			c.put(elsewhere(example(c.T)), "tdsets")
			c.put(elsewhere(c.othersDeployment(1)), "deployments")
			c.program = newProgram(c.T, c.api, namespace, c.clock)
			c.running(func() {
				c.wantCached()
			})
		},
	} {
		t.Run(sentence, func(t *testing.T) { inACluster(t, (*controller).run, test) })
	}
}

func TestWrites(t *testing.T) {
	wantController(t)
	for sentence, test := range map[string]func(c *cluster){
		"createDeployment creates the Deployment, and owns the fields that it sets": func(c *cluster) {
			c.putTDSet()
			c.wantNoError("createDeployment", c.createDeployment(3))
			c.wantReplicas(3)
			c.wantOwner(c.deployment(), fieldOwner, "f:spec", "f:replicas")
		},
		"createDeployment doesn't change a Deployment that somebody has just created": func(c *cluster) {
			c.putTDSet()
			c.put(c.othersDeployment(1), "deployments")
			c.wantError("createDeployment", c.createDeployment(3))
			c.wantReplicas(1)
		},
		"updateDeployment reverts what somebody has changed, and owns that field again": func(c *cluster) {
			c.putTDSet()
			c.wantNoError("createDeployment", c.createDeployment(3))
			c.changeDeployment(func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(1)) })
			c.wantNoError("updateDeployment", c.updateDeployment(c.deployment(), 3))
			c.wantReplicas(3)
			c.wantOwner(c.deployment(), fieldOwner, "f:spec", "f:replicas")
		},
		"updateDeployment succeeds even if somebody has annotated the Deployment since": func(c *cluster) {
			c.putTDSet()
			c.wantNoError("createDeployment", c.createDeployment(3))
			observed := c.deployment()
			c.changeDeployment(func(d *appsv1.Deployment) { d.Annotations = map[string]string{"team": "blue"} })
			c.wantNoError("after somebody annotated the Deployment, updateDeployment", c.updateDeployment(observed, 5))
			c.wantReplicas(5)
			if got := c.deployment().Annotations["team"]; got != "blue" {
				c.Errorf("the annotation team, which somebody else owns, is %q, want blue", got)
			}
		},
		"updateDeployment doesn't change another Deployment with the same name": func(c *cluster) {
			c.putTDSet()
			c.wantNoError("createDeployment", c.createDeployment(3))
			observed := c.deployment()
			c.remove("deployments")
			c.put(c.othersDeployment(1), "deployments")
			c.wantError("updateDeployment", c.updateDeployment(observed, 5))
			c.wantReplicas(1)
		},
		"updateDeployment doesn't create a Deployment that was deleted": func(c *cluster) {
			c.putTDSet()
			c.wantNoError("createDeployment", c.createDeployment(3))
			observed := c.deployment()
			c.remove("deployments")
			c.wantError("updateDeployment", c.updateDeployment(observed, 5))
			if read[appsv1.Deployment](c, "deployments") != nil {
				c.Error("updateDeployment created a Deployment, want none")
			}
		},
		"updateTDSetStatus writes the status, and nothing else": func(c *cluster) {
			c.putTDSet()
			before := c.tdset()
			c.wantNoError("updateTDSetStatus", c.updateTDSetStatus(before, someStatus(7)))
			after := c.tdset()
			if got, want := after.Status, someStatus(7); !equality.Semantic.DeepEqual(got, want) {
				c.Errorf("the status is\n%+v, want\n%+v", got, want)
			}
			if after.Generation != before.Generation {
				c.Errorf("the spec is %+v, want no change", after.Spec)
			}
		},
		"updateTDSetStatus overwrites a status that somebody else has written": func(c *cluster) {
			c.putTDSet(func(tdset *TDSet) {
				tdset.Status = someStatus(1)
				tdset.Status.Conditions[0].Reason = "ByHand"
			})
			c.wantNoError("updateTDSetStatus", c.updateTDSetStatus(c.tdset(), someStatus(2)))
			c.wantReason("Some")
		},
		"updateTDSetStatus doesn't take over somebody else's condition": func(c *cluster) {
			blessed := someStatus(1).Conditions[0]
			blessed.Type = "Blessed"
			c.putTDSet(func(tdset *TDSet) { tdset.Status.Conditions = []metav1.Condition{blessed} })
			status := someStatus(1)
			status.Conditions = append(status.Conditions, blessed) // as desiredStatus returns it
			c.wantNoError("updateTDSetStatus", c.updateTDSetStatus(c.tdset(), status))
			if meta.FindStatusCondition(c.tdset().Status.Conditions, "Blessed") == nil {
				c.Fatal("the condition Blessed, which somebody else owns, is gone")
			}
			c.wantOwner(c.tdset(), somebody, "f:status", "f:conditions", `k:{"type":"Blessed"}`)
		},
		"updateTDSetStatus doesn't write a status that was computed from an old spec": func(c *cluster) {
			c.putTDSet()
			seen := c.tdset()
			c.putTDSet(func(tdset *TDSet) { tdset.Spec.DefaultReplica = 1 })
			c.wantError("updateTDSetStatus", c.updateTDSetStatus(seen, someStatus(1)))
			if conditions := c.tdset().Status.Conditions; len(conditions) > 0 {
				c.Errorf("the status has a condition with the reason %q, want no conditions", conditions[0].Reason)
			}
		},
	} {
		t.Run(sentence, func(t *testing.T) { inACluster(t, (*controller).run, test) })
	}
}

func TestRun(t *testing.T) {
	wantController(t)
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

// wantController ends the test if newController fails or starts a goroutine.
func wantController(t *testing.T) {
	t.Helper()
	defer func() {
		if deadlock := recover(); deadlock != nil { // every goroutine of a bubble has to end
			t.Fatal("newController started a goroutine that doesn't end, such as an informer's: start the informers in run")
		}
	}()
	synctest.Test(t, func(t *testing.T) { newProgram(t, newFakeAPI(), "", &testClock{t: t}) })
}

// createDeployment, updateDeployment and updateTDSetStatus call the controller's functions.

func (c *cluster) createDeployment(replicas int32) error {
	_, err := c.program.createDeployment(c.Context(), desiredDeployment(c.tdset(), replicas))
	return err
}

func (c *cluster) updateDeployment(observed *appsv1.Deployment, replicas int32) error {
	_, err := c.program.updateDeployment(c.Context(), observed, desiredDeployment(c.tdset(), replicas))
	return err
}

func (c *cluster) updateTDSetStatus(seen *TDSet, status TDSetStatus) error {
	return c.program.updateTDSetStatus(c.Context(), seen, status)
}

func (c *cluster) wantNoError(function string, err error) {
	c.Helper()
	if err != nil {
		c.Fatalf("%s returned the error: %v", function, err)
	}
}

func (c *cluster) wantError(function string, err error) {
	c.Helper()
	if err == nil {
		c.Errorf("%s returned no error, want one", function)
	}
}

// someStatus returns a status that was computed from that generation.
func someStatus(generation int64) TDSetStatus {
	return TDSetStatus{
		ObservedGeneration: generation,
		Conditions: []metav1.Condition{{
			Type:               conditionReady,
			Status:             metav1.ConditionTrue,
			ObservedGeneration: generation,
			LastTransitionTime: metav1.NewTime(midnight),
			Reason:             "Some",
			Message:            "a message",
		}},
	}
}

// elsewhere moves an object to another namespace.
func elsewhere[T metav1.Object](object T) T {
	object.SetNamespace("elsewhere")
	return object
}
