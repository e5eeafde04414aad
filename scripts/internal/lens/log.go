package lens

// The programs' logs. Chapters 01 to 04 log with klog, and 05 to 07 with zap.

import (
	"bytes"
	"encoding/json"
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
	if match := klogLine.FindStringSubmatch(line); match != nil {
		at, err := time.ParseInLocation("20060102 15:04:05.000000", strconv.Itoa(now.Year())+match[1], time.Local)
		if err != nil {
			return entry{}, false
		}
		e = entry{at: at, message: match[2], values: map[string]string{}}
		for _, value := range klogValue.FindAllStringSubmatch(match[3], -1) {
			text := value[2]
			if unquoted, err := strconv.Unquote(text); err == nil {
				text = unquoted
			}
			e.values[value[1]] = text
		}
		return e, true
	}
	return parseZap(line)
}

// parseZap parses zap's text for people: the time, the level, perhaps the logger's name, the message,
// and the values as JSON.
func parseZap(line string) (e entry, ok bool) {
	parts := strings.Split(line, "\t")
	if len(parts) < 3 {
		return entry{}, false
	}
	at, err := time.Parse(time.RFC3339Nano, parts[0])
	if err != nil {
		return entry{}, false
	}
	e = entry{at: at, message: parts[2], values: map[string]string{}}
	last := parts[len(parts)-1]
	if !strings.HasPrefix(last, "{") {
		e.message = last
		return e, true
	}
	if len(parts) > 3 {
		e.message = parts[len(parts)-2]
	}
	var values map[string]any
	if json.Unmarshal([]byte(last), &values) != nil {
		return e, true
	}
	for name, value := range values {
		switch value := value.(type) {
		case string:
			e.values[name] = value
		case bool:
			e.values[name] = strconv.FormatBool(value)
		case map[string]any: // such as resource={"group":…,"resource":…}
			if resource, isText := value["resource"].(string); isText {
				e.values[name] = resource
			}
		}
	}
	return e, true
}

// key is the object that the entry is about, as namespace/name.
func (e entry) key() string {
	if foo := e.values["foo"]; foo != "" {
		return foo
	}
	if name := e.values["name"]; name != "" {
		return e.values["namespace"] + "/" + name
	}
	return ""
}

// lines calls do with each complete line that is written to it.
type lines struct {
	do   func(line string)
	rest []byte
}

func (l *lines) Write(text []byte) (int, error) {
	l.rest = append(l.rest, text...)
	for {
		line, rest, found := bytes.Cut(l.rest, []byte("\n"))
		if !found {
			return len(text), nil
		}
		l.do(string(line))
		l.rest = rest
	}
}
