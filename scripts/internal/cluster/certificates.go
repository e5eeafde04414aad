package cluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// writeCertificates makes a CA, whose key nobody keeps, and the one certificate.
func (c *Cluster) writeCertificates() error {
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	ca, err := cert.NewSelfSignedCACert(cert.Config{CommonName: "workshop"}, caKey) // for ten years
	if err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "workshop-admin", Organization: []string{"system:masters"}},
		DNSNames:     []string{"localhost"},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		NotBefore:    ca.NotBefore,
		NotAfter:     ca.NotAfter,
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, ca, key.Public(), caKey)
	if err != nil {
		return err
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return err
	}
	caPEM, caErr := cert.EncodeCertificates(ca)
	certPEM, certErr := cert.EncodeCertificates(certificate)
	keyPEM, keyErr := keyutil.MarshalPrivateKeyToPEM(key)
	return errors.Join(caErr, certErr, keyErr,
		os.WriteFile(filepath.Join(c.dir, caFile), caPEM, 0o600),
		os.WriteFile(filepath.Join(c.dir, certFile), certPEM, 0o600),
		os.WriteFile(filepath.Join(c.dir, keyFile), keyPEM, 0o600))
}
