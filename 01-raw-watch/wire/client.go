// Package wire speaks the Kubernetes API with net/http and encoding/json, so that nothing is
// hidden. client.go sends one request and reads its response, reflector.go follows a collection,
// and trace.go prints both. client-go only loads the credentials: it turns the kubeconfig into an
// *http.Client.
package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// requestTimeout limits every request except a watch. The API server's own limit is 60 s.
const requestTimeout = 65 * time.Second

// Client sends requests to one API server.
type Client struct {
	http  *http.Client
	base  *url.URL
	trace *trace
}

// NewClient returns a Client for the API server and the credentials in config.
func NewClient(config *rest.Config) (*Client, error) {
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("credentials for %s: %w", config.Host, err)
	}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("server address %q: %w", config.Host, err)
	}
	return &Client{http: httpClient, base: base, trace: &trace{}}, nil
}

// TraceTo makes the Client print a line to w for each request and each watch event.
func (c *Client) TraceTo(w io.Writer) { c.trace.to = w }

// Do sends one request, with in as its JSON body unless in is nil. It decodes the response into
// out, which may be nil. If the status isn't 2xx, it returns an *apierrors.StatusError, for
// apierrors.IsNotFound and similar functions.
func (c *Client) Do(ctx context.Context, method, path string, query url.Values, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	response, err := c.send(ctx, method, path, query, in)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if out == nil {
		out = &struct{}{}
	}
	if err := json.NewDecoder(response.Body).Decode(out); err != nil {
		return fmt.Errorf("%s %s: decode the response: %w", method, path, err)
	}
	return nil
}

// send returns the response to one request as soon as its headers are there. The caller reads and
// closes its body.
func (c *Client) send(ctx context.Context, method, path string, query url.Values, in any) (*http.Response, error) {
	var body io.Reader
	if in != nil {
		encoded, err := json.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("%s %s: encode the body: %w", method, path, err)
		}
		body = bytes.NewReader(encoded)
	}
	target := c.base.JoinPath(path)
	target.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, method, target.String(), body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	if in != nil {
		request.Header.Set("Content-Type", "application/json")
	}

	response, err := c.http.Do(request)
	if err != nil {
		c.trace.request(request, err.Error())
		return nil, err
	}
	c.trace.request(request, response.Status)
	if response.StatusCode/100 != 2 {
		defer response.Body.Close()
		return nil, errorOf(request, response)
	}
	return response, nil
}

// errorOf turns a response that isn't 2xx into an error. The API server sends a Status object, but
// a proxy or load balancer in between may send anything.
func errorOf(request *http.Request, response *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	var status metav1.Status
	if json.Unmarshal(body, &status) == nil && status.Kind == "Status" && status.Code != 0 {
		return apierrors.FromObject(&status)
	}
	retryAfter, _ := strconv.Atoi(response.Header.Get("Retry-After"))
	return apierrors.NewGenericServerResponse(response.StatusCode, request.Method, schema.GroupResource{},
		"", fmt.Sprintf("%s %s: %s: %.200s", request.Method, request.URL.Path, response.Status, body), retryAfter, true)
}
