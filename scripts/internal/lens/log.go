package lens

// The programs' logs. Chapters 01 to 04 log with klog, and 05 to 07 with zap.

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// entry is a line of a log.
type entry struct {
	at      time.Time
	message string
	values  map[string]string
}

// klogLine matches klog's text: the level, month, day and time, the process, the file, and the
// message with its values.
var (
	klogLine  = regexp.MustCompile(`^[IWEF](\d{4} \d\d:\d\d:\d\d\.\d+) +\d+ [^\]]*\] "((?:[^"\\]|\\.)*)"(.*)$`)
	klogValue = regexp.MustCompile(`([\w.]+)=("(?:[^"\\]|\\.)*"|\{[^}]*\}|[^ ]+)`)
)

// parseLine returns what a line says. ok is false for lines of other formats.
func parseLine(line string, now time.Time) (e entry, ok bool) {
	e.values = map[string]string{}
	match := klogLine.FindStringSubmatch(line)
	if match == nil {
		return e, e.parseZap(line)
	}
	var err error
	e.at, err = time.ParseInLocation("20060102 15:04:05.000000", strconv.Itoa(now.Year())+match[1], time.Local)
	e.message = match[2]
	for _, value := range klogValue.FindAllStringSubmatch(match[3], -1) {
		unquoted, err := strconv.Unquote(value[2])
		if err != nil {
			unquoted = value[2]
		}
		e.values[value[1]] = unquoted
	}
	return e, err == nil
}

// parseZap parses zap's text for people: the time, the level, perhaps the logger's name, the message,
// and perhaps the values as JSON.
func (e *entry) parseZap(line string) (ok bool) {
	parts := strings.Split(line, "\t")
	if len(parts) < 3 {
		return false
	}
	var err error
	if e.at, err = time.Parse(time.RFC3339Nano, parts[0]); err != nil {
		return false
	}
	var values map[string]any
	if last := len(parts) - 1; json.Unmarshal([]byte(parts[last]), &values) == nil {
		parts = parts[:last]
	}
	e.message = parts[len(parts)-1]
	for name, value := range values {
		if nested, isObject := value.(map[string]any); isObject { // such as resource={"group":…,"resource":…}
			value = nested["resource"]
		}
		if value != nil {
			e.values[name] = fmt.Sprint(value)
		}
	}
	return true
}

// key is the object that the entry is about, as namespace/name.
func (e entry) key() string {
	return cmp.Or(e.values["foo"], e.values["namespace"]+"/"+e.values["name"])
}
