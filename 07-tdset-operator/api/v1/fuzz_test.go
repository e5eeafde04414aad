// Round trips of any TDSet, in both directions.

package v1

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/json"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// FuzzV1 converts a TDSet of v1 to v2 and back. It also accepts what no CRD would, such as the same
// hours twice, because an older CRD may have accepted it. Three bytes make a window.
func FuzzV1(f *testing.F) {
	f.Add([]byte{9, 17, 5, 17, 19, 3, 19, 0, 2}, int32(3), "Europe/Berlin", int32(5), "9-17", "team")
	f.Add([]byte{9, 17, 5, 9, 17, 6, 9, 17, 5}, int32(0), "", int32(0), "default", "")
	f.Add([]byte{}, int32(1), "UTC", int32(0), "", keptWindows)
	f.Fuzz(func(t *testing.T, bytes []byte, defaultReplica int32, zone string, interval int32, active, annotation string) {
		original := &TDSet{Spec: TDSetSpec{DefaultReplica: defaultReplica, TimeZone: zone, IntervalMint: interval}}
		if annotation != "" && annotation != keptWindows {
			original.Annotations = map[string]string{annotation: "value"}
		}
		if bytes != nil {
			original.Spec.SchedulingConfig = []Scheduling{}
		}
		for ; len(bytes) >= 3 && len(original.Spec.SchedulingConfig) < 24; bytes = bytes[3:] {
			if start, end := int32(bytes[0]%24), int32(bytes[1]%25); start != end {
				original.Spec.SchedulingConfig = append(original.Spec.SchedulingConfig, Scheduling{start, end, int32(bytes[2])})
			}
		}
		original.Status.ActiveWindow = active
		hub := toV2(t, original.DeepCopy())
		// The status names the first window of these hours, so a name with a number stays one.
		if isNumbered(hub.Spec.Windows, active) {
			return
		}
		view := fromV2(t, hub.DeepCopy())
		delete(view.Annotations, keptWindows) // of names with a number
		if len(view.Annotations) == 0 {
			view.Annotations = nil
		}
		if !reflect.DeepEqual(original, view) {
			t.Errorf("back in v1 (-want, +got):\n%s", cmp.Diff(original, view))
		}
	})
}

func isNumbered(windows []schedulev2.Window, active string) bool {
	for _, window := range windows {
		if view := windowToV1(&window); window.Name == active && view.hours() != active {
			return true
		}
	}
	return false
}

// FuzzV2 converts a TDSet of v2 to v1, over the wire, and back. v1's view must be valid there. Five
// bytes make a window.
func FuzzV2(f *testing.F) {
	f.Add([]byte{2, 28, 3, 252, 0, 4, 26, 4, 126, 62, 4, 116, 0, 0, 127}, "office,evening,night", int32(3), "team")
	f.Add([]byte{2, 28, 3, 252, 0, 2, 30, 3, 250, 1}, "a,b", int32(1), "")
	f.Add([]byte{}, "", int32(0), "")
	f.Fuzz(func(t *testing.T, bytes []byte, names string, defaultReplicas int32, annotation string) {
		original := &schedulev2.TDSet{Spec: schedulev2.TDSetSpec{DefaultReplicas: defaultReplicas, Windows: []schedulev2.Window{}}}
		if annotation = strings.ToValidUTF8(annotation, ""); annotation != "" && annotation != keptWindows {
			original.Annotations = map[string]string{annotation: "value"}
		}
		for ; len(bytes) >= 5 && len(original.Spec.Windows) < 24; bytes = bytes[5:] {
			window := windowFrom(int(bytes[0])<<8|int(bytes[1]), int(bytes[2])<<8|int(bytes[3]), bytes[4])
			window.Name = nameFrom(names, len(original.Spec.Windows))
			original.Spec.Windows = append(original.Spec.Windows, window)
		}
		view := fromV2(t, original.DeepCopy())
		for i, window := range view.Spec.SchedulingConfig {
			if window.StartTime < 0 || window.StartTime > 23 || window.EndTime < 0 || window.EndTime > 24 || window.StartTime == window.EndTime {
				t.Errorf("%v is shown as %v", original.Spec.Windows[i], window)
			}
			if missing := missingMinute(original.Spec.Windows[i], window); missing >= 0 {
				t.Errorf("%v is shown as %v, which doesn't include minute %d", original.Spec.Windows[i], window, missing)
			}
		}
		wire, err := json.Marshal(view)
		if err != nil {
			t.Fatal(err)
		}
		received := &TDSet{}
		if err := json.Unmarshal(wire, received); err != nil {
			t.Fatal(err)
		}
		back := toV2(t, received)
		if !reflect.DeepEqual(original, back) {
			t.Errorf("back in v2 (-want, +got):\n%s", cmp.Diff(original, back))
		}
	})
}

// windowFrom makes a window of any three numbers. The bits of days are the days of the week.
func windowFrom(start, end int, days byte) schedulev2.Window {
	start, end = start%1440, end%1441
	if start == end {
		end = (end + 1) % 1441
	}
	window := schedulev2.Window{Start: clock(start), End: clock(end), Replicas: int32(start % 7)}
	for i, day := range []schedulev2.Day{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"} {
		if days&(1<<i) != 0 {
			window.Days = append(window.Days, day)
		}
	}
	return window
}

func clock(minute int) string {
	return string([]byte{byte('0' + minute/600), byte('0' + minute/60%10), ':', byte('0' + minute%60/10), byte('0' + minute%10)})
}

// nameFrom returns a valid name for the window at index, with letters and digits of text.
func nameFrom(text string, index int) string {
	name := []byte{'w', byte('a' + index)}
	for _, letter := range []byte(text) {
		if len(name) < 63 && (letter >= 'a' && letter <= 'z' || letter >= '0' && letter <= '9') {
			name = append(name, letter)
		}
	}
	return string(name)
}

// missingMinute returns a minute of the day that the window includes and its view doesn't, or -1.
func missingMinute(window schedulev2.Window, view Scheduling) int {
	start, _ := schedulev2.MinutesOf(window.Start)
	end, _ := schedulev2.MinutesOf(window.End)
	if end <= start {
		end += 1440
	}
	first, last := int(view.StartTime)*60, int(view.EndTime)*60
	if last <= first {
		last += 1440
	}
	for minute := start; minute < end; minute++ {
		if (minute < first || minute >= last) && (minute+1440 < first || minute+1440 >= last) && (minute-1440 < first || minute-1440 >= last) {
			return minute % 1440
		}
	}
	return -1
}
