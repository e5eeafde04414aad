// The conversion: each rule of more/api.md has a case here. fuzz_test.go has all other objects.

package v1

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

func TestToV2(t *testing.T) {
	for sentence, test := range map[string]struct {
		windows []Scheduling
		want    []schedulev2.Window
	}{
		"a window is named by its hours": {
			[]Scheduling{{9, 17, 5}},
			[]schedulev2.Window{{Name: "9-17", Start: "09:00", End: "17:00", Replicas: 5}},
		},
		"0 and 24 as an end stay different": {
			[]Scheduling{{19, 0, 2}, {20, 24, 3}},
			[]schedulev2.Window{{Name: "19-0", Start: "19:00", End: "00:00", Replicas: 2}, {Name: "20-24", Start: "20:00", End: "24:00", Replicas: 3}},
		},
		"the same hours again get a number": {
			[]Scheduling{{9, 17, 5}, {9, 17, 6}, {9, 17, 7}},
			[]schedulev2.Window{
				{Name: "9-17", Start: "09:00", End: "17:00", Replicas: 5},
				{Name: "9-17-2", Start: "09:00", End: "17:00", Replicas: 6},
				{Name: "9-17-3", Start: "09:00", End: "17:00", Replicas: 7},
			},
		},
		"an empty list stays empty":    {[]Scheduling{}, []schedulev2.Window{}},
		"a missing list stays missing": {nil, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			if diff := cmp.Diff(test.want, toV2(t, &TDSet{Spec: TDSetSpec{SchedulingConfig: test.windows}}).Spec.Windows); diff != "" {
				t.Errorf("windows in v2 (-want, +got):\n%s", diff)
			}
		})
	}
}

func TestFromV2(t *testing.T) {
	for sentence, test := range map[string]struct {
		window   schedulev2.Window
		want     Scheduling
		wantKept bool
	}{
		"full hours, named by them":                         {aWindow("9-17", "09:00", "17:00"), Scheduling{9, 17, 5}, false},
		"full hours with another name":                      {aWindow("office", "09:00", "17:00"), Scheduling{9, 17, 5}, true},
		"days":                                              {aWindow("9-17", "09:00", "17:00", "Mon"), Scheduling{9, 17, 5}, true},
		"a start is rounded down, and an end up":            {aWindow("a", "09:15", "17:45"), Scheduling{9, 18, 5}, true},
		"an end just before midnight":                       {aWindow("a", "22:59", "23:01"), Scheduling{22, 24, 5}, true},
		"midnight as 00:00":                                 {aWindow("a", "22:30", "00:00"), Scheduling{22, 0, 5}, true},
		"midnight as 24:00":                                 {aWindow("a", "22:30", "24:00"), Scheduling{22, 24, 5}, true},
		"past midnight":                                     {aWindow("a", "22:30", "05:30"), Scheduling{22, 6, 5}, true},
		"a window within an hour":                           {aWindow("a", "09:15", "09:30"), Scheduling{9, 10, 5}, true},
		"a window that would overlap itself is a whole day": {aWindow("a", "09:15", "09:05"), Scheduling{0, 24, 5}, true},
		"a window that would meet itself is a whole day":    {aWindow("a", "09:15", "08:05"), Scheduling{0, 24, 5}, true},
		"the whole day":                                     {aWindow("a", "00:00", "24:00"), Scheduling{0, 24, 5}, true},
		"nearly the whole day":                              {aWindow("a", "00:01", "00:00"), Scheduling{0, 24, 5}, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			original := &schedulev2.TDSet{Spec: schedulev2.TDSetSpec{Windows: []schedulev2.Window{test.window}}}
			view := fromV2(t, original.DeepCopy())
			if got := view.Spec.SchedulingConfig[0]; got != test.want {
				t.Errorf("v1's view is %v, want %v", got, test.want)
			}
			if _, kept := view.Annotations[keptWindows]; kept != test.wantKept {
				t.Errorf("the annotations are %v, want the windows in them: %t", view.Annotations, test.wantKept)
			}
			if diff := cmp.Diff(original, toV2(t, view)); diff != "" {
				t.Errorf("back in v2 (-want, +got):\n%s", diff)
			}
		})
	}
}

