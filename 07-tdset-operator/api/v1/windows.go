// The windows of both versions. v1 knows only hours, so its view of a window in v2 is rounded to
// whole hours, and an annotation keeps the original.

package v1

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
	"example.com/operators/07-tdset-operator/internal/schedule"
)

// keptWindows is an annotation with the windows of v2, as JSON. Only TDSets in v1 have it, and only
// those whose windows v1 can't express. It is stored only while v1 is the storage version, in the
// middle of a migration (config/migration/2-both-served-v1-stored).
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
	start, _ := schedulev2.MinutesOf(window.Start) // the CRD lets in nothing else
	end, _ := schedulev2.MinutesOf(window.End)
	view := Scheduling{StartTime: int32(start / 60), EndTime: int32((end + 59) / 60), Replica: window.Replicas}
	pastMidnight := end <= start && end != 0
	if pastMidnight && view.EndTime > view.StartTime || view.StartTime == view.EndTime {
		view.StartTime, view.EndTime = 0, 24
	}
	return view
}

// windowsToV2 returns the windows of v2 for those of v1. A window that still has the hours of a kept
// one is that one, with the replicas of v1. The others are new.
func windowsToV2(windows []Scheduling, kept []schedulev2.Window) []schedulev2.Window {
	if windows == nil {
		return nil
	}
	all := make([]schedulev2.Window, len(windows))
	views := windowsToV1(kept)
	for i, window := range windows {
		original := slices.IndexFunc(views, func(view Scheduling) bool {
			return view.StartTime == window.StartTime && view.EndTime == window.EndTime
		})
		if original >= 0 {
			all[i] = kept[original]
			views[original].StartTime = -1 // used
		} else {
			all[i].Start, all[i].End = atHour(window.StartTime), atHour(window.EndTime)
		}
		all[i].Replicas = window.Replica
	}
	for i := range all {
		if all[i].Name == "" {
			all[i].Name = unusedName(all, windows[i].hours())
		}
	}
	return all
}

// unusedName returns name, and if a window has it already, with a number as well.
func unusedName(windows []schedulev2.Window, name string) string {
	unused := name
	for number := 2; slices.ContainsFunc(windows, func(w schedulev2.Window) bool { return w.Name == unused }); number++ {
		unused = name + "-" + strconv.Itoa(number)
	}
	return unused
}

// atHour writes an hour as a time of day. The CRD of v1 accepts 0 to 24 only.
func atHour(hour int32) string { return fmt.Sprintf("%02d:00", min(max(hour, 0), 24)) }

// keepWindows adds the annotation if the windows can't be made from v1's view of them.
func keepWindows(meta *metav1.ObjectMeta, windows []schedulev2.Window, view []Scheduling) error {
	if reflect.DeepEqual(windowsToV2(view, nil), windows) {
		return nil
	}
	content, err := json.Marshal(windows)
	if err != nil {
		return err
	}
	meta.Annotations = maps.Clone(meta.Annotations) // the hub has the same map
	metav1.SetMetaDataAnnotation(meta, keptWindows, string(content))
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
	spec := &schedulev2.TDSetSpec{Windows: kept, DefaultReplicas: 1}
	if err := schedule.Validate(spec, field.NewPath("annotation")).ToAggregate(); err != nil {
		return nil, err
	}
	return kept, nil
}
