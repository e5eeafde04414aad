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

// patience is how long a server may take until it answers: its address may not be known everywhere yet, nor its certificate be there.
const patience = 3 * time.Minute

// get prints the status and the body of the first answer, whatever it says. No connection is no answer: then it asks again.
func get(args []string) error {
	flags := flag.NewFlagSet("get", flag.ExitOnError)
	tokenFile := flags.String("token-file", "", "file that has the bearer token to show (default: none is shown)")
	authority := flags.String("authority", "", "PEM of the authority that the server's certificate must be from (default: any certificate will do)")
	serverName := flags.String("server-name", "", "name that the server's certificate must be for (default: the URL's)")
	_ = flags.Parse(args) // it exits

	ctx, cancel := context.WithTimeout(context.Background(), patience)
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
	if *authority != "" {
		trust.InsecureSkipVerify, trust.RootCAs = false, x509.NewCertPool()
		if !trust.RootCAs.AppendCertsFromPEM([]byte(*authority)) {
			return errors.New("--authority is no PEM of a certificate")
		}
	}

	client := &http.Client{Transport: &http.Transport{TLSClientConfig: trust, DisableKeepAlives: true}}
	again := time.NewTicker(time.Second)
	for {
		answer, err := client.Do(request)
		if err == nil {
			defer answer.Body.Close()
			fmt.Println(answer.Status)
			_, err = io.Copy(os.Stdout, answer.Body)
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return err
		}
	}
}
