// The conditions, for each observed state.

package controller

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
)

const (
	// Everything is as scheduled.
	allAvailable  = "Available=True, ReplicasAvailable: 5 replicas are available"
	allRolledOut  = `Progressing=False, RolledOut: Deployment "web" is rolled out`
	allAsExpected = "Degraded=False, AsExpected: "

	// During a rollout.
	someMissing = "Available=False, ReplicasUnavailable: Some of the 5 replicas aren't available"
	rollingOut  = `Progressing=True, RollingOut: Deployment "web" is on its way to 5 replicas`

	taken         = `Deployment "web" exists and is not controlled by this TDSet: delete it, or give the TDSet another name`
	serviceTaken  = `Service "web" exists and is not controlled by this TDSet: delete it, or give the TDSet another name`
	beingReplaced = `Deployment "web" is being deleted and will be created again`
)

func TestConditionsOfADeployment(t *testing.T) {
	nameTaken := []string{
		"Available=False, ErrResourceExists: " + taken, "Progressing=False, ErrResourceExists: " + taken, "Degraded=True, ErrResourceExists: " + taken,
	}
	cantMakePods := `Degraded=True, ReplicaFailure: Deployment "web" can't create its Pods: its conditions say why`
	for name, test := range map[string]struct {
		deployment func(*appsv1.Deployment) // nil: no Deployment
		none       bool                     // the schedule asks for 0 replicas
		want       []string
	}{
		"all replicas are available": {
			deployment: withPods(5),
			want:       []string{allAvailable, allRolledOut, allAsExpected},
		},
		"0 replicas are desired and available": {
			deployment: both(scaledTo(0), withPods(0)), none: true,
			want: []string{"Available=True, ReplicasAvailable: 0 replicas are available", allRolledOut, allAsExpected},
		},
		"the Deployment is complete, but the schedule asks for more": {
			deployment: both(scaledTo(3), withPods(3)),
			want:       []string{someMissing, rollingOut, allAsExpected},
		},
		"the Deployment is new, and has no status": {
			deployment: func(*appsv1.Deployment) {},
			want:       []string{someMissing, rollingOut, allAsExpected},
		},
		"there are too many replicas": {
			deployment: withPods(7),
			want:       []string{allAvailable, rollingOut, allAsExpected},
		},
		"the Deployment's status is for an older spec": {
			deployment: both(withPods(5), func(d *appsv1.Deployment) { d.Generation++ }),
			want:       []string{allAvailable, rollingOut, allAsExpected},
		},
		"there is no Deployment": {
			want: []string{
				"Available=False, NoDeployment: There is no Deployment", "Progressing=False, NoDeployment: There is no Deployment", allAsExpected,
			},
		},
		"the Deployment is being deleted": {
			deployment: both(withPods(5), terminating),
			want:       []string{"Available=False, Terminating: " + beingReplaced, "Progressing=True, Terminating: " + beingReplaced, allAsExpected},
		},
		"somebody else's Deployment has the name": {
			deployment: both(withPods(5), unowned),
			want:       nameTaken,
		},
		"somebody else's Deployment has the name, and is being deleted": {
			deployment: both(unowned, terminating),
			want:       nameTaken,
		},
		"Pods can't be created": {
			deployment: both(withPods(3), withCondition(appsv1.DeploymentReplicaFailure, corev1.ConditionTrue)),
			want:       []string{someMissing, rollingOut, cantMakePods},
		},
		"the rollout takes too long": {
			deployment: both(withPods(3), withCondition(appsv1.DeploymentProgressing, corev1.ConditionFalse)),
			want: []string{
				someMissing, `Progressing=False, ProgressDeadlineExceeded: Deployment "web" makes no progress`,
				`Degraded=True, ProgressDeadlineExceeded: Deployment "web" makes no progress: look at its Pods`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tdset := aTDSet()
			seen := seenAt(noon, tdset, nil)
			if test.none {
				seen.state.Replicas = 0
			}
			if test.deployment != nil {
				seen.deployment = deploymentOf(tdset, test.deployment)
			}

			if diff := cmp.Diff(test.want, inWords(desiredStatus(tdset, seen, now).Conditions)); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
		})
	}
}

