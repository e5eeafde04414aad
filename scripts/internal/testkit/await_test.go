package testkit

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

func TestAwait(t *testing.T) {
	for sentence, test := range map[string]struct {
		trueAfter time.Duration
		want      string // the message that fails the test; "": it passes
	}{
		"true at once":  {0, ""},
		"true in time":  {time.Minute, ""},
		"true too late": {time.Hour, "it rains: still not true after 2m0s: the sun shines"},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				judged := &recorder{TB: t}
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					Await(judged, 2*time.Minute, "it rains", func() error {
						if time.Since(start) < test.trueAfter {
							return errors.New("the sun shines")
						}
						return nil
					})
				}()
				<-ended
				if judged.message != test.want {
					t.Errorf("message is %q, want %q", judged.message, test.want)
				}
			})
		})
	}
}

// recorder is a test that records its last message.
type recorder struct {
	testing.TB
	message string
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.message = fmt.Sprintf(format, args...)
	runtime.Goexit()
}
