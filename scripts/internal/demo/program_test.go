package demo

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/operators/scripts/internal/await"
)

func TestTheProgramIsEndedInTime(t *testing.T) {
	for sentence, test := range map[string]struct {
		script, want string // what it does, and what it has said in the end
		grace        time.Duration
	}{
		"one that ends by itself has the time to": {`trap "echo bye; exit" INT; echo up; while :; do sleep 0.05; done`, "up\nbye\n", time.Minute},
		"one that doesn't is killed":              {`trap "" INT; echo up; while :; do sleep 0.05; done`, "up\n", 100 * time.Millisecond},
		"one that has ended is no trouble":        {"echo up", "up\n", time.Minute},
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
			await.That(t, 10*time.Second, "it is up", func() error {
				if !strings.HasPrefix(logged(), "up\n") {
					return fmt.Errorf("it has said %q", logged())
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
				t.Fatal("it still runs")
			}
			if got := logged(); got != test.want {
				t.Errorf("it has said %q, want %q", got, test.want)
			}
		})
	}
}

func TestAProgramThatIsNotThere(t *testing.T) {
	if _, err := launch(t.Context(), os.Stderr, grace, nil, "/nowhere"); err == nil {
		t.Error("it was started")
	}
}
