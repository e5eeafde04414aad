// The webhook's answers, as a table. It reads nothing but the TDSet. The rules have their own
// tests, in internal/schedule.

package v1

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
)

const (
	unknownZone  = `TDSet.schedule.rs "a" is invalid: spec.timeZone: Invalid value: "Mars/Olympus_Mons": unknown time zone: use an IANA name, such as Europe/Berlin or UTC`
	noHours      = `TDSet.schedule.rs "a" is invalid: spec.schedulingConfig[0]: Invalid value: "9-9": startTime and endTime must differ: for the whole day, use 0 and 24`
	uncovered    = "spec.schedulingConfig: no window includes the hours 0 to 9, 17 to 24, so they get defaultReplica, which is 1"
	uncoveredTwo = "spec.schedulingConfig: no window includes the hours 0 to 9, 17 to 24, so they get defaultReplica, which is 2"
	overlap      = "spec.schedulingConfig[1]: window 0-24 is not active from 9 to 17, because it comes after 9-17"
)

func TestValidate(t *testing.T) {
	for sentence, test := range map[string]struct {
		old          *schedulev1.TDSet // nil for a create
		tdset        *schedulev1.TDSet
		wantError    string
		wantWarnings []string
	}{
		"a schedule for the whole day":            {tdset: aTDSet(windows(aWindow(0, 24)))},
		"hours in no window":                      {tdset: aTDSet(), wantWarnings: []string{uncovered}},
		"windows that overlap":                    {tdset: aTDSet(windows(aWindow(9, 17), aWindow(0, 24))), wantWarnings: []string{overlap}},
		"an unknown zone":                         {tdset: aTDSet(zone("Mars/Olympus_Mons")), wantError: unknownZone},
		"a window without hours":                  {tdset: aTDSet(windows(aWindow(9, 9))), wantError: noHours},
		"a refusal has no warnings":               {tdset: aTDSet(windows(aWindow(9, 9), aWindow(10, 12))), wantError: noHours},
		"a schedule that gets hours in no window": {old: aTDSet(windows(aWindow(0, 24))), tdset: aTDSet(), wantWarnings: []string{uncovered}},
		"another defaultReplica":                  {old: aTDSet(), tdset: aTDSet(defaultReplica(2)), wantWarnings: []string{uncoveredTwo}},
		"another zone":                            {old: aTDSet(), tdset: aTDSet(zone("Europe/Berlin")), wantWarnings: []string{uncovered}},
		"other replicas":                          {old: aTDSet(), tdset: aTDSet(func(tdset *schedulev1.TDSet) { tdset.Spec.SchedulingConfig[0].Replica = 6 }), wantWarnings: []string{uncovered}},
		"another zone, which is unknown":          {old: aTDSet(), tdset: aTDSet(zone("Mars/Olympus_Mons")), wantError: unknownZone},
		"another schedule, which is invalid":      {old: aTDSet(), tdset: aTDSet(windows(aWindow(9, 9))), wantError: noHours},
		"a TDSet that is corrected":               {old: aTDSet(windows(aWindow(9, 9))), tdset: aTDSet(), wantWarnings: []string{uncovered}},
		"a TDSet that is half corrected":          {old: aTDSet(windows(aWindow(9, 9)), zone("Mars/Olympus_Mons")), tdset: aTDSet(windows(aWindow(9, 9))), wantError: noHours},

		"no change":   {old: aTDSet(), tdset: aTDSet()},
		"a label":     {old: aTDSet(), tdset: aTDSet(func(tdset *schedulev1.TDSet) { tdset.Labels = map[string]string{"team": "blue"} })},
		"an image":    {old: aTDSet(), tdset: aTDSet(image)},
		"a Service":   {old: aTDSet(), tdset: aTDSet(func(tdset *schedulev1.TDSet) { tdset.Spec.Service = &schedulev1.Service{Port: 80} })},
		"an interval": {old: aTDSet(), tdset: aTDSet(func(tdset *schedulev1.TDSet) { tdset.Spec.IntervalMint = 5 })},
		"an image, and an unchanged invalid schedule":          {old: aTDSet(windows(aWindow(9, 9))), tdset: aTDSet(windows(aWindow(9, 9)), image)},
		"an image, and an unchanged unknown zone":              {old: aTDSet(zone("Mars/Olympus_Mons")), tdset: aTDSet(zone("Mars/Olympus_Mons"), image)},
		"an invalid schedule of a TDSet that is being deleted": {old: aTDSet(terminating), tdset: aTDSet(terminating, windows(aWindow(9, 9)))},
		"hours in no window, and the TDSet is being deleted":   {old: aTDSet(terminating, windows(aWindow(0, 24))), tdset: aTDSet(terminating)},
	} {
		t.Run(sentence, func(t *testing.T) {
			var validator TDSetValidator
			warnings, err := validator.ValidateCreate(t.Context(), test.tdset)
			if test.old != nil {
				warnings, err = validator.ValidateUpdate(t.Context(), test.old, test.tdset)
			}
			if got := messageOf(err); got != test.wantError {
				t.Errorf("got the error\n%s\nwant\n%s", got, test.wantError)
			}
			if err != nil && !apierrors.IsInvalid(err) {
				t.Errorf("the error's reason is %s, want Invalid", apierrors.ReasonForError(err))
			}
			if difference := cmp.Diff(test.wantWarnings, []string(warnings), cmpopts.EquateEmpty()); difference != "" {
				t.Errorf("warnings (-want, +got):\n%s", difference)
			}
		})
	}
}

func TestADeletionIsNeverRefused(t *testing.T) {
	warnings, err := TDSetValidator{}.ValidateDelete(t.Context(), aTDSet(zone("Mars/Olympus_Mons")))
	if err != nil || len(warnings) > 0 {
		t.Errorf("got the error %v and the warnings %q, want none", err, warnings)
	}
}

func messageOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// aTDSet returns a TDSet with a window from 9 to 17, and 1 replica outside of it.
func aTDSet(changes ...func(*schedulev1.TDSet)) *schedulev1.TDSet {
	tdset := &schedulev1.TDSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"},
		Spec: schedulev1.TDSetSpec{
			Container:        schedulev1.Container{Image: "nginx", Port: 80},
			SchedulingConfig: []schedulev1.Scheduling{aWindow(9, 17)},
			DefaultReplica:   1,
		},
	}
	for _, change := range changes {
		change(tdset)
	}
	return tdset
}

func aWindow(start, end int32) schedulev1.Scheduling {
	return schedulev1.Scheduling{StartTime: start, EndTime: end, Replica: 5}
}

func windows(all ...schedulev1.Scheduling) func(*schedulev1.TDSet) {
	return func(tdset *schedulev1.TDSet) { tdset.Spec.SchedulingConfig = all }
}

func zone(name string) func(*schedulev1.TDSet) {
	return func(tdset *schedulev1.TDSet) { tdset.Spec.TimeZone = name }
}

func defaultReplica(replicas int32) func(*schedulev1.TDSet) {
	return func(tdset *schedulev1.TDSet) { tdset.Spec.DefaultReplica = replicas }
}

func image(tdset *schedulev1.TDSet) { tdset.Spec.Container.Image = "httpd" }

func terminating(tdset *schedulev1.TDSet) {
	tdset.DeletionTimestamp, tdset.Finalizers = new(metav1.Unix(0, 0)), []string{"example.com/held"}
}
