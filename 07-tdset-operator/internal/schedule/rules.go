// The rules: which schedules are invalid.

package schedule

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// The limits are those of the CRD.
const (
	maxWindows  = 24
	maxReplicas = 1000
)

// These messages are those of the CRD's rules, too, as far as it has one.
const (
	sameEnds   = "start and end must differ: for the whole day, use 00:00 and 24:00"
	sameName   = "another window has this name: rename one of them"
	isDefault  = "default is the name of the time outside of all windows: choose another one"
	noName     = "must have 1 to 63 lower case letters, digits and '-', and begin and end with a letter or digit"
	noStart    = "must be a time of day from 00:00 to 23:59, such as 09:00"
	noEnd      = "must be a time of day from 00:00 to 24:00, such as 17:30"
	noDay      = "must be one of Mon, Tue, Wed, Thu, Fri, Sat and Sun"
	twiceADay  = "is there twice: delete one of them"
	outOfRange = "must be from %d to %d"
)

// Validate returns why a schedule is invalid. path is the path of the spec.
//
// The CRD has the same rules, and a test of the webhook compares the two. Validate is for the rest:
// the CRD may be older than this program, the API server and this program may know different time
// zones, and a preview of a schedule has no API server.
func Validate(spec *schedulev2.TDSetSpec, path *field.Path) field.ErrorList {
	var all field.ErrorList
	if _, err := Location(spec); err != nil {
		all = append(all, field.Invalid(path.Child("timeZone"), spec.TimeZone, unknownZone))
	}
	all = append(all, inRange(path.Child("defaultReplicas"), spec.DefaultReplicas, 1, maxReplicas)...)

	path = path.Child("windows")
	if count := len(spec.Windows); count > maxWindows {
		return append(all, field.TooMany(path, count, maxWindows))
	}
	names := map[string]bool{}
	for i, window := range spec.Windows {
		path := path.Index(i)
		if names[window.Name] {
			all = append(all, field.Invalid(path.Child("name"), window.Name, sameName))
		}
		names[window.Name] = true
		all = append(all, validateWindow(window, path)...)
	}
	return all
}

func validateWindow(window schedulev2.Window, path *field.Path) (all field.ErrorList) {
	switch {
	case len(validation.IsDNS1123Label(window.Name)) > 0:
		all = append(all, field.Invalid(path.Child("name"), window.Name, noName))
	case window.Name == "default":
		all = append(all, field.Invalid(path.Child("name"), window.Name, isDefault))
	}
	switch start, err := schedulev2.MinutesOf(window.Start); {
	case err != nil || start == day:
		all = append(all, field.Invalid(path.Child("start"), window.Start, noStart))
	case window.Start == window.End:
		all = append(all, field.Invalid(path, window.Start+" to "+window.End, sameEnds))
	}
	if _, err := schedulev2.MinutesOf(window.End); err != nil {
		all = append(all, field.Invalid(path.Child("end"), window.End, noEnd))
	}
	for i, name := range window.Days {
		path := path.Child("days").Index(i)
		switch {
		case !slices.Contains(weekdays, name):
			all = append(all, field.Invalid(path, name, noDay))
		case slices.Contains(window.Days[:i], name):
			all = append(all, field.Invalid(path, name, twiceADay))
		}
	}
	return append(all, inRange(path.Child("replicas"), window.Replicas, 0, maxReplicas)...)
}

func inRange(path *field.Path, value, least, most int32) field.ErrorList {
	if value < least || value > most {
		return field.ErrorList{field.Invalid(path, value, fmt.Sprintf(outOfRange, least, most))}
	}
	return nil
}
