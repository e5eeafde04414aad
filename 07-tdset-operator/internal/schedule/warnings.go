// Warnings: what is valid but may not be what was meant.

package schedule

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// Warnings returns, a sentence each, what is valid but may not be what was meant: windows that lose
// time to earlier ones, and time outside of all windows. path is the path of the spec, which must be
// valid.
func Warnings(spec *schedulev2.TDSetSpec, path *field.Path) (all []string) {
	path = path.Child("windows")
	spans, err := spansOf(spec.Windows)
	if err != nil {
		return nil
	}
	for i, window := range spec.Windows {
		active := false
		var earlier []int // the windows to which it loses time
		lost := when(func(weekday time.Weekday, minute int) bool {
			if !spans[i].includes(weekday, minute) {
				return false
			}
			owner := spans.active(weekday, minute)
			if owner == i {
				active = true
			} else if !slices.Contains(earlier, owner) {
				earlier = append(earlier, owner)
			}
			return owner != i
		})
		if lost == "" {
			continue
		}
		much := "never active"
		if active {
			much = "not active " + lost
		}
		var names []string
		for _, window := range slices.Sorted(slices.Values(earlier)) {
			names = append(names, Name(spec, window))
		}
		all = append(all, fmt.Sprintf("%s: window %s is %s, because it comes after %s", path.Index(i), window.Name, much, list(names)))
	}
	free := when(func(weekday time.Weekday, minute int) bool { return spans.active(weekday, minute) == None })
	if free != "" {
		all = append(all, fmt.Sprintf("%s: no window includes the time %s, so it gets defaultReplicas, which is %d", path, free, spec.DefaultReplicas))
	}
	return all
}

// when describes the minutes of the week that match. Days with the same times are named together,
// and all seven aren't named: "from 09:00 to 17:30", "on Sat and Sun from 00:00 to 24:00".
func when(matches func(weekday time.Weekday, minute int) bool) string {
	var times []string            // in the order of the week, from Monday on
	days := map[string][]string{} // by times
	for i := range weekdays {
		weekday := time.Weekday((i + 1) % 7)
		found := timesOf(func(minute int) bool { return matches(weekday, minute) })
		if found == "" {
			continue
		}
		if days[found] == nil {
			times = append(times, found)
		}
		days[found] = append(days[found], string(weekdays[weekday]))
	}
	for i, found := range times {
		if len(days[found]) < len(weekdays) {
			times[i] = "on " + list(days[found]) + " " + found
		}
	}
	return strings.Join(times, "; ")
}

// timesOf describes the minutes of a day that match: "from 00:00 to 01:00, 12:00 to 13:30".
func timesOf(matches func(minute int) bool) string {
	var all []string
	for start := 0; start < day; {
		end := start
		for end < day && matches(end) {
			end++
		}
		if end > start {
			all = append(all, timeOfDay(start)+" to "+timeOfDay(end))
		}
		start = end + 1
	}
	if len(all) == 0 {
		return ""
	}
	return "from " + strings.Join(all, ", ")
}
