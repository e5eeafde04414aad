// The errors and warnings for a schedule. internal/webhook/v2 tests that the CRD's rules refuse the
// same ones.

package schedule

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/util/validation/field"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

func TestValidate(t *testing.T) {
	many := make([]schedulev2.Window, 25)
	for i := range many {
		many[i] = named(fmt.Sprint("w", i), aWindow(9, 17, 1))
	}
	for sentence, test := range map[string]struct {
		spec *schedulev2.TDSetSpec
		want []string
	}{
		"the example":                  {aSpec("", seed...), nil},
		"no windows":                   {aSpec("Europe/Berlin"), nil},
		"24 windows":                   {aSpec("", everyHour()...), nil},
		"windows that overlap":         {aSpec("", aWindow(9, 17, 5), aWindow(12, 14, 8)), nil},
		"two windows of the same time": {aSpec("", aWindow(9, 17, 5), named("again", aWindow(9, 17, 8))), nil},
		"one window past midnight":     {aSpec("", night...), nil},
		"from 00:00 to 24:00":          {aSpec("", aWindow(0, 24, 2)), nil},
		"0 and 1000 replicas":          {aSpec("", aWindow(0, 1, 0), aWindow(23, 24, 1000)), nil},
		"minutes and days":             {aSpec("", office...), nil},

		"an unknown zone":              {aSpec("Mars/Olympus_Mons"), []string{`spec.timeZone: Invalid value: "Mars/Olympus_Mons": ` + unknownZone}},
		"the computer's local zone":    {aSpec("Local"), []string{`spec.timeZone: Invalid value: "Local": ` + unknownZone}},
		"an offset in place of a zone": {aSpec("+05:30"), []string{`spec.timeZone: Invalid value: "+05:30": ` + unknownZone}},
		"an empty window":              {aSpec("", aWindow(9, 9, 5)), []string{`spec.windows[0]: Invalid value: "09:00 to 09:00": ` + sameEnds}},
		"a name twice":                 {aSpec("", aWindow(9, 17, 5), aWindow(9, 17, 8)), []string{`spec.windows[1].name: Invalid value: "9-17": ` + sameName}},
		"names": {aSpec("", named("", aWindow(1, 2, 5)), named("default", aWindow(2, 3, 5)), named("Office", aWindow(3, 4, 5)), named("-a", aWindow(4, 5, 5)), named(strings.Repeat("a", 64), aWindow(5, 6, 5))), []string{
			`spec.windows[0].name: Invalid value: "": ` + noName,
			`spec.windows[1].name: Invalid value: "default": ` + isDefault,
			`spec.windows[2].name: Invalid value: "Office": ` + noName,
			`spec.windows[3].name: Invalid value: "-a": ` + noName,
			`spec.windows[4].name: Invalid value: "` + strings.Repeat("a", 64) + `": ` + noName,
		}},
		"no time of day": {aSpec("", named("a", between("24:00", "06:00", 5)), named("b", between("9:00", "24:01", 5)), named("c", between("09:00", "17:60", 5))), []string{
			`spec.windows[0].start: Invalid value: "24:00": ` + noStart,
			`spec.windows[1].start: Invalid value: "9:00": ` + noStart,
			`spec.windows[1].end: Invalid value: "24:01": ` + noEnd,
			`spec.windows[2].end: Invalid value: "17:60": ` + noEnd,
		}},
		"days": {aSpec("", named("a", between("09:00", "17:00", 5, "Mon", "Monday", "Mon"))), []string{
			`spec.windows[0].days[1]: Invalid value: "Monday": ` + noDay,
			`spec.windows[0].days[2]: Invalid value: "Mon": ` + twiceADay,
		}},
		"replicas out of range": {aSpec("", aWindow(9, 17, -1), aWindow(17, 9, 1001)), []string{
			"spec.windows[0].replicas: Invalid value: -1: must be from 0 to 1000",
			"spec.windows[1].replicas: Invalid value: 1001: must be from 0 to 1000",
		}},
		"defaultReplicas of 0": {&schedulev2.TDSetSpec{Windows: night}, []string{"spec.defaultReplicas: Invalid value: 0: must be from 1 to 1000"}},
		"too many windows":     {aSpec("", many...), []string{"spec.windows: Too many: 25: must have at most 24 items"}},
		"several errors": {aSpec("Local", aWindow(9, 17, 5), aWindow(17, 17, 5), aWindow(9, 17, 5)), []string{
			`spec.timeZone: Invalid value: "Local": ` + unknownZone,
			`spec.windows[1]: Invalid value: "17:00 to 17:00": ` + sameEnds,
			`spec.windows[2].name: Invalid value: "9-17": ` + sameName,
		}},
	} {
		t.Run(sentence, func(t *testing.T) {
			var got []string
			for _, reason := range Validate(test.spec, field.NewPath("spec")) {
				got = append(got, reason.Error())
			}
			if difference := cmp.Diff(test.want, got); difference != "" {
				t.Errorf("errors (-want, +got):\n%s", difference)
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	for sentence, test := range map[string]struct {
		windows []schedulev2.Window
		want    []string
	}{
		"a window for each hour": {everyHour(), nil},
		"the whole day":          {[]schedulev2.Window{aWindow(0, 24, 2)}, nil},
		"a day and a night":      {[]schedulev2.Window{between("06:30", "22:15", 5), between("22:15", "06:30", 2)}, nil},
		"the example": {seed, []string{
			"spec.windows: no window includes the time from 00:00 to 01:00, so it gets defaultReplicas, which is 10",
		}},
		"no windows": {nil, []string{
			"spec.windows: no window includes the time from 00:00 to 24:00, so it gets defaultReplicas, which is 10",
		}},
		"time in no window, three times": {[]schedulev2.Window{aWindow(2, 9, 5), between("10:10", "17:00", 5), aWindow(18, 1, 5)}, []string{
			"spec.windows: no window includes the time from 01:00 to 02:00, 09:00 to 10:10, 17:00 to 18:00, so it gets defaultReplicas, which is 10",
		}},
		"days in no window": {office, []string{
			"spec.windows: no window includes the time on Mon, Tue, Wed, Thu and Fri from 00:00 to 09:15, 17:45 to 24:00; on Sat and Sun from 00:00 to 24:00, so it gets defaultReplicas, which is 10",
		}},
		"a window that overlaps an earlier one": {[]schedulev2.Window{aWindow(12, 14, 8), aWindow(0, 24, 5)}, []string{
			"spec.windows[1]: window 0-24 is not active from 12:00 to 14:00, because it comes after 12-14",
		}},
		"a window that overlaps one of some days": {[]schedulev2.Window{between("22:00", "06:30", 8, "Sat"), aWindow(0, 24, 5)}, []string{
			"spec.windows[1]: window 0-24 is not active on Sat from 22:00 to 24:00; on Sun from 00:00 to 06:30, because it comes after 22-0630-sat",
		}},
		"a window that overlaps two": {[]schedulev2.Window{aWindow(20, 4, 8), aWindow(12, 14, 8), aWindow(0, 24, 5)}, []string{
			"spec.windows[2]: window 0-24 is not active from 00:00 to 04:00, 12:00 to 14:00, 20:00 to 24:00, because it comes after 20-4 and 12-14",
		}},
		"a window that is never active because of another": {[]schedulev2.Window{aWindow(0, 24, 2), aWindow(12, 14, 8)}, []string{
			"spec.windows[1]: window 12-14 is never active, because it comes after 0-24",
		}},
		"a window that is never active because of two others": {[]schedulev2.Window{aWindow(0, 13, 2), aWindow(13, 0, 2), aWindow(12, 14, 8)}, []string{
			"spec.windows[2]: window 12-14 is never active, because it comes after 0-13 and 13-0",
		}},
		"every kind of warning": {[]schedulev2.Window{aWindow(9, 17, 2), aWindow(12, 14, 3), aWindow(16, 20, 4)}, []string{
			"spec.windows[1]: window 12-14 is never active, because it comes after 9-17",
			"spec.windows[2]: window 16-20 is not active from 16:00 to 17:00, because it comes after 9-17",
			"spec.windows: no window includes the time from 00:00 to 09:00, 20:00 to 24:00, so it gets defaultReplicas, which is 10",
		}},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := Warnings(aSpec("", test.windows...), field.NewPath("spec"))
			if difference := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); difference != "" {
				t.Errorf("warnings (-want, +got):\n%s", difference)
			}
		})
	}
}

func named(name string, window schedulev2.Window) schedulev2.Window {
	window.Name = name
	return window
}

func everyHour() (windows []schedulev2.Window) {
	for hour := range int32(24) {
		windows = append(windows, aWindow(hour, hour+1, hour))
	}
	return windows
}
