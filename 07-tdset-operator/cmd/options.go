// What the flags say, and which of it can't be.

package main

import (
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"time"
)

// options are what the flags say.
type options struct {
	kubeconfig, namespace        string
	resync, watchIdleTimeout     time.Duration
	workers                      int
	drainTimeout                 time.Duration // how long a TDSet that is deleted waits for its Pods to end
	metricsAddress, probeAddress string
	metricsCert                  certificate
	leaderElect                  bool
	election                     leaderElection
	enableWebhooks               bool
	webhookHost                  string
	webhookPort                  int
	webhookCert                  certificate
	rotateCerts                  bool
	podNamespace                 string // where this program runs; empty outside of a cluster
}

// leaderElection says how to elect.
type leaderElection struct {
	namespace     string        // of the Lease
	leaseDuration time.Duration // how long the others wait for a leader that is silent
	renewDeadline time.Duration // how long a leader tries to renew before it gives up; shorter
	retryPeriod   time.Duration // how often a leader renews; shorter still. Others ask a little less often
}

// certificate says in which files a server's certificate is. They are read again when they change.
type certificate struct{ path, name, key string }

// flags adds the flags for the certificate of that server.
func (c *certificate) flags(server, ifEmpty string) {
	flag.StringVar(&c.path, server+"-cert-path", "", "folder of the "+server+" server's certificate; "+ifEmpty)
	flag.StringVar(&c.name, server+"-cert-name", "tls.crt", "name of the certificate's file in it")
	flag.StringVar(&c.key, server+"-cert-key", "tls.key", "name of its key's file")
}

// load reads the certificate.
func (c *certificate) load() (tls.Certificate, error) {
	return tls.LoadX509KeyPair(filepath.Join(c.path, c.name), filepath.Join(c.path, c.key))
}

// check returns why these options can't be.
func (o options) check() error {
	switch {
	case o.workers < 1:
		return fmt.Errorf("--workers %d: at least one is needed", o.workers)
	case o.drainTimeout <= 0:
		return fmt.Errorf("--drain-timeout %v: it must be more than nothing; Pods take a moment to end", o.drainTimeout)
	case o.enableWebhooks && o.webhookCert.path == "":
		return errors.New("--enable-webhooks: the API server calls webhooks by HTTPS only: name the folder that has the certificate with --webhook-cert-path")
	case o.enableWebhooks && !o.rotateCerts:
		if _, err := o.webhookCert.load(); err != nil {
			return fmt.Errorf("--webhook-cert-path, without --rotate-certs: %w", err)
		}
	case o.rotateCerts && !o.enableWebhooks:
		return errors.New("--rotate-certs: the certificate is the webhooks': say --enable-webhooks too")
	case o.rotateCerts && o.podNamespace == "":
		return errors.New("--rotate-certs: the certificate's Secret and the webhooks' Service are in the Pod's namespace, and POD_NAMESPACE, which names it, isn't set")
	}
	return nil
}
