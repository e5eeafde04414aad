// Both versions on a real API server, which calls the conversion: old and new clients, on the same
// objects.

package v2

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
	schedulev1ac "example.com/operators/07-tdset-operator/api/v1/applyconfiguration/api/v1"
	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
	schedulev2ac "example.com/operators/07-tdset-operator/api/v2/applyconfiguration/api/v2"
)

// An old client reads what a new one has written, changes it, and loses nothing of it.
func TestAnOldClientEdits(t *testing.T) {
	api, _, namespace := newAPIServer(t)
	office := schedulev2.Window{Name: "office", Start: "09:15", End: "17:45", Replicas: 5, Days: []schedulev2.Day{schedulev2.Monday}}
	tdset := aTDSet(in(namespace), windows(office))
	must(t, api.Create(t.Context(), tdset))

	old := &schedulev1.TDSet{}
	must(t, api.Get(t.Context(), client.ObjectKeyFromObject(tdset), old))
	if want := []schedulev1.Scheduling{{StartTime: 9, EndTime: 18, Replica: 5}}; !slices.Equal(old.Spec.SchedulingConfig, want) {
		t.Errorf("v1 shows %v, want %v", old.Spec.SchedulingConfig, want)
	}
	old.Spec.SchedulingConfig[0].Replica = 7
	must(t, api.Update(t.Context(), old))
	must(t, api.Patch(t.Context(), old, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"container":{"image":"httpd"}}}`))))

	must(t, api.Get(t.Context(), client.ObjectKeyFromObject(tdset), tdset))
	office.Replicas = 7
	if diff := cmp.Diff([]schedulev2.Window{office}, tdset.Spec.Windows); diff != "" || tdset.Spec.Container.Image != "httpd" {
		t.Errorf("after the edits, v2 has the image %s and these windows (-want, +got):\n%s", tdset.Spec.Container.Image, diff)
	}
	if len(tdset.Annotations) > 0 {
		t.Errorf("v2 has the annotations %v, want none", tdset.Annotations)
	}
}

// Two clients apply the same TDSet, each in its own version. Each owns what it has applied.
func TestApplyInBothVersions(t *testing.T) {
	api, _, namespace := newAPIServer(t)
	apply := func(configuration applyConfiguration, owner string) {
		t.Helper()
		must(t, api.Apply(t.Context(), configuration, client.FieldOwner(owner)))
	}
	old := func(minutes int32) *schedulev1ac.TDSetApplyConfiguration {
		return schedulev1ac.TDSet("a", namespace).WithSpec(schedulev1ac.TDSetSpec().WithIntervalMint(minutes))
	}
	apply(schedulev2ac.TDSet("a", namespace).WithSpec(schedulev2ac.TDSetSpec().
		WithContainer(schedulev2ac.Container().WithImage("nginx").WithPort(80)).
		WithWindows(schedulev2ac.Window().WithName("office").WithStart("09:15").WithEnd("17:45").WithReplicas(5))), "new")
	apply(old(5), "old")
	apply(old(10), "old")

	tdset := &schedulev2.TDSet{}
	must(t, api.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "a"}, tdset))
	if tdset.Spec.IntervalMinutes != 10 || len(tdset.Spec.Windows) != 1 || tdset.Spec.Windows[0].Start != "09:15" {
		t.Errorf("after both have applied, the spec is %+v", tdset.Spec)
	}
	owners := map[string]string{}
	for _, entry := range tdset.ManagedFields {
		owners[entry.Manager] = entry.APIVersion + " " + entry.FieldsV1.GetRawString()
	}
	if !strings.HasPrefix(owners["old"], "schedule.rs/v1") || !strings.Contains(owners["old"], "f:intervalMint") || strings.Contains(owners["old"], "schedulingConfig") {
		t.Errorf("the old client owns %s, want only intervalMint, in v1", owners["old"])
	}
	if !strings.HasPrefix(owners["new"], "schedule.rs/v2") || !strings.Contains(owners["new"], "f:windows") {
		t.Errorf("the new client owns %s, want the windows, in v2", owners["new"])
	}

	// A client that leaves out what it owned removes it.
	apply(schedulev1ac.TDSet("a", namespace), "old")
	must(t, api.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "a"}, tdset))
	if tdset.Spec.IntervalMinutes != 0 {
		t.Errorf("the interval is %d, want none, because its owner has left it out", tdset.Spec.IntervalMinutes)
	}
}

// applyConfiguration is a generated one, of any version.
type applyConfiguration interface{ IsApplyConfiguration() }

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

// The status is the same in both versions, but v1 names the window by its hours.
func TestTheStatusInBothVersions(t *testing.T) {
	api, _, namespace := newAPIServer(t)
	tdset := aTDSet(in(namespace), windows(schedulev2.Window{Name: "office", Start: "09:15", End: "17:45", Replicas: 5}))
	must(t, api.Create(t.Context(), tdset))
	must(t, api.Status().Patch(t.Context(), tdset, client.RawPatch(types.MergePatchType, []byte(`{"status":{"activeWindow":"office","desiredReplicas":5}}`))))
	old := &schedulev1.TDSet{}
	must(t, api.Get(t.Context(), client.ObjectKeyFromObject(tdset), old))
	if old.Status.ActiveWindow != "9-18" || *old.Status.DesiredReplicas != 5 {
		t.Errorf("v1 shows the status %+v, want the window 9-18 with 5 replicas", old.Status)
	}
	must(t, api.Status().Patch(t.Context(), old, client.RawPatch(types.MergePatchType, []byte(`{"status":{"observedGeneration":1}}`))))
	must(t, api.Get(t.Context(), client.ObjectKeyFromObject(tdset), tdset))
	if tdset.Status.ActiveWindow != "office" || tdset.Status.ObservedGeneration != 1 {
		t.Errorf("v2 shows the status %+v, want the window office, and generation 1", tdset.Status)
	}
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
