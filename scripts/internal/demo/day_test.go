package demo

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDraw(t *testing.T) {
	for sentence, test := range map[string]struct {
		samples []sample
		want    string
	}{
		"no samples": {nil, `
   1 │
     └────────────────────────────────────────────────
      0     3     6     9     12    15    18    21    24 o'clock
      █ available   ░ desired, not available yet
`},
		"replicas are desired before they are available": {
			[]sample{
				{-2 * time.Hour, 1, 0}, {20 * time.Minute, 1, 1}, {9 * time.Hour, 3, 1},
				{10*time.Hour + 15*time.Minute, 3, 3}, {18 * time.Hour, 2, 2},
			}, `
   3 │                  ░░████████████████
   2 │                  ░░████████████████████████████
   1 │░███████████████████████████████████████████████
     └────────────────────────────────────────────────
      0     3     6     9     12    15    18    21    24 o'clock
      █ available   ░ desired, not available yet
`},
	} {
		t.Run(sentence, func(t *testing.T) {
			var out bytes.Buffer
			draw(&out, test.samples)
			if diff := cmp.Diff(strings.Split(test.want, "\n"), strings.Split(out.String(), "\n")); diff != "" {
				t.Errorf("chart (-want +got):\n%s", diff)
			}
		})
	}
}
