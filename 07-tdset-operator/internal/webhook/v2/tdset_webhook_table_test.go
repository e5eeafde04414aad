// The webhook's answers, as a table. It reads nothing but the TDSet. The rules have their own
// tests, in internal/schedule.

package v2

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

const (
	unknownZone  = `TDSet.schedule.rs "a" is invalid: spec.timeZone: Invalid value: "Mars/Olympus_Mons": unknown time zone: use an IANA name, such as Europe/Berlin or UTC`
	emptyWindow  = `TDSet.schedule.rs "a" is invalid: spec.windows[0]: Invalid value: "09:00 to 09:00": start and end must differ: for the whole day, use 00:00 and 24:00`
	uncovered    = "spec.windows: no window includes the time from 00:00 to 09:00, 17:00 to 24:00, so it gets defaultReplicas, which is 1"
	uncoveredTwo = "spec.windows: no window includes the time from 00:00 to 09:00, 17:00 to 24:00, so it gets defaultReplicas, which is 2"
	overlap      = "spec.windows[1]: window 0-24 is not active from 09:00 to 17:00, because it comes after 9-17"
)

func TestValidate(t *testing.T) {
	for sentence, test := range map[string]struct {
		old          *schedulev2.TDSet // nil for a create
		tdset        *schedulev2.TDSet
		wantError    string
		wantWarnings []string
	}{
		"a schedule for the whole day":           {tdset: aTDSet(windows(aWindow(0, 24)))},
		"time in no window":                      {tdset: aTDSet(), wantWarnings: []string{uncovered}},
		"windows that overlap":                   {tdset: aTDSet(windows(aWindow(9, 17), aWindow(0, 24))), wantWarnings: []string{overlap}},
		"an unknown zone":                        {tdset: aTDSet(zone("Mars/Olympus_Mons")), wantError: unknownZone},
		"an empty window":                        {tdset: aTDSet(windows(aWindow(9, 9))), wantError: emptyWindow},
		"a schedule that gets time in no window": {old: aTDSet(windows(aWindow(0, 24))), tdset: aTDSet(), wantWarnings: []string{uncovered}},
		"another number by default":              {old: aTDSet(), tdset: aTDSet(defaultReplicas(2)), wantWarnings: []string{uncoveredTwo}},
		"another zone":                           {old: aTDSet(), tdset: aTDSet(zone("Europe/Berlin")), wantWarnings: []string{uncovered}},
		"another schedule, which is invalid":     {old: aTDSet(), tdset: aTDSet(windows(aWindow(9, 9))), wantError: emptyWindow},
		"a TDSet that is corrected":              {old: aTDSet(windows(aWindow(9, 9))), tdset: aTDSet(), wantWarnings: []string{uncovered}},
		"a TDSet that is half corrected":         {old: aTDSet(windows(aWindow(9, 9)), zone("Mars/Olympus_Mons")), tdset: aTDSet(windows(aWindow(9, 9))), wantError: emptyWindow},

		"a label":     {old: aTDSet(), tdset: aTDSet(func(tdset *schedulev2.TDSet) { tdset.Labels = map[string]string{"team": "blue"} })},
		"an image":    {old: aTDSet(), tdset: aTDSet(image)},
		"an interval": {old: aTDSet(), tdset: aTDSet(func(tdset *schedulev2.TDSet) { tdset.Spec.IntervalMinutes = 5 })},
		"an image, and an unchanged invalid schedule":          {old: aTDSet(windows(aWindow(9, 9))), tdset: aTDSet(windows(aWindow(9, 9)), image)},
		"an invalid schedule of a TDSet that is being deleted": {old: aTDSet(terminating), tdset: aTDSet(terminating, windows(aWindow(9, 9)))},
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
func aTDSet(changes ...func(*schedulev2.TDSet)) *schedulev2.TDSet {
	tdset := &schedulev2.TDSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"},
		Spec: schedulev2.TDSetSpec{
			Container:       schedulev2.Container{Image: "nginx", Port: 80},
			Windows:         []schedulev2.Window{aWindow(9, 17)},
			DefaultReplicas: 1,
		},
	}
	for _, change := range changes {
		change(tdset)
	}
	return tdset
}

// aWindow returns a window of full hours, which is named after them: 9-17.
func aWindow(start, end int) schedulev2.Window {
	return schedulev2.Window{Name: fmt.Sprintf("%d-%d", start, end), Start: atHour(start), End: atHour(end), Replicas: 5}
}

func atHour(hour int) string { return fmt.Sprintf("%02d:00", hour) }

func windows(all ...schedulev2.Window) func(*schedulev2.TDSet) {
	return func(tdset *schedulev2.TDSet) { tdset.Spec.Windows = all }
}

func zone(name string) func(*schedulev2.TDSet) {
	return func(tdset *schedulev2.TDSet) { tdset.Spec.TimeZone = name }
}

func defaultReplicas(replicas int32) func(*schedulev2.TDSet) {
	return func(tdset *schedulev2.TDSet) { tdset.Spec.DefaultReplicas = replicas }
}

func image(tdset *schedulev2.TDSet) { tdset.Spec.Container.Image = "httpd" }

func terminating(tdset *schedulev2.TDSet) {
	tdset.DeletionTimestamp, tdset.Finalizers = new(metav1.Unix(0, 0)), []string{"example.com/held"}
}
