// The rules: which schedules there can't be, and which there can be and may still not be meant so.

package schedule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/operators/07-tdset-operator/api/v1"
)

// The bounds that the CRD has as well.
const (
	maxWindows  = 24
	maxReplicas = 1000
)

// What is said of windows, in the CRD's rules as well.
const (
	noHours   = "startTime and endTime must differ: for the whole day, say 0 and 24"
	sameHours = "has the same startTime and endTime (0 and 24 are the same end): delete one of them"
)

// Validate returns why there can't be such a schedule. path is the spec's.
//
// The CRD's rules refuse the same (a test of the webhook compares the two), so an API server that knows them never lets such a TDSet in.
// But a CRD may be older than this program; the zones that the API server knows are those of its own computer; and cmd/schedule has no
// API server to ask.
func Validate(spec *v1.TDSetSpec, path *field.Path) field.ErrorList {
	var all field.ErrorList
	if _, err := Location(spec); err != nil {
		all = append(all, field.Invalid(path.Child("timeZone"), spec.TimeZone, unknownZone))
	}
	all = append(all, within(path.Child("defaultReplica"), spec.DefaultReplica, 1, maxReplicas)...)

	path = path.Child("schedulingConfig")
	if count := len(spec.SchedulingConfig); count > maxWindows {
		return append(all, field.TooMany(path, count, maxWindows))
	}
	first := map[v1.Scheduling]int{} // the windows' hours → the first window that has them
	for i, window := range spec.SchedulingConfig {
		path := path.Index(i)
		all = append(all, within(path.Child("startTime"), window.StartTime, 0, 23)...)
		all = append(all, within(path.Child("endTime"), window.EndTime, 0, 24)...)
		all = append(all, within(path.Child("replica"), window.Replica, 0, maxReplicas)...)

		hours := v1.Scheduling{StartTime: window.StartTime, EndTime: window.EndTime % 24}
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

func within(path *field.Path, value, least, most int32) field.ErrorList {
	if value < least || value > most {
		return field.ErrorList{field.Invalid(path, value, fmt.Sprintf("must be from %d to %d", least, most))}
	}
	return nil
}

// Warnings returns what is legal and may still not be what was meant: windows that aren't active in hours of theirs, since windows
// before them have these too, and hours in no window. path is the spec's.
func Warnings(spec *v1.TDSetSpec, path *field.Path) (all []string) {
	path = path.Child("schedulingConfig")
	belongs := byHour(spec.SchedulingConfig)
	for i, window := range spec.SchedulingConfig {
		active := false
		var lost []int // hours
		var to []int   // windows
		for hour, owner := range belongs {
			switch {
			case owner == i:
				active = true
			case has(window, int32(hour)):
				lost, to = append(lost, hour), append(to, owner)
			}
		}
		if len(lost) == 0 {
			continue
		}
		where := "any of its hours"
		if active {
			where = "the hours " + inWords(lost)
		}
		all = append(all, fmt.Sprintf("%s: window %s isn't active in %s, since %s",
			path.Index(i), hoursOf(window), where, haveThem(spec, to)))
	}
	var free []int
	for hour, owner := range belongs {
		if owner == None {
			free = append(free, hour)
		}
	}
	if len(free) > 0 {
		all = append(all, fmt.Sprintf("%s: the hours %s are in no window, and get defaultReplica, which is %d",
			path, inWords(free), spec.DefaultReplica))
	}
	return all
}

// haveThem says which windows have some hours.
func haveThem(spec *v1.TDSetSpec, windows []int) string {
	var names []string
	for _, window := range slices.Compact(slices.Sorted(slices.Values(windows))) {
		names = append(names, Name(spec, window))
	}
	if len(names) == 1 {
		return "an earlier window has them: " + names[0]
	}
	return "earlier windows have them: " + enumerate(names)
}

// inWords names hours of the day, in their order, as spans: "7 to 9" are the hours 7 and 8.
func inWords(hours []int) string {
	var spans []string
	for start := 0; start < len(hours); {
		end := start + 1
		for end < len(hours) && hours[end] == hours[end-1]+1 {
			end++
		}
		spans = append(spans, strconv.Itoa(hours[start])+" to "+strconv.Itoa(hours[end-1]+1))
		start = end
	}
	return enumerate(spans)
}

// enumerate returns "a", "a and b", "a, b and c".
func enumerate(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