// An edit through v1 wins over what the annotation keeps.
func TestEdits(t *testing.T) {
	office, night := aWindow("office", "09:15", "17:45", "Mon"), aWindow("night", "22:30", "05:30")
	with := func(window schedulev2.Window, replicas int32) schedulev2.Window {
		window.Replicas = replicas
		return window
	}
	for sentence, test := range map[string]struct {
		edit func(view *TDSet)
		want []schedulev2.Window
	}{
		"nothing is edited":        {func(*TDSet) {}, []schedulev2.Window{office, night}},
		"another field is edited":  {func(view *TDSet) { view.Spec.DefaultReplica = 7 }, []schedulev2.Window{office, night}},
		"replicas are edited":      {func(view *TDSet) { view.Spec.SchedulingConfig[0].Replica = 9 }, []schedulev2.Window{with(office, 9), night}},
		"hours are edited":         {func(view *TDSet) { view.Spec.SchedulingConfig[0].StartTime = 8 }, []schedulev2.Window{aWindow("8-18", "08:00", "18:00"), night}},
		"a window is deleted":      {func(view *TDSet) { view.Spec.SchedulingConfig = view.Spec.SchedulingConfig[1:] }, []schedulev2.Window{night}},
		"all windows are deleted":  {func(view *TDSet) { view.Spec.SchedulingConfig = []Scheduling{} }, []schedulev2.Window{}},
		"a window is added":        {func(view *TDSet) { add(view, Scheduling{6, 7, 1}) }, []schedulev2.Window{office, night, with(aWindow("6-7", "06:00", "07:00"), 1)}},
		"the same hours are added": {func(view *TDSet) { add(view, Scheduling{9, 18, 1}) }, []schedulev2.Window{office, night, with(aWindow("9-18", "09:00", "18:00"), 1)}},
		"the order is edited": {func(view *TDSet) {
			windows := view.Spec.SchedulingConfig
			view.Spec.SchedulingConfig = []Scheduling{windows[1], windows[0]}
		}, []schedulev2.Window{night, office}},
		"the annotation is deleted": {func(view *TDSet) { delete(view.Annotations, keptWindows) }, []schedulev2.Window{aWindow("9-18", "09:00", "18:00"), aWindow("22-6", "22:00", "06:00")}},
		"the annotation is no JSON": {annotate("{"), []schedulev2.Window{aWindow("9-18", "09:00", "18:00"), aWindow("22-6", "22:00", "06:00")}},
		"the annotation has no times": {annotate(`[{"name":"a","start":"9:00","end":"18:00","replicas":5}]`),
			[]schedulev2.Window{aWindow("9-18", "09:00", "18:00"), aWindow("22-6", "22:00", "06:00")}},
		"the annotation has a name twice": {annotate(`[{"name":"a","start":"09:00","end":"18:00"},{"name":"a","start":"22:00","end":"06:00"}]`),
			[]schedulev2.Window{aWindow("9-18", "09:00", "18:00"), aWindow("22-6", "22:00", "06:00")}},
		"the annotation has no names": {annotate(`[{"start":"09:00","end":"18:00"}]`),
			[]schedulev2.Window{aWindow("9-18", "09:00", "18:00"), aWindow("22-6", "22:00", "06:00")}},
		"the annotation has an unknown day": {annotate(`[{"name":"a","start":"09:00","end":"18:00","days":["Monday"]}]`),
			[]schedulev2.Window{aWindow("9-18", "09:00", "18:00"), aWindow("22-6", "22:00", "06:00")}},
	} {
		t.Run(sentence, func(t *testing.T) {
			view := fromV2(t, &schedulev2.TDSet{
				ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"team": "blue"}},
				Spec:       schedulev2.TDSetSpec{Windows: []schedulev2.Window{office, night}},
			})
			test.edit(view)
			got := toV2(t, view)
			if diff := cmp.Diff(test.want, got.Spec.Windows); diff != "" {
				t.Errorf("windows in v2 (-want, +got):\n%s", diff)
			}
			if diff := cmp.Diff(map[string]string{"team": "blue"}, got.Annotations); diff != "" {
				t.Errorf("annotations in v2 (-want, +got):\n%s", diff)
			}
		})
	}
}

