// The status of a Foo, as computed from its Deployment.

package main

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	samplecontrollerv1alpha1 "example.com/operators/01-raw-watch/pkg/apis/samplecontroller/v1alpha1"
)

func TestDesiredStatus(t *testing.T) {
	foo := aFoo("example", "web", 3, atGeneration(7))
	for name, test := range map[string]struct {
		deployment *appsv1.Deployment
		want       samplecontrollerv1alpha1.FooStatus
	}{
		"all replicas are available": {
			deployment: deploymentOf(foo, available(3)),
			want:       status(3, ready(metav1.ConditionTrue, "Available", `3 of 3 replicas of Deployment "web" are available`)),
		},
		"some replicas are available": {
			deployment: deploymentOf(foo, available(1)),
			want:       status(1, ready(metav1.ConditionFalse, "Progressing", `1 of 3 replicas of Deployment "web" are available`)),
		},
		"the Deployment is new and has no status": {
			deployment: deploymentOf(foo),
			want:       status(0, ready(metav1.ConditionFalse, "Progressing", `0 of 3 replicas of Deployment "web" are available`)),
		},
		"the Deployment's status belongs to an older spec": {
			deployment: deploymentOf(foo, available(3), func(d *appsv1.Deployment) { d.Generation++ }),
			want:       status(3, ready(metav1.ConditionFalse, "Progressing", `3 of 3 replicas of Deployment "web" are available`)),
		},
		"somebody else's Deployment has the name": {
			deployment: deploymentOf(foo, available(3), unowned),
			want:       status(0, ready(metav1.ConditionFalse, "ErrResourceExists", taken)),
		},
		"a Deployment of an earlier Foo with the same name has the name": {
			deployment: deploymentOf(foo, available(3), ofAnEarlierFoo),
			want:       status(0, ready(metav1.ConditionFalse, "ErrResourceExists", taken)),
		},
		"somebody else's Deployment has the name and is being deleted": {
			deployment: deploymentOf(foo, available(3), unowned, terminating),
			want:       status(0, ready(metav1.ConditionFalse, "ErrResourceExists", taken)),
		},
		"the Foo's own Deployment is being deleted": {
			deployment: deploymentOf(foo, available(3), terminating),
			want:       status(0, ready(metav1.ConditionFalse, "Terminating", `Deployment "web" is being deleted and will be created again`)),
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, desiredStatus(foo, test.deployment, nil, now)); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
		})
	}
}

// A status is written only if it differs from the last one. So if nothing has changed, the new
// status has to equal the old one, including the time of the last transition, which is when True
// became False or the other way round.
func TestDesiredStatusAfterAnEarlierOne(t *testing.T) {
	progressing := aCondition("Ready", metav1.ConditionFalse, "Progressing", `0 of 3 replicas of Deployment "web" are available`, earlier)
	foreign := aCondition("Blessed", metav1.ConditionTrue, "ByThePriest", "amen", earlier)
	for name, test := range map[string]struct {
		last       []metav1.Condition
		deployment func(*appsv1.Deployment)
		want       []metav1.Condition
	}{
		"nothing has changed": {
			last:       []metav1.Condition{progressing},
			deployment: available(0),
			want:       []metav1.Condition{progressing},
		},
		"the message has changed, but Ready hasn't: the transition time stays": {
			last:       []metav1.Condition{progressing},
			deployment: available(2),
			want:       []metav1.Condition{aCondition("Ready", metav1.ConditionFalse, "Progressing", `2 of 3 replicas of Deployment "web" are available`, earlier)},
		},
		"Ready has changed: the transition time is now": {
			last:       []metav1.Condition{progressing},
			deployment: available(3),
			want:       []metav1.Condition{aCondition("Ready", metav1.ConditionTrue, "Available", `3 of 3 replicas of Deployment "web" are available`, now)},
		},
		"somebody else's condition is kept": {
			last:       []metav1.Condition{foreign, progressing},
			deployment: available(0),
			want:       []metav1.Condition{foreign, progressing},
		},
	} {
		t.Run(name, func(t *testing.T) {
			foo := aFoo("example", "web", 3, atGeneration(7), func(foo *samplecontrollerv1alpha1.Foo) { foo.Status.Conditions = test.last })
			before := append([]metav1.Condition{}, test.last...)

			got := desiredStatus(foo, deploymentOf(foo, test.deployment), nil, now)

			if diff := cmp.Diff(test.want, got.Conditions); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, foo.Status.Conditions); diff != "" {
				t.Errorf("desiredStatus changed its argument foo (-before +after):\n%s", diff)
			}
		})
	}
}

// After a failure, users see why. A failure that they can do nothing about isn't quoted.
func TestDesiredStatusAfterAFailure(t *testing.T) {
	deployments := schema.GroupResource{Group: "apps", Resource: "deployments"}
	quota := apierrors.NewForbidden(deployments, "web", errors.New("exceeded quota: none, used: 0"))
	foo := aFoo("example", "web", 3, atGeneration(7))
	for name, test := range map[string]struct {
		failure    error
		deployment *appsv1.Deployment
		want       samplecontrollerv1alpha1.FooStatus
	}{
		"a create is refused by a quota": {
			failure: fmt.Errorf("create Deployment web: %w", quota),
			want:    status(0, ready(metav1.ConditionFalse, "Refused", "create Deployment web: "+quota.Error())),
		},
		"an update of a rolled-out Deployment is refused": {
			failure:    quota,
			deployment: deploymentOf(foo, available(3)),
			want:       status(3, ready(metav1.ConditionFalse, "Refused", quota.Error())),
		},
		"an admission policy refuses it": {
			failure: apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "Deployment"}, "web", nil),
			want:    status(0, ready(metav1.ConditionFalse, "Refused", `Deployment.apps "web" is invalid`)),
		},
		"a webhook changes what was sent": {
			failure:    errOverruled,
			deployment: deploymentOf(foo, available(3), running("mirror.example.com/nginx")),
			want:       status(3, ready(metav1.ConditionFalse, "Refused", errOverruled.Error())),
		},
		"the API server has an error of its own": {
			failure: apierrors.NewInternalError(errors.New("etcd is at 10.0.0.7")),
			want:    status(0, ready(metav1.ConditionFalse, "Failed", "The last attempt failed: the controller's log says why")),
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, desiredStatus(foo, test.deployment, test.failure, now)); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
		})
	}
}

