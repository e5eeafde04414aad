package process

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/operators/scripts/internal/testkit"
)

func TestAReplicaIsStartedAgain(t *testing.T) {
	t.Parallel()
	seen := &Buffer{}
	r, err := StartReplica(Options{Binary: "sh", Args: []string{"-c", "echo begins; exit 3"}, Output: seen})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Destroy()
	testkit.Await(t, time.Minute, "it has exited twice", func() error {
		if exits := r.Exits(); len(exits) < 2 {
			return fmt.Errorf("it has exited %d times", len(exits))
		}
		return nil
	})
	first := r.Exits()[0]
	if first.Why.Error() != "exit status 3" || first.Log != "begins\n" || first.At.Before(r.Began) {
		t.Errorf("the first exit is %+v", first)
	}
	if log := r.Log(); !strings.HasPrefix(log, "begins\nbegins\n") || seen.String() != log {
		t.Errorf("the log is %q, and the output %q", log, seen)
	}
}

func TestPanic(t *testing.T) {
	t.Parallel()
	for log, want := range map[string]string{
		"I0101 \"Starting\"\npanic: runtime error\n\ngoroutine 1": "panic: runtime error",
		"fatal error: concurrent map writes":                      "fatal error: concurrent map writes",
		"==================\nWARNING: DATA RACE\nRead at 0x00c0":  "WARNING: DATA RACE",
		`E0101 "Observed a panic" panic="nil map"`:                `E0101 "Observed a panic" panic="nil map"`,
		`E0101 "Reconciler error" err="don't panic: conflict"`:    "",
	} {
		if got := Panic(log); got != want {
			t.Errorf("%q: got %q, want %q", log, got, want)
		}
	}
}
