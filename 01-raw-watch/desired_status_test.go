// The status of a Foo, as computed from its Deployment and from the failure of the last attempt.

package main

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	samplecontrollerv1alpha1 "example.com/operators/01-raw-watch/pkg/apis/samplecontroller/v1alpha1"
)

const taken = `0 available; False, ErrResourceExists: Deployment "web" exists and is not controlled by this Foo: delete it or choose another deploymentName`

// After a failure, users see why. A failure that they can do nothing about isn't quoted. Without a
// failure, the Deployment may be as the Foo asks, and still have no Pods.
func TestDesiredStatus(t *testing.T) {
	foo := aFoo("example", "web", 3)
	web := func(changes ...func(*appsv1.Deployment)) *appsv1.Deployment { return deploymentOf(foo, changes...) }
	quota := apierrors.NewForbidden(schema.GroupResource{Group: "apps", Resource: "deployments"}, "web", errors.New("exceeded quota: none, used: 0"))
	policy := apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "Deployment"}, "web", nil)
	noProgress := appsv1.DeploymentCondition{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded", Message: "timed out"}
	noPods := appsv1.DeploymentCondition{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: "violates PodSecurity"}
	fine := appsv1.DeploymentCondition{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"}
	for sentence, test := range map[string]struct {
		deployment *appsv1.Deployment
		failure    error
		want       string
	}{
		"all replicas are available":              {web(available(3)), nil, `3 available; True, Available: 3 of 3 replicas of Deployment "web" are available`},
		"some replicas are available":             {web(available(1)), nil, `1 available; False, Progressing: 1 of 3 replicas of Deployment "web" are available`},
		"the Deployment is new, without a status": {web(), nil, `0 available; False, Progressing: 0 of 3 replicas of Deployment "web" are available`},

		"somebody else's Deployment has the name":      {web(available(3), unowned), nil, taken},
		"an earlier Foo's Deployment has the name":     {web(available(3), ofAnEarlierFoo), nil, taken},
		"somebody else's Deployment is being deleted":  {web(available(3), unowned, terminating), nil, taken},
		"the Foo's own Deployment is being deleted":    {web(available(3), terminating), nil, `0 available; False, Terminating: Deployment "web" is being deleted and will be created again`},
		"its Pods are refused":                         {web(available(0), withConditions(fine, noPods)), nil, "0 available; False, FailedCreate: violates PodSecurity"},
		"its rollout takes too long":                   {web(available(1), withConditions(noProgress)), nil, "1 available; False, ProgressDeadlineExceeded: timed out"},
		"both: the cause comes first":                  {web(available(0), withConditions(noProgress, noPods)), nil, "0 available; False, FailedCreate: violates PodSecurity"},
		"it took too long, but all replicas are there": {web(available(3), withConditions(noProgress)), nil, `3 available; True, Available: 3 of 3 replicas of Deployment "web" are available`},
		"a quota refuses the create":                   {nil, fmt.Errorf("create: %w", quota), "0 available; False, Refused: create: " + quota.Error()},
		"a policy refuses the update":                  {web(available(3)), policy, `3 available; False, Refused: Deployment.apps "web" is invalid`},
		"a webhook changes what was sent":              {web(available(3)), errOverruled, "3 available; False, Refused: " + errOverruled.Error()},
		"the API server has an error of its own":       {nil, apierrors.NewInternalError(errors.New("etcd is at 10.0.0.7")), "0 available; False, Failed: The last attempt failed: the controller's log says why"},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := desiredStatus(foo, test.deployment, test.failure, now)
			ready := meta.FindStatusCondition(got.Conditions, "Ready")
			if ready == nil {
				t.Fatal("there is no condition Ready")
			}
			described := fmt.Sprintf("%d available; %s, %s: %s", got.AvailableReplicas, ready.Status, ready.Reason, ready.Message)
			if diff := cmp.Diff(test.want, described); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
		})
	}
}