// Problems that aren't about the Deployment are only in Degraded. If there are several, it names
// the one that has to be dealt with first.
func TestDegraded(t *testing.T) {
	tdset := aTDSet(withService(80))
	badZone, no, timeout := errors.New("no such zone"), apierrors.NewBadRequest("quota exceeded"), errors.New("timeout")
	const failed, stopped = "Degraded=True, Failed: " + messageFailed, "Progressing=False, Failed: " + messageFailed
	withoutPods := deploymentOf(tdset, withPods(5), withCondition(appsv1.DeploymentReplicaFailure, corev1.ConditionTrue))
	for name, test := range map[string]struct {
		seen observation
		want string
		// the condition Progressing, if it isn't RolledOut
		progressing string
	}{
		"the schedule is invalid":              {observation{invalid: badZone}, "Degraded=True, InvalidSchedule: no such zone", notChanged("InvalidSchedule")},
		"the API server has refused something": {observation{refused: no, errDeployment: no}, "Degraded=True, Refused: quota exceeded", notChanged("Refused")},
		"somebody else's Service has the name": {
			observation{service: serviceOf(tdset, unowned)}, "Degraded=True, ErrResourceExists: " + serviceTaken, "",
		},
		"the Service is refused": {observation{refused: no}, "Degraded=True, Refused: quota exceeded", ""},
		"our Service exists":     {observation{service: serviceOf(tdset)}, allAsExpected, ""},
		"a request has failed":   {observation{failed: timeout, errDeployment: timeout}, failed, stopped},

		"an invalid schedule, and a taken name": {
			observation{invalid: badZone, service: serviceOf(tdset, unowned)}, "Degraded=True, InvalidSchedule: no such zone", notChanged("InvalidSchedule"),
		},
		"a taken name, and a refusal": {
			observation{service: serviceOf(tdset, unowned), refused: no, errDeployment: no}, "Degraded=True, ErrResourceExists: " + serviceTaken, notChanged("Refused"),
		},
		"a taken name, and a failure": {
			observation{service: serviceOf(tdset, unowned), failed: timeout, errDeployment: timeout}, "Degraded=True, ErrResourceExists: " + serviceTaken, stopped,
		},
		"a refusal, and a failure": {observation{refused: no, failed: timeout, errDeployment: no}, "Degraded=True, Refused: quota exceeded", notChanged("Refused")},
		"a refusal, and Pods that can't be created": {
			observation{refused: no, errDeployment: no, deployment: withoutPods}, "Degraded=True, Refused: quota exceeded", notChanged("Refused"),
		},
		"a failure, and Pods that can't be created": {observation{failed: timeout, errDeployment: timeout, deployment: withoutPods}, failed, stopped},
	} {
		t.Run(name, func(t *testing.T) {
			if test.seen.deployment == nil {
				test.seen.deployment = deploymentOf(tdset, withPods(5))
			}

			got := inWords(desiredStatus(tdset, test.seen, now).Conditions)

			if test.progressing == "" {
				test.progressing = allRolledOut
			}
			if diff := cmp.Diff([]string{allAvailable, test.progressing, test.want}, got); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
		})
	}
}

// If nobody could read or create the Deployment, the conditions don't say that there is none.
func TestAnUnknownDeployment(t *testing.T) {
	tdset := aTDSet()
	seen := seenAt(noon, tdset, nil)
	seen.failed = errors.New("timeout")
	seen.errDeployment = seen.failed

	got := desiredStatus(tdset, seen, now).Conditions

	want := []string{
		"Available=Unknown, Failed: " + messageFailed, "Progressing=False, Failed: " + messageFailed, "Degraded=True, Failed: " + messageFailed,
	}
	if diff := cmp.Diff(want, inWords(got)); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
	if ready, want := inWord(*meta.FindStatusCondition(got, conditionReady)), "Ready=False, Failed: "+messageFailed; ready != want {
		t.Errorf("got %s, want %s", ready, want)
	}
}

// Ready sums up the other conditions. Its reason and message come from the first one that isn't as
// it should be: Degraded, Available or Progressing.
func TestReady(t *testing.T) {
	tdset := aTDSet()
	for name, test := range map[string]struct {
		pods    int32
		refused error
		want    string
	}{
		"everything is as scheduled":          {5, nil, "Ready=True, AsScheduled: 5 replicas are available"},
		"a replica is missing":                {4, nil, "Ready=False, ReplicasUnavailable: Some of the 5 replicas aren't available"},
		"there is one replica too many":       {6, nil, `Ready=False, RollingOut: Deployment "web" is on its way to 5 replicas`},
		"a replica is missing, and a refusal": {4, errors.New("quota exceeded"), "Ready=False, Refused: quota exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			seen := seenAt(noon, tdset, deploymentOf(tdset, withPods(test.pods)))
			seen.refused = test.refused
			ready := meta.FindStatusCondition(desiredStatus(tdset, seen, now).Conditions, conditionReady)
			if got := inWord(*ready); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func notChanged(reason string) string {
	return "Progressing=False, " + reason + `: Deployment "web" isn't changed: see Degraded`
}

func TestRolledOut(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*appsv1.Deployment)
		want   bool
	}{
		"all replicas are available":           {withPods(5), true},
		"0 replicas are desired and available": {both(scaledTo(0), withPods(0)), true},
		"the status is for an older spec":      {both(withPods(5), func(d *appsv1.Deployment) { d.Generation++ }), false},
		"one replica is unavailable":           {both(withPods(5), func(d *appsv1.Deployment) { d.Status.AvailableReplicas-- }), false},
		"one replica has the old template":     {both(withPods(5), func(d *appsv1.Deployment) { d.Status.UpdatedReplicas-- }), false},
		"there is one replica too many":        {both(withPods(5), func(d *appsv1.Deployment) { d.Status.Replicas++ }), false},
		"one replica too many is available":    {both(withPods(5), scaledTo(4)), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := rolledOut(deploymentOf(aTDSet(), test.change)); got != test.want {
				t.Errorf("rolledOut = %v, want %v", got, test.want)
			}
		})
	}
}

// withCondition sets a condition of the Deployment.
func withCondition(kind appsv1.DeploymentConditionType, status corev1.ConditionStatus) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) {
		d.Status.Conditions = append(d.Status.Conditions, appsv1.DeploymentCondition{Type: kind, Status: status})
	}
}