// Two windows of v2 may look the same in v1. They are told apart by their order.
func TestSameHoursInV1(t *testing.T) {
	windows := []schedulev2.Window{aWindow("mon", "09:00", "17:30", "Mon"), aWindow("tue", "09:30", "18:00", "Tue"), aWindow("9-18", "09:00", "18:00", "Wed")}
	view := fromV2(t, &schedulev2.TDSet{Spec: schedulev2.TDSetSpec{Windows: windows}})
	view.Spec.SchedulingConfig[1].Replica = 8
	want := []schedulev2.Window{windows[0], windows[1], windows[2]}
	want[1].Replicas = 8
	if diff := cmp.Diff(want, toV2(t, view).Spec.Windows); diff != "" {
		t.Errorf("windows in v2 (-want, +got):\n%s", diff)
	}
	view.Spec.SchedulingConfig = append(view.Spec.SchedulingConfig, Scheduling{9, 18, 1})
	if got := toV2(t, view).Spec.Windows[3].Name; got != "9-18-2" {
		t.Errorf("the new window is %q, want 9-18-2, because 9-18 is taken", got)
	}
}

func TestStatus(t *testing.T) {
	tdset := &schedulev2.TDSet{Spec: schedulev2.TDSetSpec{Windows: []schedulev2.Window{aWindow("office", "09:15", "17:45"), aWindow("night", "22:00", "06:00")}}}
	for active, want := range map[string]string{"office": "9-18", "night": "22-6", "default": "default", "gone": "gone", "": ""} {
		tdset.Status.ActiveWindow = active
		view := fromV2(t, tdset)
		if got := view.Status.ActiveWindow; got != want {
			t.Errorf("%q is shown as %q in v1, want %q", active, got, want)
		}
		if got := toV2(t, view).Status.ActiveWindow; got != active {
			t.Errorf("%q comes back as %q", active, got)
		}
	}
}

func TestMissingFieldsStayMissing(t *testing.T) {
	if diff := cmp.Diff(&schedulev2.TDSet{}, toV2(t, &TDSet{})); diff != "" {
		t.Errorf("in v2 (-want, +got):\n%s", diff)
	}
	if diff := cmp.Diff(&TDSet{}, fromV2(t, &schedulev2.TDSet{})); diff != "" {
		t.Errorf("in v1 (-want, +got):\n%s", diff)
	}
}

func TestOtherKinds(t *testing.T) {
	if err := (&TDSet{}).ConvertTo(nil); err == nil {
		t.Error("want an error for a hub that isn't a TDSet")
	}
	if err := (&TDSet{}).ConvertFrom(nil); err == nil {
		t.Error("want an error for a hub that isn't a TDSet")
	}
}

// Both samples ask for the same.
func TestTheSamplesAgree(t *testing.T) {
	var old TDSet
	var want schedulev2.TDSet
	for file, into := range map[string]any{"schedule_v1_tdset.yaml": &old, "schedule_v2_tdset.yaml": &want} {
		text, err := os.ReadFile("../../config/samples/" + file)
		if err == nil {
			err = yaml.UnmarshalStrict(text, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	got := toV2(t, &old)
	for i := range want.Spec.Windows {
		want.Spec.Windows[i].Name = got.Spec.Windows[i].Name // v1 has none
	}
	if diff := cmp.Diff(want.Spec, got.Spec); diff != "" {
		t.Errorf("the sample of v1 asks for something else (-v2, +v1):\n%s", diff)
	}
}

func aWindow(name, start, end string, days ...schedulev2.Day) schedulev2.Window {
	return schedulev2.Window{Name: name, Start: start, End: end, Replicas: 5, Days: days}
}

func add(view *TDSet, window Scheduling) {
	view.Spec.SchedulingConfig = append(view.Spec.SchedulingConfig, window)
}

func annotate(text string) func(*TDSet) {
	return func(view *TDSet) { view.Annotations[keptWindows] = text }
}

func toV2(t testing.TB, tdset *TDSet) *schedulev2.TDSet {
	t.Helper()
	hub := &schedulev2.TDSet{}
	if err := tdset.ConvertTo(hub); err != nil {
		t.Fatal(err)
	}
	return hub
}

func fromV2(t testing.TB, hub *schedulev2.TDSet) *TDSet {
	t.Helper()
	tdset := &TDSet{}
	if err := tdset.ConvertFrom(hub); err != nil {
		t.Fatal(err)
	}
	return tdset
}
