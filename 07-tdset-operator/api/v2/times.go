package v2

import (
	"fmt"
	"time"
)

// MinutesOf returns the minutes after midnight of a time of day such as 09:15, from 0 for 00:00 to
// 1440 for 24:00. It fails if text isn't one.
func MinutesOf(text string) (int, error) {
	if text == "24:00" {
		return 24 * 60, nil
	}
	clock, err := time.Parse("15:04", text)
	if err != nil || len(text) != len("15:04") { // Parse accepts 9:00 too
		return 0, fmt.Errorf("%q is no time of day", text)
	}
	return clock.Hour()*60 + clock.Minute(), nil
}
