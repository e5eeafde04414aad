// Hours in words, for the validator's messages.

package main

import (
	"fmt"
	"slices"
	"strings"
)

// inWords returns hours of the day, 0 to 23, as spans: "7 to 9" means the hours 7 and 8.
func inWords(hours []int) string {
	var spans []string
	hours = slices.Compact(slices.Sorted(slices.Values(hours)))
	for start := 0; start < len(hours); {
		end := start + 1
		for end < len(hours) && hours[end] == hours[end-1]+1 {
			end++
		}
		spans = append(spans, fmt.Sprintf("%d to %d", hours[start], hours[end-1]+1))
		start = end
	}
	if last := len(spans) - 1; last > 0 {
		return strings.Join(spans[:last], ", ") + " and " + spans[last]
	}
	return strings.Join(spans, "")
}
