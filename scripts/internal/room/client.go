package room

// A learner's side: it sends a report after each check. It never delays or fails a check.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/exercises/verdict"
	"example.com/operators/scripts/internal/problem"
)

const (
	sendTimeout = 2 * time.Second
	mostQueued  = 64 // reports; more are dropped, which needs a room that has been slow for minutes
)

// Client sends a learner's reports to a room.
type Client struct {
	url, name string
	http      *http.Client
	reports   chan Report
	failed    chan error
	cancel    context.CancelFunc
	sent      chan struct{} // closed when all reports are sent, or abandoned
}

// Join checks the address and the name, and sends nothing yet. transport is for tests; nil: the
// network, without a proxy, because the room is on the same network.
func Join(address, name string, transport http.RoundTripper) (*Client, error) {
	address, err := checkURL(address)
	if err != nil {
		return nil, err
	}
	if name, err = checkName(name); err != nil {
		return nil, problem.New("--name (or WORKSHOP_NAME) says who you are in the room").
			ToDo("choose a name of at most %d characters, such as --name Ana", mostName).
			Because(err)
	}
	if transport == nil {
		transport = &http.Transport{}
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := &Client{
		url: address, name: name,
		http: &http.Client{Transport: transport, Timeout: sendTimeout, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // the name goes to this room and nowhere else
		}},
		reports: make(chan Report, mostQueued), failed: make(chan error, 1),
		cancel: cancel, sent: make(chan struct{}),
	}
	go c.sendAll(ctx)
	return c, nil
}

// Report returns what to call after each check of an exercise in the repository at root.
func (c *Client) Report(root string) func(verdict.Verdict) {
	return func(v verdict.Verdict) {
		passing, tests := v.Counts()
		report := Report{Name: c.name, Exercise: v.Exercise.Name(), Passed: v.Outcome == verdict.Passed,
			Unnamed: v.Outcome == verdict.Unnamed, Passing: passing, Tests: tests, Done: []string{}}
		all, err := exercises.All(root)
		if err != nil {
			return // the check reports this
		}
		progress, err := exercises.ReadProgress(root)
		if err != nil {
			return
		}
		for _, e := range all {
			if progress.Of(e).Passing {
				report.Done = append(report.Done, e.Name())
			}
		}
		select {
		case c.reports <- report:
		default:
		}
	}
}

// Failed delivers the first failure, and no other.
func (c *Client) Failed() <-chan error { return c.failed }

// Leave waits until the last reports are sent, but not for longer than one of them may take. No
// report may follow.
func (c *Client) Leave() {
	close(c.reports)
	defer time.AfterFunc(sendTimeout, c.cancel).Stop()
	<-c.sent
	c.cancel()
	c.http.CloseIdleConnections()
}

func (c *Client) sendAll(ctx context.Context) {
	defer close(c.sent)
	known := false
	for report := range c.reports {
		err := c.send(ctx, report)
		if err == nil || known {
			continue
		}
		known = true
		c.failed <- fmt.Errorf("the room can't be reached: %w", err)
	}
}

func (c *Client) send(ctx context.Context, report Report) error {
	body, err := json.Marshal(report)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := c.http.Do(request)
	if err != nil {
		failed, ok := errors.AsType[*url.Error](err)
		switch {
		case ctx.Err() != nil || ok && failed.Timeout():
			return fmt.Errorf("no answer within %v", sendTimeout)
		case ok:
			return failed.Err // without the URL, which the learner has typed
		}
		return err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusNoContent {
		return nil
	}
	answer, _ := io.ReadAll(io.LimitReader(response.Body, 200)) // what there is of it
	if text := printable(string(answer)); text != "" {
		return fmt.Errorf("it answers %d: %s", response.StatusCode, text)
	}
	return fmt.Errorf("it answers %d", response.StatusCode)
}

// printable keeps a server from writing control characters to the terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
}
