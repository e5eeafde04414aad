package verdict

import "testing"

func TestInWords(t *testing.T) {
	for name, want := range map[string]string{
		"AWatchEnds":    "a watch ends",
		"AfterARestart": "after a restart",
		"HTTPServer":    "HTTP server",
		"TheAPI":        "the API",
		"a_b":           "a b",
	} {
		if got := inWords(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
