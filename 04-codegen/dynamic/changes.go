// How two versions of an object differ. Without a Go type, an object is a tree of maps and lists,
// so a few lines can compare objects of any kind.

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// changes returns a line for each field that differs, in the order of their names.
func changes(before, after map[string]any) []string {
	names := map[string]any{}
	maps.Copy(names, before)
	maps.Copy(names, after)
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		old, hadIt := before[name]
		now, hasIt := after[name]
		oldMap, wasMap := old.(map[string]any)
		nowMap, isMap := now.(map[string]any)
		switch {
		case wasMap && isMap, wasMap && !hasIt, isMap && !hadIt: // a missing map is like an empty one
			for _, line := range changes(oldMap, nowMap) {
				lines = append(lines, name+"."+line)
			}
		case hadIt != hasIt, !reflect.DeepEqual(old, now):
			lines = append(lines, fmt.Sprintf("%s: %s → %s", name, text(old, hadIt), text(now, hasIt)))
		}
	}
	return lines
}

func text(value any, exists bool) string {
	if !exists {
		return "(none)"
	}
	encoded, err := json.Marshal(value)
	if err != nil { // no value that was decoded from JSON causes one
		return fmt.Sprint(value)
	}
	return string(encoded)
}
