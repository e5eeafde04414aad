// Both versions on a real API server, which calls the conversion. The contract has old and new
// clients on the same objects.

package v2

import (
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// The webhook only knows v2, but it judges requests in v1, too.
func TestVersion1ReachesTheWebhook(t *testing.T) {
	api, warned, namespace := newAPIServer(t)
	old := &schedulev1.TDSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "old"}, Spec: schedulev1.TDSetSpec{
		Container:        schedulev1.Container{Image: "nginx", Port: 80},
		SchedulingConfig: []schedulev1.Scheduling{{StartTime: 9, EndTime: 17, Replica: 5}},
		DefaultReplica:   1,
	}}
	must(t, api.Create(t.Context(), old))
	if got := warned.since(); !slices.Contains(got, uncovered) || !slices.ContainsFunc(got, func(text string) bool { return strings.Contains(text, "v1 TDSet is deprecated") }) {
		t.Errorf("got the warnings %q, want that v1 is deprecated, and %q", got, uncovered)
	}
	withoutRules(t, api, namespace)
	old.Spec.DefaultReplica = 5000
	if err := api.Update(t.Context(), old); err == nil {
		t.Error("v1's rules refuse 5000 replicas, but the update was accepted")
	}
	bad := old.DeepCopy()
	bad.ObjectMeta, bad.Spec.DefaultReplica, bad.Spec.TimeZone = metav1.ObjectMeta{Namespace: namespace, Name: "bad"}, 1, "Mars/Olympus_Mons"
	refused(t, api.Create(t.Context(), bad), "Mars/Olympus_Mons")
}

// Two windows that look the same in v1 can't be edited there, because v1 has a rule against it. All
// else can.
func TestSameHoursInVersion1(t *testing.T) {
	api, _, namespace := newAPIServer(t)
	tdset := aTDSet(in(namespace), windows(
		schedulev2.Window{Name: "mon", Start: "09:00", End: "17:00", Replicas: 5, Days: []schedulev2.Day{schedulev2.Monday}},
		schedulev2.Window{Name: "tue", Start: "09:00", End: "17:00", Replicas: 6, Days: []schedulev2.Day{schedulev2.Tuesday}}))
	must(t, api.Create(t.Context(), tdset))
	old := &schedulev1.TDSet{}
	must(t, api.Get(t.Context(), client.ObjectKeyFromObject(tdset), old))
	old.Spec.IntervalMint = 5
	must(t, api.Update(t.Context(), old))
	old.Spec.SchedulingConfig[0].Replica = 9
	if err := api.Update(t.Context(), old); !apierrors.IsInvalid(err) {
		t.Errorf("got the error %v, want v1's rule against the same hours", err)
	}
	must(t, api.Get(t.Context(), client.ObjectKeyFromObject(tdset), tdset))
	if tdset.Spec.Windows[0].Name != "mon" || tdset.Spec.Windows[1].Replicas != 6 || tdset.Spec.IntervalMinutes != 5 {
		t.Errorf("the spec is %+v", tdset.Spec)
	}
}
