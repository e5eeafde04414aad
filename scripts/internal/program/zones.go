package program

// This file makes time zones. A Go program looks for zones in the folder $ZONEINFO first. So a program
// that only knows the real time can be shown any time of day: its zones are ahead by the difference.

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// UTC is a name of UTC for which Go reads a file. "UTC" itself is built in.
const UTC = "Etc/UTC"

// ZoneChange is an instant from which a zone's clocks are ahead of UTC by Offset.
type ZoneChange struct {
	At     time.Time
	Offset time.Duration
}

// FastZone returns the changes of a zone in which an hour takes a second: each second, its clocks are
// set forward to the next full hour. It begins at start with that hour of the day, and stops after
// that many hours.
func FastZone(start time.Time, hour, hours int) (changes []ZoneChange) {
	for i := range hours {
		at := start.Add(time.Duration(i) * time.Second)
		shown := at.Truncate(24 * time.Hour).Add(time.Duration(hour+i) * time.Hour)
		changes = append(changes, ZoneChange{at, shown.Sub(at)})
	}
	return changes
}

// EncodeZone returns a zone's file, in the format TZif (RFC 9636). Its clocks show the right time of
// day, but not the date, because offsets are reduced to less than a day, like real ones.
func EncodeZone(changes []ZoneChange) []byte {
	const day = 24 * time.Hour
	var file bytes.Buffer
	header := func(instants, types, letters uint32) {
		file.WriteString("TZif2" + string(make([]byte, 15)))
		for _, count := range []uint32{0, 0, 0, instants, types, letters} {
			_ = binary.Write(&file, binary.BigEndian, count)
		}
	}
	header(0, 0, 0) // version 1, with 32-bit instants, is empty
	const letters = "LMT\x00"
	header(uint32(len(changes)), uint32(len(changes)), uint32(len(letters)))
	for _, change := range changes {
		_ = binary.Write(&file, binary.BigEndian, change.At.Unix())
	}
	for i := range changes {
		file.WriteByte(byte(i)) // each instant begins its own type
	}
	for _, change := range changes {
		_ = binary.Write(&file, binary.BigEndian, int32(change.Offset%day/time.Second))
		file.Write([]byte{0, 0}) // no daylight saving time; the name begins at the first letter
	}
	file.WriteString(letters + "\n\n") // no rule for the time after the last change
	return file.Bytes()
}

// WriteZones writes zones, with up to 256 changes each, into a folder for $ZONEINFO.
func WriteZones(dir string, zones map[string][]ZoneChange) error {
	for name, changes := range zones {
		path := filepath.Join(dir, filepath.FromSlash(name))
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, EncodeZone(changes), 0o644))
		if err != nil {
			return fmt.Errorf("write zone %s: %w", name, err)
		}
	}
	return nil
}
