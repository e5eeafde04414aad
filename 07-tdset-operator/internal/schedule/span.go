// Spans: the windows as numbers, and their arithmetic.

package schedule

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// day is the number of minutes of a day on the wall clock.
const day = 24 * 60

// weekdays are the days of the API, in the order of time.Weekday.
var weekdays = []schedulev2.Day{
	schedulev2.Sunday, schedulev2.Monday, schedulev2.Tuesday, schedulev2.Wednesday,
	schedulev2.Thursday, schedulev2.Friday, schedulev2.Saturday,
}

// span is a window in minutes after midnight: start is 0 to 1439, and end is 1 to 1440. If end isn't
// after start, it continues past midnight.
type span struct {
	start, end int
	days       [7]bool // on which it begins, by time.Weekday
}

type spans []span

// spansOf returns the windows' spans, in the same order.
func spansOf(windows []schedulev2.Window) (spans, error) {
	all := make(spans, len(windows))
	for i, window := range windows {
		var err error
		if all[i], err = spanOf(window); err != nil {
			return nil, fmt.Errorf("windows[%d]: %w", i, err)
		}
	}
	return all, nil
}

func spanOf(window schedulev2.Window) (s span, err error) {
	var errEnd error
	s.start, err = schedulev2.MinutesOf(window.Start)
	s.end, errEnd = schedulev2.MinutesOf(window.End)
	if s.end == 0 {
		s.end = day // both are midnight
	}
	for weekday, name := range weekdays {
		s.days[weekday] = len(window.Days) == 0 || slices.Contains(window.Days, name)
	}
	return s, errors.Join(err, errEnd)
}

// timeOfDay is the inverse of schedulev2.MinutesOf.
func timeOfDay(minute int) string { return fmt.Sprintf("%02d:%02d", minute/60, minute%60) }

func minuteOf(t time.Time) int { return t.Hour()*60 + t.Minute() }

// includes reports whether the span includes a minute, 0 to 1439, of a weekday. The part after
// midnight belongs to the day on which the span began.
func (s span) includes(weekday time.Weekday, minute int) bool {
	yesterday := (weekday + 6) % 7
	if s.start < s.end {
		return s.days[weekday] && s.start <= minute && minute < s.end
	}
	return s.days[weekday] && s.start <= minute || s.days[yesterday] && minute < s.end
}

// active returns the first span that includes a minute of a weekday, or None.
func (all spans) active(weekday time.Weekday, minute int) int {
	return slices.IndexFunc(all, func(s span) bool { return s.includes(weekday, minute) })
}

func (all spans) activeAt(local time.Time) int { return all.active(local.Weekday(), minuteOf(local)) }

// boundaries returns the minutes of the day at which the active window may change, in ascending
// order. The last one is the end of the day, because another weekday has other windows.
func (all spans) boundaries() []int {
	found := []int{0, day}
	for _, s := range all {
		found = append(found, s.start, s.end)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// changes reports whether the active window changes during a week.
func (all spans) changes(boundaries []int) bool {
	first := all.active(time.Sunday, 0)
	for weekday := time.Sunday; weekday <= time.Saturday; weekday++ {
		for _, minute := range boundaries[:len(boundaries)-1] {
			if all.active(weekday, minute) != first {
				return true
			}
		}
	}
	return false
}

// list writes days as in "Sat and Sun".
func list(days []string) string {
	if len(days) < 2 {
		return strings.Join(days, "")
	}
	last := len(days) - 1
	return strings.Join(days[:last], ", ") + " and " + days[last]
}
