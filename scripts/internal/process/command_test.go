package process

import (
	"bufio"
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	gopsutil "github.com/shirou/gopsutil/v4/process"

	"example.com/operators/scripts/internal/testkit"
)

// A child that only SIGKILL ends; its number is printed. silent has closed its output.
const (
	child  = `(trap "" INT TERM; echo; while :; do sleep 0.05; done) & echo $!; `
	silent = `(trap "" INT TERM; echo; exec >/dev/null; while :; do sleep 0.05; done) & echo $!; `
)

func TestTheWholeGroupEndsWithTheContext(t *testing.T) {
	for sentence, test := range map[string]struct {
		script string
		grace  time.Duration
		want   string // the last word
	}{
		"a command has time to end by itself, and its children are killed": {
			`trap "echo bye; exit" INT; ` + silent + `while :; do sleep 0.05; done`, time.Minute, "bye",
		},
		"a command that doesn't end is killed with its children": {
			`trap "" INT; ` + child + `while :; do sleep 0.05; done`, 100 * time.Millisecond, "",
		},
		"children are killed that hold the output open": {child + `exit`, 100 * time.Millisecond, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			command := NewCommand(ctx, test.grace, "/bin/sh", "-c", test.script)
			pipe, err := command.StdoutPipe()
			if err := errors.Join(err, command.Start()); err != nil {
				t.Fatal(err)
			}
			output := bufio.NewScanner(pipe)
			var heir *gopsutil.Process
			for seen := 0; seen < 2 && output.Scan(); seen++ { // in either order
				if number, err := strconv.ParseInt(output.Text(), 10, 32); err == nil {
					heir, _ = gopsutil.NewProcess(int32(number))
				}
			}
			if heir == nil {
				t.Fatal("it has no child")
			}
			cancel()
			last := ""
			for output.Scan() {
				last = output.Text()
			}
			if err := command.Wait(); last != test.want {
				t.Errorf("got last line %q, want %q; it ended with %v", last, test.want, err)
			}
			testkit.Await(t, 30*time.Second, "its child is gone", func() error {
				if Runs(t.Context(), heir) {
					return errors.New("it still runs")
				}
				return nil
			})
		})
	}
}

func TestLinesAreComplete(t *testing.T) {
	var got strings.Builder
	lines := &Lines{Do: func(line string) { got.WriteString(line + "|") }}
	for _, piece := range []string{"one\ntw", "o", "\n\nthree\n", "unfinished"} {
		if n, err := lines.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Errorf("%q: wrote %d, error %v", piece, n, err)
		}
	}
	if want := "one|two||three|"; got.String() != want {
		t.Errorf("got %q, want %q", &got, want)
	}
}
