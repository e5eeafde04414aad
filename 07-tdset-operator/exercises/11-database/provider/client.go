package provider

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Database is a database at the provider.
type Database struct {
	// ID identifies it. The provider assigns the ID when it creates the database.
	ID string `json:"id"`
	// Name is chosen by the client. Several databases can have the same name.
	Name string `json:"name"`
	// Owner is a tag. The provider stores it, and does nothing with it.
	Owner string `json:"owner,omitempty"`
	// SizeGiB can be changed, in both directions.
	SizeGiB int32 `json:"sizeGiB"`
	// IsProtected means that the provider refuses to delete the database.
	IsProtected bool `json:"isProtected,omitempty"`
	// State is Pending or Available.
	State string `json:"state"`
	// Endpoint is where the database can be reached once it is available.
	Endpoint  string    `json:"endpoint,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
}

// The states of a database.
const (
	Pending   = "pending"
	Available = "available"
)

// Error is what all methods of Client return if a request fails.
type Error struct {
	// Request is what was being done, such as "DELETE /databases/db-1".
	Request string `json:"-"`
	// StatusCode is the provider's answer, such as 404, or 0 if there was none.
	StatusCode int `json:"-"`
	// Message says why, in words that don't change from one attempt to the next.
	Message string `json:"message"`
	// RetryAfter is how long the provider asks clients to wait, or 0.
	RetryAfter time.Duration `json:"-"`
	// Err is why there was no answer, or nil.
	Err error `json:"-"`
}

func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %s: %v", e.Request, e.Message, e.Err)
	}
	return fmt.Sprintf("%s: %d: %s", e.Request, e.StatusCode, e.Message)
}

func (e *Error) Unwrap() error { return e.Err }

// Client sends requests to the provider. It retries nothing. A request fails if it takes longer
// than ten seconds.
type Client struct{ url string }

// Open returns a client for the provider at a URL, such as http://127.0.0.1:8080. For anything
// else, it starts a simulated provider in this process and prints its URL. In that case, where is
// the folder with its databases. If where is "", that is a folder for temporary files.
func Open(where string) (*Client, error) {
	if strings.HasPrefix(where, "http://") {
		return &Client{where}, nil
	}
	dir := filepath.Clean(cmp.Or(where, filepath.Join(os.TempDir(), fmt.Sprintf("simulated-provider-%d", os.Getuid()))))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("the folder of the simulated provider: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("the simulated provider: %w", err)
	}
	server := NewServer(dir, func(string) time.Duration { return 2 * time.Second })
	go func() { _ = http.Serve(listener, server) }() // until the process ends
	url := "http://" + listener.Addr().String()
	fmt.Fprintf(os.Stderr, "The simulated provider is at %s/databases. Its databases are in %s.\n", url, dir)
	return &Client{url}, nil
}

// List returns all databases with that name, the oldest first.
func (c *Client) List(ctx context.Context, name string) ([]Database, error) {
	return do[[]Database](ctx, c, http.MethodGet, "/databases?name="+url.QueryEscape(name), nil)
}

// Get returns a database. If there is none with that ID, the error's StatusCode is 404.
func (c *Client) Get(ctx context.Context, id string) (*Database, error) {
	return do[*Database](ctx, c, http.MethodGet, "/databases/"+url.PathEscape(id), nil)
}

// Create creates a database with the name, the owner and the size of the given one.
func (c *Client) Create(ctx context.Context, database Database) (*Database, error) {
	return do[*Database](ctx, c, http.MethodPost, "/databases", database)
}

// Resize changes a database's size.
func (c *Client) Resize(ctx context.Context, id string, sizeGiB int32) (*Database, error) {
	return do[*Database](ctx, c, http.MethodPatch, "/databases/"+url.PathEscape(id), map[string]int32{"sizeGiB": sizeGiB})
}

// Delete deletes a database. If there is none with that ID, the error's StatusCode is 404.
func (c *Client) Delete(ctx context.Context, id string) error {
	_, err := do[*Database](ctx, c, http.MethodDelete, "/databases/"+url.PathEscape(id), nil)
	return err
}

// do sends a request and returns what it is answered with, or an *Error.
func do[Answer any](ctx context.Context, c *Client, method, path string, body any) (answer Answer, err error) {
	failed := &Error{Request: method + " " + path}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	encoded, err := json.Marshal(body) // null, which the provider ignores, if there is none
	if err != nil {
		failed.Message, failed.Err = "the request can't be encoded", err
		return answer, failed
	}
	request, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(encoded))
	if err != nil {
		failed.Message, failed.Err = "the request is invalid", err
		return answer, failed
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		failed.Message, failed.Err = "the provider can't be reached", err
		return answer, failed
	}
	defer response.Body.Close()
	decoder := json.NewDecoder(response.Body)
	if response.StatusCode == http.StatusOK {
		if err := decoder.Decode(&answer); err != nil {
			failed.Message, failed.Err = "the provider's answer can't be read", err
			return answer, failed
		}
		return answer, nil
	}
	_ = decoder.Decode(failed) // if it fails, the status says enough
	failed.StatusCode, failed.Message = response.StatusCode, cmp.Or(failed.Message, http.StatusText(response.StatusCode))
	seconds, _ := strconv.Atoi(response.Header.Get("Retry-After")) // 0 if it is missing
	failed.RetryAfter = time.Duration(seconds) * time.Second
	return answer, failed
}
