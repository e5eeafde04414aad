// The rules: which schedules are invalid, and which are valid but may not be what was meant.

package schedule

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
)

// The limits are those of the CRD.
const (
	maxWindows  = 24
	maxReplicas = 1000
)

// These messages are those of the CRD's rules, too.
const (
	noHours   = "startTime and endTime must differ: for the whole day, use 0 and 24"
	sameHours = "has the same startTime and endTime (0 and 24 are the same end): delete one of them"
)

// Validate returns why a schedule is invalid. path is the path of the spec.
//
// The CRD has the same rules, and a test of the webhook compares the two. Validate is for the rest:
// the CRD may be older than this program, the API server and this program may know different time
// zones, and a preview of a schedule has no API server.
func Validate(spec *schedulev1.TDSetSpec, path *field.Path) field.ErrorList {
	var all field.ErrorList
	if _, err := Location(spec); err != nil {
		all = append(all, field.Invalid(path.Child("timeZone"), spec.TimeZone, unknownZone))
	}
	all = append(all, inRange(path.Child("defaultReplica"), spec.DefaultReplica, 1, maxReplicas)...)

	path = path.Child("schedulingConfig")
	if count := len(spec.SchedulingConfig); count > maxWindows {
		return append(all, field.TooMany(path, count, maxWindows))
	}
	first := map[schedulev1.Scheduling]int{} // the first window with these hours
	for i, window := range spec.SchedulingConfig {
		path := path.Index(i)
		all = append(all, inRange(path.Child("startTime"), window.StartTime, 0, 23)...)
		all = append(all, inRange(path.Child("endTime"), window.EndTime, 0, 24)...)
		all = append(all, inRange(path.Child("replica"), window.Replica, 0, maxReplicas)...)

		hours := schedulev1.Scheduling{StartTime: window.StartTime, EndTime: window.EndTime % 24}
		other, found := first[hours]
		switch {
		case window.StartTime == window.EndTime:
			all = append(all, field.Invalid(path, hoursOf(window), noHours))
		case found:
			duplicate := field.Duplicate(path, hoursOf(window))
			duplicate.Detail = fmt.Sprintf("schedulingConfig[%d] "+sameHours, other)
			all = append(all, duplicate)
		default:
			first[hours] = i
		}
	}
	return all
}

func inRange(path *field.Path, value, least, most int32) field.ErrorList {
	if value < least || value > most {
		return field.ErrorList{field.Invalid(path, value, fmt.Sprintf("must be from %d to %d", least, most))}
	}
	return nil
}

// Warnings returns, a sentence each, what is valid but may not be what was meant: windows that lose
// hours to earlier ones, and hours outside of all windows. path is the path of the spec.
func Warnings(spec *schedulev1.TDSetSpec, path *field.Path) (all []string) {
	path = path.Child("schedulingConfig")
	owners := windowsByHour(spec.SchedulingConfig)
	for i, window := range spec.SchedulingConfig {
		active := false
		var lost []int       // hours of this window that belong to earlier ones
		var earlier []string // the names of these
		for hour, owner := range owners {
			switch {
			case owner == i:
				active = true
			case includes(window, int32(hour)):
				lost = append(lost, hour)
				if name := Name(spec, owner); !slices.Contains(earlier, name) {
					earlier = append(earlier, name)
				}
			}
		}
		if len(lost) == 0 {
			continue
		}
		when := "never active"
		if active {
			when = "not active from " + spans(lost)
		}
		all = append(all, fmt.Sprintf("%s: window %s is %s, because it comes after %s",
			path.Index(i), hoursOf(window), when, strings.Join(earlier, ", ")))
	}
	var free []int
	for hour, owner := range owners {
		if owner == None {
			free = append(free, hour)
		}
	}
	if len(free) > 0 {
		all = append(all, fmt.Sprintf("%s: no window includes the hours %s, so they get defaultReplica, which is %d",
			path, spans(free), spec.DefaultReplica))
	}
	return all
}

// spans describes hours of the day, in ascending order. "7 to 9" are the hours 7 and 8.
func spans(hours []int) string {
	var all []string
	for start := 0; start < len(hours); {
		end := start + 1
		for end < len(hours) && hours[end] == hours[end-1]+1 {
			end++
		}
		all = append(all, fmt.Sprintf("%d to %d", hours[start], hours[end-1]+1))
		start = end
	}
	return strings.Join(all, ", ")
}
