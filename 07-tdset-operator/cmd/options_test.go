// Invalid options are refused with a message that says what to do.

package main

import "testing"

func TestRunRefusesInvalidFlags(t *testing.T) {
	for sentence, test := range map[string]struct {
		change func(*options)
		want   string
	}{
		"no workers": {
			change: func(o *options) { o.Controller.MaxConcurrentReconciles = 0 },
			want:   "--workers 0: must be at least 1",
		},
		"no time for a drain": {
			change: func(o *options) { o.drainTimeout = 0 },
			want:   "--drain-timeout 0s: must be positive, because Pods take a moment to end",
		},
		"webhooks without a certificate": {
			change: func(*options) { t.Setenv("ENABLE_WEBHOOKS", "true") },
			want:   "the webhooks need a certificate, because the API server calls them by HTTPS only: name its folder with --webhook-cert-path, or set ENABLE_WEBHOOKS=false",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			o := optionsFor("default")
			test.change(&o)
			if err := run(t.Context(), o); err == nil || err.Error() != test.want {
				t.Errorf("got the error %v, want %q", err, test.want)
			}
		})
	}
}