// Each retry may be refused in other words, but the status is only written again if there is another
// reason or another spec.
func TestTheFirstRefusalIsKept(t *testing.T) {
	first := aCondition("Ready", metav1.ConditionFalse, "Refused", "used: 0", earlier)
	later := apierrors.NewBadRequest("used: 1")
	for name, test := range map[string]struct {
		failure    error
		generation int64
		want       string
	}{
		"the same reason and the same spec": {later, 7, "used: 0"},
		"another spec":                      {later, 8, "used: 1"},
		"another reason":                    {errors.New("connection refused"), 7, "The last attempt failed: the controller's log says why"},
	} {
		t.Run(name, func(t *testing.T) {
			foo := aFoo("example", "web", 3, atGeneration(test.generation), func(foo *samplecontrollerv1alpha1.Foo) { foo.Status.Conditions = []metav1.Condition{first} })
			got := desiredStatus(foo, nil, test.failure, now).Conditions[0]
			if got.Message != test.want || got.LastTransitionTime != earlier {
				t.Errorf("the message is %q since %v, want %q since %v", got.Message, got.LastTransitionTime, test.want, earlier)
			}
		})
	}
}

// The Deployment may be as the Foo asks, and still have no Pods.
func TestDesiredStatusQuotesTheDeployment(t *testing.T) {
	noProgress := appsv1.DeploymentCondition{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded", Message: "timed out"}
	noPods := appsv1.DeploymentCondition{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: "violates PodSecurity"}
	fine := appsv1.DeploymentCondition{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"}
	foo := aFoo("example", "web", 3, atGeneration(7))
	for name, test := range map[string]struct {
		conditions []appsv1.DeploymentCondition
		available  int32
		want       metav1.Condition
	}{
		"its Pods are refused":                   {[]appsv1.DeploymentCondition{fine, noPods}, 0, ready(metav1.ConditionFalse, "FailedCreate", "violates PodSecurity")},
		"its rollout takes too long":             {[]appsv1.DeploymentCondition{noProgress}, 1, ready(metav1.ConditionFalse, "ProgressDeadlineExceeded", "timed out")},
		"both: the cause comes first":            {[]appsv1.DeploymentCondition{noProgress, noPods}, 0, ready(metav1.ConditionFalse, "FailedCreate", "violates PodSecurity")},
		"neither":                                {[]appsv1.DeploymentCondition{fine}, 1, ready(metav1.ConditionFalse, "Progressing", `1 of 3 replicas of Deployment "web" are available`)},
		"all replicas have become available now": {[]appsv1.DeploymentCondition{noProgress}, 3, ready(metav1.ConditionTrue, "Available", `3 of 3 replicas of Deployment "web" are available`)},
	} {
		t.Run(name, func(t *testing.T) {
			deployment := deploymentOf(foo, available(test.available), func(d *appsv1.Deployment) { d.Status.Conditions = test.conditions })
			if diff := cmp.Diff(status(test.available, test.want), desiredStatus(foo, deployment, nil, now)); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRolledOut(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*appsv1.Deployment)
		want   bool
	}{
		"all replicas are available":                     {available(3), true},
		"zero replicas are desired and there are none":   {both(scaledTo(0), available(0)), true},
		"the Deployment controller hasn't seen the spec": {both(available(3), func(d *appsv1.Deployment) { d.Generation++ }), false},
		"one replica isn't available":                    {both(available(3), func(d *appsv1.Deployment) { d.Status.AvailableReplicas-- }), false},
		"one replica still runs the old template":        {both(available(3), func(d *appsv1.Deployment) { d.Status.UpdatedReplicas-- }), false},
		"there is one replica too many":                  {both(available(3), func(d *appsv1.Deployment) { d.Status.Replicas++ }), false},
		"more replicas are available than desired":       {both(available(3), scaledTo(2)), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := rolledOut(deploymentOf(aFoo("example", "web", 3), test.change)); got != test.want {
				t.Errorf("rolledOut = %v, want %v", got, test.want)
			}
		})
	}
}

const taken = `Deployment "web" exists and is not controlled by this Foo: delete it or choose another deploymentName`

func atGeneration(generation int64) func(*samplecontrollerv1alpha1.Foo) {
	return func(foo *samplecontrollerv1alpha1.Foo) { foo.Generation = generation }
}

func status(availableReplicas int32, ready metav1.Condition) samplecontrollerv1alpha1.FooStatus {
	return samplecontrollerv1alpha1.FooStatus{AvailableReplicas: availableReplicas, ObservedGeneration: 7, Conditions: []metav1.Condition{ready}}
}

func ready(status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return aCondition("Ready", status, reason, message, now)
}

func aCondition(conditionType string, status metav1.ConditionStatus, reason, message string, since metav1.Time) metav1.Condition {
	return metav1.Condition{
		Type: conditionType, Status: status, Reason: reason, Message: message, ObservedGeneration: 7, LastTransitionTime: since,
	}
}
