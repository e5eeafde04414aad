//go:build !solution

// How the operator learns which Foos exist, and which have changed.

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	samplecontrollerv1alpha1 "example.com/operators/01-raw-watch/pkg/apis/samplecontroller/v1alpha1"
	"example.com/operators/01-raw-watch/wire"
)

// pause is the time between the end of one watch and the next request, so that a server in trouble
// isn't flooded.
const pause = time.Second

// follower lists the Foos, and then watches them.
type follower struct {
	client       *wire.Client // for everything but watches, which need a response that doesn't end
	http         *http.Client // for watches
	base         *url.URL     // of the API server
	path         string
	watchTimeout time.Duration
}

func newFollower(config *rest.Config, client *wire.Client, namespace string, watchTimeout time.Duration) (*follower, error) {
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("credentials for %s: %w", config.Host, err)
	}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("server address %q: %w", config.Host, err)
	}
	path := "/apis/samplecontroller.k8s.io/v1alpha1"
	if namespace != "" {
		path += "/namespaces/" + namespace
	}
	return &follower{client, httpClient, base, path + "/foos", watchTimeout}, nil
}

// follow calls handle for each Foo, and then whenever one is added or changed, until ctx ends.
func (f *follower) follow(ctx context.Context, handle func(context.Context, *samplecontrollerv1alpha1.Foo)) {
	resourceVersion := "" // empty: list first
	for ctx.Err() == nil {
		var err error
		if resourceVersion == "" {
			resourceVersion, err = f.list(ctx, handle)
		}
		if err == nil {
			resourceVersion, err = f.watch(ctx, resourceVersion, handle)
		}
		switch {
		case ctx.Err() != nil:
			return
		case err == io.EOF:
			// The server ends every watch sooner or later. The next one continues from here.
		default:
			// We may have missed something, for example after 410 Gone. A list shows everything.
			resourceVersion = ""
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// list calls handle for each Foo. It returns the resourceVersion from which a watch has to start.
func (f *follower) list(ctx context.Context, handle func(context.Context, *samplecontrollerv1alpha1.Foo)) (resourceVersion string, err error) {
	var list samplecontrollerv1alpha1.FooList
	if err := f.client.Do(ctx, http.MethodGet, f.path, nil, nil, &list); err != nil {
		klog.InfoS("Waiting", "path", f.path, "because", err.Error())
		return "", fmt.Errorf("list the Foos: %w", err)
	}
	klog.V(4).InfoS("Listed", "foos", len(list.Items), "resourceVersion", list.ResourceVersion)
	for i := range list.Items {
		handle(ctx, &list.Items[i])
	}
	return list.ResourceVersion, nil
}

// watch calls handle for each Foo that is added or changed after resourceVersion, until the watch
// ends. It returns the resourceVersion that it has reached, and why the watch has ended.
func (f *follower) watch(ctx context.Context, resourceVersion string, handle func(context.Context, *samplecontrollerv1alpha1.Foo)) (reached string, err error) {
	timeout := f.watchTimeout + rand.N(f.watchTimeout) // random, so that clients don't all reconnect at once
	klog.V(4).InfoS("Watch started", "resourceVersion", resourceVersion)
	defer func() { klog.V(4).InfoS("Watch ended", "resourceVersion", reached, "err", err) }()
	body, err := f.open(ctx, url.Values{
		"watch":               {"true"},
		"allowWatchBookmarks": {"true"},
		"resourceVersion":     {resourceVersion},
		"timeoutSeconds":      {strconv.Itoa(int(timeout.Seconds()))},
	})
	if err != nil {
		return resourceVersion, fmt.Errorf("start the watch: %w", err)
	}
	defer body.Close()
	decoder := json.NewDecoder(body)
	for {
		var event struct {
			Type   watch.EventType
			Object json.RawMessage
		}
		if err := decoder.Decode(&event); err != nil {
			return resourceVersion, fmt.Errorf("read the watch: %w", err)
		}
		if event.Type == watch.Error {
			return resourceVersion, statusOf(event.Object)
		}
		foo := &samplecontrollerv1alpha1.Foo{}
		if err := json.Unmarshal(event.Object, foo); err != nil {
			return resourceVersion, fmt.Errorf("decode an event of the type %q: %w", event.Type, err)
		}
		resourceVersion = foo.ResourceVersion
		switch event.Type {
		case watch.Added, watch.Modified:
			handle(ctx, foo)
		case watch.Bookmark:
			klog.V(4).InfoS("Bookmark received", "resourceVersion", resourceVersion)
		}
	}
}

// open sends the request for a watch. The caller reads and closes the response's body.
func (f *follower) open(ctx context.Context, query url.Values) (io.ReadCloser, error) {
	target := f.base.JoinPath(f.path)
	target.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return nil, err
	}
	response, err := f.http.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		body, _ := io.ReadAll(io.LimitReader(response.Body, 64<<10))
		return nil, fmt.Errorf("%s: %w", response.Status, statusOf(body))
	}
	return response.Body, nil
}

// statusOf returns the Status that the API server sends to explain a failure, as an error.
func statusOf(raw []byte) error {
	var status metav1.Status
	if err := json.Unmarshal(raw, &status); err != nil {
		return fmt.Errorf("decode a Status: %w", err)
	}
	return apierrors.FromObject(&status)
}
