// The errors and warnings for a schedule. internal/webhook/v1 tests that the CRD's rules refuse the
// same ones.

package schedule

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/util/validation/field"

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
)

const (
	zoneIsUnknown = "unknown time zone: use an IANA name, such as Europe/Berlin or UTC"
	mustDiffer    = "startTime and endTime must differ: for the whole day, use 0 and 24"
	sameAsFirst   = "schedulingConfig[0] has the same startTime and endTime (0 and 24 are the same end): delete one of them"
)

func TestValidate(t *testing.T) {
	many := make([]schedulev1.Scheduling, 25)
	for i := range many {
		many[i] = aWindow(int32(i%24), int32(i/24)+12, 1)
	}
	for sentence, test := range map[string]struct {
		spec *schedulev1.TDSetSpec
		want []string
	}{
		"the example":              {aSpec("", seed...), nil},
		"no windows":               {aSpec("Europe/Berlin"), nil},
		"24 windows":               {aSpec("", everyHour()...), nil},
		"windows that overlap":     {aSpec("", aWindow(9, 17, 5), aWindow(12, 14, 8)), nil},
		"one window past midnight": {aSpec("", night...), nil},
		"from 0 to 24":             {aSpec("", aWindow(0, 24, 2)), nil},
		"0 and 1000 replicas":      {aSpec("", aWindow(0, 1, 0), aWindow(23, 24, 1000)), nil},

		"an unknown zone":              {aSpec("Mars/Olympus_Mons"), []string{`spec.timeZone: Invalid value: "Mars/Olympus_Mons": ` + zoneIsUnknown}},
		"the computer's local zone":    {aSpec("Local"), []string{`spec.timeZone: Invalid value: "Local": ` + zoneIsUnknown}},
		"an offset in place of a zone": {aSpec("+05:30"), []string{`spec.timeZone: Invalid value: "+05:30": ` + zoneIsUnknown}},
		"a window without hours":       {aSpec("", aWindow(9, 9, 5)), []string{`spec.schedulingConfig[0]: Invalid value: "9-9": ` + mustDiffer}},
		"two windows without hours, which aren't duplicates": {aSpec("", aWindow(9, 9, 5), aWindow(9, 9, 5)), []string{
			`spec.schedulingConfig[0]: Invalid value: "9-9": ` + mustDiffer,
			`spec.schedulingConfig[1]: Invalid value: "9-9": ` + mustDiffer,
		}},
		"the same window twice":         {aSpec("", aWindow(9, 17, 5), aWindow(9, 17, 8)), []string{`spec.schedulingConfig[1]: Duplicate value: "9-17": ` + sameAsFirst}},
		"a window up to 0 and up to 24": {aSpec("", aWindow(19, 0, 5), aWindow(19, 24, 8)), []string{`spec.schedulingConfig[1]: Duplicate value: "19-24": ` + sameAsFirst}},
		"the same window three times": {aSpec("", aWindow(9, 17, 5), aWindow(9, 17, 8), aWindow(9, 17, 9)), []string{
			`spec.schedulingConfig[1]: Duplicate value: "9-17": ` + sameAsFirst,
			`spec.schedulingConfig[2]: Duplicate value: "9-17": ` + sameAsFirst,
		}},
		"hours out of range": {aSpec("", aWindow(24, 6, 5), aWindow(-1, 25, 5)), []string{
			"spec.schedulingConfig[0].startTime: Invalid value: 24: must be from 0 to 23",
			"spec.schedulingConfig[1].startTime: Invalid value: -1: must be from 0 to 23",
			"spec.schedulingConfig[1].endTime: Invalid value: 25: must be from 0 to 24",
		}},
		"replicas out of range": {aSpec("", aWindow(9, 17, -1), aWindow(17, 9, 1001)), []string{
			"spec.schedulingConfig[0].replica: Invalid value: -1: must be from 0 to 1000",
			"spec.schedulingConfig[1].replica: Invalid value: 1001: must be from 0 to 1000",
		}},
		"a defaultReplica of 0": {&schedulev1.TDSetSpec{SchedulingConfig: night}, []string{"spec.defaultReplica: Invalid value: 0: must be from 1 to 1000"}},
		"too many windows":      {aSpec("", many...), []string{"spec.schedulingConfig: Too many: 25: must have at most 24 items"}},
		"several errors": {aSpec("Local", aWindow(9, 17, 5), aWindow(17, 17, 5), aWindow(9, 17, 5)), []string{
			`spec.timeZone: Invalid value: "Local": ` + zoneIsUnknown,
			`spec.schedulingConfig[1]: Invalid value: "17-17": ` + mustDiffer,
			`spec.schedulingConfig[2]: Duplicate value: "9-17": ` + sameAsFirst,
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
		windows []schedulev1.Scheduling
		want    []string
	}{
		"a window for each hour": {everyHour(), nil},
		"the whole day":          {[]schedulev1.Scheduling{aWindow(0, 24, 2)}, nil},
		"a day and a night":      {[]schedulev1.Scheduling{aWindow(6, 22, 5), aWindow(22, 6, 2)}, nil},
		"the example": {seed, []string{
			"spec.schedulingConfig: no window includes the hours 0 to 1, so they get defaultReplica, which is 10",
		}},
		"no windows": {nil, []string{
			"spec.schedulingConfig: no window includes the hours 0 to 24, so they get defaultReplica, which is 10",
		}},
		"hours in no window, at both ends of the day": {work, []string{
			"spec.schedulingConfig: no window includes the hours 0 to 9, 17 to 24, so they get defaultReplica, which is 10",
		}},
		"hours in no window, three times": {[]schedulev1.Scheduling{aWindow(2, 9, 5), aWindow(10, 17, 5), aWindow(18, 1, 5)}, []string{
			"spec.schedulingConfig: no window includes the hours 1 to 2, 9 to 10, 17 to 18, so they get defaultReplica, which is 10",
		}},
		"a window that overlaps an earlier one": {[]schedulev1.Scheduling{aWindow(12, 14, 8), aWindow(0, 24, 5)}, []string{
			"spec.schedulingConfig[1]: window 0-24 is not active from 12 to 14, because it comes after 12-14",
		}},
		"a window that overlaps two": {[]schedulev1.Scheduling{aWindow(20, 4, 8), aWindow(12, 14, 8), aWindow(0, 24, 5)}, []string{
			"spec.schedulingConfig[2]: window 0-24 is not active from 0 to 4, 12 to 14, 20 to 24, because it comes after 20-4, 12-14",
		}},
		"a window that is never active because of another": {[]schedulev1.Scheduling{aWindow(0, 24, 2), aWindow(12, 14, 8)}, []string{
			"spec.schedulingConfig[1]: window 12-14 is never active, because it comes after 0-24",
		}},
		"a window that is never active because of two others": {[]schedulev1.Scheduling{aWindow(0, 13, 2), aWindow(13, 0, 2), aWindow(12, 14, 8)}, []string{
			"spec.schedulingConfig[2]: window 12-14 is never active, because it comes after 0-13, 13-0",
		}},
		"a window that overlaps two at its ends": {[]schedulev1.Scheduling{aWindow(0, 12, 2), aWindow(14, 24, 3), aWindow(11, 15, 4)}, []string{
			"spec.schedulingConfig[2]: window 11-15 is not active from 11 to 12, 14 to 15, because it comes after 0-12, 14-24",
		}},
		"every kind of warning": {[]schedulev1.Scheduling{aWindow(9, 17, 2), aWindow(12, 14, 3), aWindow(16, 20, 4)}, []string{
			"spec.schedulingConfig[1]: window 12-14 is never active, because it comes after 9-17",
			"spec.schedulingConfig[2]: window 16-20 is not active from 16 to 17, because it comes after 9-17",
			"spec.schedulingConfig: no window includes the hours 0 to 9, 20 to 24, so they get defaultReplica, which is 10",
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

func everyHour() (windows []schedulev1.Scheduling) {
	for hour := range int32(24) {
		windows = append(windows, aWindow(hour, hour+1, hour))
	}
	return windows
}
