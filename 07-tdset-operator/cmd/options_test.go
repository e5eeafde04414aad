// Options that can't be are refused with a message that says what to do.

package main

import (
	"testing"
	"time"
)

func TestRunRefuses(t *testing.T) {
	for sentence, test := range map[string]struct {
		change func(*options)
		want   string
	}{
		"no workers": {
			change: func(o *options) { o.workers = 0 },
			want:   "--workers 0: at least one is needed",
		},
		"no time for a drain": {
			change: func(o *options) { o.drainTimeout = 0 },
			want:   "--drain-timeout 0s: it must be more than nothing; Pods take a moment to end",
		},
		"webhooks without a certificate": {
			change: func(o *options) { o.enableWebhooks = true },
			want:   "--enable-webhooks: the API server calls webhooks by HTTPS only: name the folder that has the certificate with --webhook-cert-path",
		},
		"webhooks whose certificate is missing": {
			change: func(o *options) { o.enableWebhooks, o.webhookCert = true, certificate{"nowhere", "tls.crt", "tls.key"} },
			want:   "--webhook-cert-path, without --rotate-certs: open nowhere/tls.crt: no such file or directory",
		},
		"a certificate for nobody": {
			change: func(o *options) { o.rotateCerts, o.podNamespace = true, "default" },
			want:   "--rotate-certs: the certificate is the webhooks': say --enable-webhooks too",
		},
		"a certificate for an unknown Service": {
			change: func(o *options) { o.rotateCerts, o.enableWebhooks, o.webhookCert.path = true, true, "certs" },
			want:   "--rotate-certs: the certificate's Secret and the webhooks' Service are in the Pod's namespace, and POD_NAMESPACE, which names it, isn't set",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			o := options{workers: 1, drainTimeout: time.Minute}
			test.change(&o)
			if err := run(t.Context(), o); err == nil || err.Error() != test.want {
				t.Errorf("got the error %v, want %q", err, test.want)
			}
		})
	}
}
