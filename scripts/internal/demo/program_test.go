package demo

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/operators/scripts/internal/testkit"
)

func TestLaunchEndsTheProgram(t *testing.T) {
	for sentence, test := range map[string]struct {
		script, want string // want is the output
		grace        time.Duration
	}{
		"one that handles the signal has time to finish": {`trap "echo bye; exit" INT; echo up; while :; do sleep 0.05; done`, "up\nbye\n", time.Minute},
		"one that ignores the signal is killed":          {`trap "" INT; echo up; while :; do sleep 0.05; done`, "up\n", 100 * time.Millisecond},
		"one has ended before":                           {"echo up", "up\n", time.Minute},
	} {
		t.Run(sentence, func(t *testing.T) {
			log, err := os.Create(filepath.Join(t.TempDir(), "log"))
			if err != nil {
				t.Fatal(err)
			}
			defer log.Close()
			logged := func() string {
				content, err := os.ReadFile(log.Name())
				if err != nil {
					t.Fatal(err)
				}
				return string(content)
			}
			end, err := launch(t.Context(), log, test.grace, nil, "/bin/sh", "-c", test.script)
			if err != nil {
				t.Fatal(err)
			}
			testkit.Await(t, 10*time.Second, "the program is up", func() error {
				if !strings.HasPrefix(logged(), "up\n") {
					return fmt.Errorf("the output is %q", logged())
				}
				return nil
			})
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				end()
			}()
			select {
			case <-ended:
			case <-time.After(10 * time.Second):
				t.Fatal("the program still runs after 10 seconds")
			}
			if got := logged(); got != test.want {
				t.Errorf("the output is %q, want %q", got, test.want)
			}
		})
	}
}

func TestLaunchReturnsAnErrorForAMissingProgram(t *testing.T) {
	if _, err := launch(t.Context(), os.Stderr, grace, nil, "/nowhere"); err == nil {
		t.Error("no error")
	}
}
