// Package faultproxy is a proxy between one program and a Kubernetes API server. On command it
// causes the faults of a real cluster: watches that are cut, 410 Gone, writes that fail,
// connections that freeze. Tests and learners see which of these a controller survives.
//
// The program gets a kubeconfig with the proxy's address. exchange.go handles requests, watch.go
// watches, and connections.go bytes. Each fault is a method of Proxy (faults.go). All are
// safe for concurrent use and return a Fault, which counts its hits. Package faults lists them by
// name.
//
// Faults that fail single requests spare Leases and Events, so that a leader isn't deposed by a fault
// that was meant for its work. A fault of a connection hits all that it carries.
package faultproxy

import (
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"

	"example.com/operators/scripts/internal/audit"
)

// identity is this process's certificate for all proxies, followed by its CA. It is never written to
// disk.
var identity = sync.OnceValues(func() (tls.Certificate, error) {
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(certificate, key)
})

type Proxy struct {
	ca        []byte // in PEM
	listener  net.Listener
	server    *http.Server // for the program
	clients   *connections // from the program
	forward   *httputil.ReverseProxy
	transport *http.Transport // to the API server

	mutex     sync.Mutex
	closed    bool
	handlers  sync.WaitGroup // Add only under mutex, while not closed
	rules     []*rule
	cutting   *Fault                 // KeepCutting's; may be nil
	watches   map[*watch]struct{}    // those that have begun and not ended
	writing   map[*exchange]struct{} // writes without an answer so far
	requests  []audit.Request
	followers []func(audit.Request)
	watchers  []func(WatchEvent)
}

// Start starts a proxy for target's API server, on a free port of 127.0.0.1. It only uses target's
// address and CA. The client must send its own credentials in a header (a bearer token).
func Start(target *rest.Config) (*Proxy, error) {
	server, _, err := rest.DefaultServerUrlFor(target)
	if err != nil {
		return nil, fmt.Errorf("address of the API server %q: %w", target.Host, err)
	}
	trust, err := rest.TLSConfigFor(rest.AnonymousClientConfig(target))
	if err != nil {
		return nil, fmt.Errorf("CA of the API server %s: %w", target.Host, err)
	}
	certificate, err := identity()
	if err != nil {
		return nil, fmt.Errorf("certificate for the fault proxy: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("fault proxy: %w", err)
	}

	p := &Proxy{
		ca:      pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: certificate.Certificate[1]}),
		clients: &connections{open: map[*connection]struct{}{}},
		watches: map[*watch]struct{}{},
		writing: map[*exchange]struct{}{},
	}
	p.listener = p.clients.listener(listener)
	p.transport = &http.Transport{TLSClientConfig: trust, ForceAttemptHTTP2: true, DisableCompression: true}
	p.forward = p.newForward(server)
	p.server = &http.Server{ // like a real API server, it offers HTTP/2 and HTTP/1.1
		Handler:     http.HandlerFunc(p.handle),
		TLSConfig:   &tls.Config{Certificates: []tls.Certificate{certificate}},
		ConnContext: withConnection,
		ErrorLog:    log.New(io.Discard, "", 0), // failures are expected here
	}
	go p.server.ServeTLS(p.listener, "", "")
	return p, nil
}

func (p *Proxy) newForward(server *url.URL) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(server)
			// Nothing may be compressed, because the proxy reads the events. Since Kubernetes 1.37,
			// servers compress streaming lists, and if their last bookmark got stuck here, a cache
			// would never be filled.
			r.Out.Header.Del("Accept-Encoding")
		},
		Transport:      p.transport,
		FlushInterval:  -1, // pass on each event at once
		ModifyResponse: p.answered,
		// A server that is down sends no 502, so the client's connection is closed.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:     log.New(io.Discard, "", 0),
	}
}

func (p *Proxy) Address() string { return "https://" + p.listener.Addr().String() }

// Close closes all connections, even frozen ones, and returns when their requests have ended. It may
// be called twice.
func (p *Proxy) Close() {
	p.mutex.Lock()
	p.closed = true
	p.mutex.Unlock()
	p.clients.refuse(newFault("Close"))
	p.server.Close()
	p.handlers.Wait()
	p.transport.CloseIdleConnections()
}

// WriteKubeconfig copies original to path, readable by this user only, with the proxy as its cluster.
// The user in original must have a token.
func (p *Proxy) WriteKubeconfig(original, path string) error {
	config, err := clientcmd.LoadFromFile(original)
	if err != nil {
		return fmt.Errorf("read the kubeconfig: %w", err)
	}
	for name := range config.Clusters {
		config.Clusters[name] = &clientcmdapi.Cluster{Server: p.Address(), CertificateAuthorityData: p.ca}
	}
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return fmt.Errorf("write the kubeconfig: %w", err)
	}
	return nil
}
