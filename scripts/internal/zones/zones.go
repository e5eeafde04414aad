// Package zones makes time zones of our own. A Go program looks for zones in the folder $ZONEINFO
// first. So a program that knows only the real time can be shown any time of day, without a clock
// in it that can be set: its zones are ahead by as much.
package zones

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// UTC is a name of UTC for which Go reads a file. The name UTC itself is built in.
const UTC = "Etc/UTC"

// Change is an instant from which on clocks in a zone are ahead of UTC by Offset.
type Change struct {
	At     time.Time
	Offset time.Duration
}

// Ahead returns the changes of a real zone, as they will be for somebody whose clock is ahead of
// ours by so much: from some days before now until some days later. The first one holds before,
// too.
func Ahead(name string, by time.Duration, now time.Time) ([]Change, error) {
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, err
	}
	var changes []Change
	theirs := now.Add(by).AddDate(0, 0, -3).In(zone)
	for end := theirs.AddDate(0, 0, 12); !theirs.IsZero() && theirs.Before(end); _, theirs = theirs.ZoneBounds() {
		_, offset := theirs.Zone()
		changes = append(changes, Change{theirs.Add(-by), by + time.Duration(offset)*time.Second})
	}
	return changes, nil
}

// Fast returns the changes of a zone in which an hour takes a second: its clocks are set forward
// each second, to the next full hour. It begins with that hour of the day, at start, and stops
// after as many hours.
func Fast(start time.Time, hour, hours int) (changes []Change) {
	for i := range hours {
		at := start.Add(time.Duration(i) * time.Second)
		shown := at.Truncate(24 * time.Hour).Add(time.Duration(hour+i) * time.Hour)
		changes = append(changes, Change{at, shown.Sub(at)})
	}
	return changes
}

// Encode returns the file of a zone, in the format TZif (RFC 9636). Only the time of day is right,
// to the second, and not the date: offsets are reduced to less than a day, as real ones are.
func Encode(changes []Change) []byte {
	const day = 24 * time.Hour
	var file bytes.Buffer
	header := func(instants, types, letters uint32) {
		file.WriteString("TZif2" + string(make([]byte, 15)))
		for _, count := range []uint32{0, 0, 0, instants, types, letters} {
			_ = binary.Write(&file, binary.BigEndian, count)
		}
	}
	header(0, 0, 0) // version 1, with 32 bits for an instant, is empty
	const letters = "LMT\x00"
	header(uint32(len(changes)), uint32(len(changes)), uint32(len(letters)))
	for _, change := range changes {
		_ = binary.Write(&file, binary.BigEndian, change.At.Unix())
	}
	for i := range changes {
		file.WriteByte(byte(i)) // the type that begins then: each has one of its own
	}
	for _, change := range changes {
		_ = binary.Write(&file, binary.BigEndian, int32(change.Offset%day/time.Second))
		file.Write([]byte{0, 0}) // no daylight saving time; the name begins at the first letter
	}
	file.WriteString(letters + "\n\n") // no rule for the time after the last change
	return file.Bytes()
}

// Write writes zones into a folder for $ZONEINFO. There may be 256 changes in a zone.
func Write(dir string, zones map[string][]Change) error {
	for name, changes := range zones {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("write zone %s: %w", name, err)
		}
		if err := os.WriteFile(path, Encode(changes), 0o644); err != nil {
			return fmt.Errorf("write zone %s: %w", name, err)
		}
	}
	return nil
}
