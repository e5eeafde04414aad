package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// timeout limits the wait for an answer. At first, the server's address may not be known on every
// node, or its certificate may be missing.
const timeout = 3 * time.Minute

// get prints the status and the body of the first answer, even if it is an error. It retries until
// it gets a connection.
func get(args []string) error {
	flags := flag.NewFlagSet("get", flag.ExitOnError)
	tokenFile := flags.String("token-file", "", "file with the bearer token to send (default: send none)")
	ca := flags.String("ca", "", "PEM of the CA that must have signed the server's certificate (default: accept any certificate)")
	serverName := flags.String("server-name", "", "name that the server's certificate must have (default: the URL's host)")
	_ = flags.Parse(args) // exits on an error

	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, flags.Arg(0), nil)
	if err != nil {
		return err
	}
	if *tokenFile != "" {
		token, err := os.ReadFile(*tokenFile)
		if err != nil {
			return err
		}
		request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	trust := &tls.Config{ServerName: *serverName, InsecureSkipVerify: true}
	if *ca != "" {
		trust.InsecureSkipVerify, trust.RootCAs = false, x509.NewCertPool()
		if !trust.RootCAs.AppendCertsFromPEM([]byte(*ca)) {
			return errors.New("--ca: not a PEM-encoded certificate")
		}
	}

	client := &http.Client{Transport: &http.Transport{TLSClientConfig: trust, DisableKeepAlives: true}}
	retry := time.NewTicker(time.Second)
	for {
		answer, err := client.Do(request)
		if err == nil {
			defer answer.Body.Close()
			fmt.Println(answer.Status)
			_, err = io.Copy(os.Stdout, answer.Body)
			return err
		}
		select {
		case <-retry.C:
		case <-ctx.Done():
			return err
		}
	}
}
