package lens

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseLine(t *testing.T) {
	now := time.Date(2026, 11, 25, 12, 0, 0, 0, time.Local)
	for sentence, test := range map[string]struct {
		line, message string
		values        map[string]string
	}{
		"klog": {
			line:    `I1125 09:30:35.082651    2444 events.go:21] "Event received" kind="Foo" object="default/web"`,
			message: "Event received",
			values:  map[string]string{"kind": "Foo", "object": "default/web"},
		},
		"klog with an error that has quotes": {
			line:    `E1125 09:30:35.082651    2444 queue.go:80] "Retrying" err="the \"web\" is taken" failures=2`,
			message: "Retrying",
			values:  map[string]string{"err": `the "web" is taken`, "failures": "2"},
		},
		"zap": {
			line:    "2026-11-25T09:30:35.082651Z\tDEBUG\tReconciling\t" + `{"Foo": {"name":"web"}, "allowed": true}`,
			message: "Reconciling",
			values:  map[string]string{"allowed": "true"},
		},
		"zap with a logger's name, and without values": {
			line:    "2026-11-25T09:30:35.082651Z\tINFO\tsetup\tStarting",
			message: "Starting",
			values:  map[string]string{},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, ok := parseLine(test.line, now)
			if !ok || got.message != test.message {
				t.Errorf("got %+v, %v", got, ok)
			}
			if difference := cmp.Diff(test.values, got.values); difference != "" {
				t.Error(difference)
			}
			if got.at.Nanosecond() != 82651000 || got.at.Minute() != 30 {
				t.Errorf("got %v", got.at)
			}
		})
	}
	if _, ok := parseLine("panic: runtime error", now); ok {
		t.Error("a line without a time was parsed")
	}
}
