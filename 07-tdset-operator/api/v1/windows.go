// The windows of both versions. v1 knows only hours, so its view of a window in v2 is rounded to
// whole hours, and an annotation keeps the original.

package v1

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// keptWindows is an annotation with the windows of v2, as JSON. Only TDSets in v1 have it, and only
// those whose windows v1 can't express. Nothing stores it.
const keptWindows = "schedule.rs/v2-windows"

// hours names a window by its hours, such as "9-17".
func (w Scheduling) hours() string {
	return strconv.Itoa(int(w.StartTime)) + "-" + strconv.Itoa(int(w.EndTime))
}

// windowsToV1 returns v1's view of windows. It is nil only if windows is.
func windowsToV1(windows []schedulev2.Window) []Scheduling {
	if windows == nil {
		return nil
	}
	all := make([]Scheduling, len(windows))
	for i := range windows {
		all[i] = windowToV1(&windows[i])
	}
	return all
}

// windowToV1 rounds the start down and the end up to full hours, so that v1 never shows a shorter
// window. If the result would overlap itself, as it would for 09:15 to 09:05, it is the whole day.
func windowToV1(window *schedulev2.Window) Scheduling {
	start, end := minutesOf(window.Start), minutesOf(window.End)
	view := Scheduling{StartTime: start / 60, EndTime: (end + 59) / 60, Replica: window.Replicas}
	pastMidnight := end <= start && end != 0
	if pastMidnight && view.EndTime > view.StartTime || view.StartTime == view.EndTime {
		view.StartTime, view.EndTime = 0, 24
	}
	return view
}

var timeOfDay = regexp.MustCompile(`^([01][0-9]|2[0-3]):[0-5][0-9]$|^24:00$`)

// minutesOf reads a time of day, such as 09:00. Other texts aren't stored, because the CRD refuses
// them. They count as midnight, so that a conversion never fails.
func minutesOf(text string) int32 {
	if !isTimeOfDay(text) {
		return 0
	}
	digit := func(i int) int32 { return int32(text[i] - '0') }
	return (digit(0)*10+digit(1))*60 + digit(3)*10 + digit(4)
}

// isTimeOfDay is timeOfDay without its cost.
func isTimeOfDay(text string) bool {
	return len(text) == 5 && text[2] == ':' && timeOfDay.MatchString(text)
}

// taken is no window's hours: it marks a kept window that was used already.
var taken = Scheduling{StartTime: -1, EndTime: -1}

func (w Scheduling) sameHours(other Scheduling) bool {
	return w.StartTime == other.StartTime && w.EndTime == other.EndTime
}

// windowsToV2 returns the windows of v2 for those of v1. A window that still has the hours of a kept
// one is that one, with the replicas of v1. The others are new.
func windowsToV2(windows []Scheduling, kept []schedulev2.Window) []schedulev2.Window {
	if windows == nil {
		return nil
	}
	all, isNew := make([]schedulev2.Window, len(windows)), make([]bool, len(windows))
	views := windowsToV1(kept)
	for i, window := range windows {
		original := slices.IndexFunc(views, func(view Scheduling) bool { return view.sameHours(window) })
		if isNew[i] = original < 0; !isNew[i] {
			all[i] = kept[original]
			views[original] = taken
			all[i].Replicas = window.Replica
			continue
		}
		all[i] = schedulev2.Window{Start: atHour(window.StartTime), End: atHour(window.EndTime), Replicas: window.Replica}
	}
	nameNew(all, windows, isNew)
	return all
}

// nameNew gives each new window a name of its own: its hours, and if there is such a name already, a
// number as well.
func nameNew(all []schedulev2.Window, windows []Scheduling, isNew []bool) {
	for i := range all {
		if !isNew[i] {
			continue
		}
		name := windows[i].hours()
		for number := 2; hasName(all, name); number++ {
			name = windows[i].hours() + "-" + strconv.Itoa(number)
		}
		all[i].Name = name
	}
}

func hasName(windows []schedulev2.Window, name string) bool {
	for i := range windows {
		if windows[i].Name == name {
			return true
		}
	}
	return false
}

var fullHours = func() (all [25]string) {
	for hour := range all {
		all[hour] = fmt.Sprintf("%02d:00", hour)
	}
	return all
}()

// atHour writes an hour as a time of day. The CRD of v1 accepts 0 to 24 only.
func atHour(hour int32) string { return fullHours[min(max(hour, 0), 24)] }

var weekdays = []schedulev2.Day{
	schedulev2.Monday, schedulev2.Tuesday, schedulev2.Wednesday, schedulev2.Thursday,
	schedulev2.Friday, schedulev2.Saturday, schedulev2.Sunday,
}

// keepWindows adds the annotation if the windows can't be made from v1's view of them.
func keepWindows(meta *metav1.ObjectMeta, windows []schedulev2.Window, view []Scheduling) error {
	if reflect.DeepEqual(windowsToV2(view, nil), windows) {
		return nil
	}
	content, err := json.Marshal(windows)
	if err != nil {
		return err
	}
	annotations := make(map[string]string, len(meta.Annotations)+1)
	maps.Copy(annotations, meta.Annotations)
	annotations[keptWindows] = string(content)
	meta.Annotations = annotations
	return nil
}

// takeKeptWindows removes the annotation and returns its windows. The error says why it is ignored.
func takeKeptWindows(meta *metav1.ObjectMeta) ([]schedulev2.Window, error) {
	content, found := meta.Annotations[keptWindows]
	if !found {
		return nil, nil
	}
	meta.Annotations = maps.Clone(meta.Annotations)
	if delete(meta.Annotations, keptWindows); len(meta.Annotations) == 0 {
		meta.Annotations = nil
	}
	var kept []schedulev2.Window
	if err := json.Unmarshal([]byte(content), &kept); err != nil {
		return nil, err
	}
	for i, window := range kept {
		if window.Start == "24:00" || !isTimeOfDay(window.Start) || !isTimeOfDay(window.End) || window.Start == window.End {
			return nil, fmt.Errorf("windows[%d]: %s to %s is no window", i, window.Start, window.End)
		}
		if hasName(kept[:i], window.Name) {
			return nil, fmt.Errorf("windows[%d]: two windows have the name %q", i, window.Name)
		}
		if window.Name == "" {
			return nil, fmt.Errorf("windows[%d]: it has no name", i)
		}
		for _, day := range window.Days {
			if !slices.Contains(weekdays, day) {
				return nil, fmt.Errorf("windows[%d]: there is no day %q", i, day)
			}
		}
	}
	return kept, nil
}
