package ui

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func newUI(out *bytes.Buffer, width func() int) *UI {
	return &UI{out: out, width: width, palette: NewPalette(false)}
}

func TestAPlainStep(t *testing.T) {
	tests := map[string]struct {
		lasts time.Duration
		want  string
	}{
		"a short step only prints its end": {
			time.Second, "✓ built (1.0s)\n",
		},
		"a long step reports its progress": {
			20 * time.Second, "building: 1 of 7 (2.0s)\nbuilding: 1 of 7 (17s)\n✓ built (20s)\n",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				step := newUI(&out, nil).Start("building")
				step.Update("%d of 7", 1)
				time.Sleep(test.lasts) // the bubble's clock: takes no time
				step.Done("built")
				if out.String() != test.want {
					t.Errorf("got %q, want %q", out.String(), test.want)
				}
			})
		})
	}
}

func TestAStepOnATerminalIsOneLineThatFits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		step := newUI(&out, func() int { return 20 }).Start("building a thing with a long name")
		time.Sleep(250 * time.Millisecond)
		step.Note("etcd is ready")
		step.Fail()
		for _, drawn := range strings.Split(out.String(), "\r\033[K") {
			if !strings.HasSuffix(drawn, "\n") && len([]rune(drawn)) >= 20 {
				t.Errorf("%q would wrap", drawn)
			}
		}
		if !strings.Contains(out.String(), "\r\033[Ketcd is ready\n") {
			t.Errorf("got %q", out.String())
		}
	})
}
