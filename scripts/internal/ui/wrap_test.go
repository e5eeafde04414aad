package ui

import (
	"strings"
	"testing"
)

func TestWrap(t *testing.T) {
	long := strings.Repeat("kube-apiserver ", 6)
	five := strings.TrimSpace(strings.Repeat("kube-apiserver ", 5))
	for text, want := range map[string]string{
		long:          five + "\nkube-apiserver",
		"> " + long:   "> " + five + "\n> kube-apiserver",
		"✓ " + long:   "✓ " + five + "\n  kube-apiserver",
		"  " + long:   "  " + five + "\n  kube-apiserver",
		"| " + long:   "| " + long,
		"    " + long: "    " + long,
	} {
		if got := strings.TrimRight(Wrap(text), " "); got != strings.TrimRight(want, " ") {
			t.Errorf("Wrap(%q):\n%s", text, got)
		}
	}
}