func withConditions(conditions ...appsv1.DeploymentCondition) func(*appsv1.Deployment) {
	return func(deployment *appsv1.Deployment) { deployment.Status.Conditions = conditions }
}

// A status is written only if it differs from the last one. So if nothing has changed, the new
// status has to equal the old one, including the time of the last transition, which is when True
// became False or the other way round. A retry may be refused in other words: the first ones stay.
func TestDesiredStatusAfterAnEarlierOne(t *testing.T) {
	aCondition := func(status metav1.ConditionStatus, reason, message string, generation int64, since metav1.Time) metav1.Condition {
		return metav1.Condition{Type: "Ready", Status: status, Reason: reason, Message: message, ObservedGeneration: generation, LastTransitionTime: since}
	}
	progressing := aCondition("False", "Progressing", `0 of 3 replicas of Deployment "web" are available`, 7, earlier)
	refused := aCondition("False", "Refused", "used: 0", 7, earlier)
	foreign := metav1.Condition{Type: "Blessed", Status: "True", Reason: "ByThePriest"}
	usedMore := apierrors.NewBadRequest("used: 1")
	for sentence, test := range map[string]struct {
		before     metav1.Condition
		generation int64 // of the Foo
		available  int32
		failure    error
		want       metav1.Condition
	}{
		"nothing has changed": {
			progressing, 7, 0, nil, progressing,
		},
		"the message has changed, but Ready hasn't: the transition time stays": {
			progressing, 7, 2, nil, aCondition("False", "Progressing", `2 of 3 replicas of Deployment "web" are available`, 7, earlier),
		},
		"Ready has changed: the transition time is now": {
			progressing, 7, 3, nil, aCondition("True", "Available", `3 of 3 replicas of Deployment "web" are available`, 7, now),
		},
		"another refusal for the same reason": {
			refused, 7, 0, usedMore, refused,
		},
		"another refusal for another spec": {
			refused, 8, 0, usedMore, aCondition("False", "Refused", "used: 1", 8, earlier),
		},
		"another failure for another reason": {
			refused, 7, 0, errors.New("connection refused"), aCondition("False", "Failed", "The last attempt failed: the controller's log says why", 7, earlier),
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			foo := aFoo("example", "web", 3)
			foo.Generation = test.generation
			foo.Status.Conditions = []metav1.Condition{foreign, test.before}

			got := desiredStatus(foo, deploymentOf(foo, available(test.available)), test.failure, now)

			want := samplecontrollerv1alpha1.FooStatus{
				Replicas: test.available, AvailableReplicas: test.available, Selector: "app=nginx,controller=example",
				ObservedGeneration: test.generation, Conditions: []metav1.Condition{foreign, test.want},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]metav1.Condition{foreign, test.before}, foo.Status.Conditions); diff != "" {
				t.Errorf("desiredStatus changed its argument foo (-before +after):\n%s", diff)
			}
		})
	}
}

func TestRolledOut(t *testing.T) {
	for sentence, test := range map[string]struct {
		change func(*appsv1.Deployment)
		want   bool
	}{
		"all replicas are available":                     {available(3), true},
		"the Deployment controller hasn't seen the spec": {both(available(3), func(d *appsv1.Deployment) { d.Generation++ }), false},
		"one replica isn't available":                    {both(available(3), func(d *appsv1.Deployment) { d.Status.AvailableReplicas-- }), false},
		"one replica still runs the old template":        {both(available(3), func(d *appsv1.Deployment) { d.Status.UpdatedReplicas-- }), false},
		"there is one replica too many":                  {both(available(3), func(d *appsv1.Deployment) { d.Status.Replicas++ }), false},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := rolledOut(deploymentOf(aFoo("example", "web", 3), test.change)); got != test.want {
				t.Errorf("rolledOut = %v, want %v", got, test.want)
			}
		})
	}
}
