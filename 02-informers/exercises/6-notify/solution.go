//go:build solution

// Package notify reports new images to a chat. It changes nothing in the cluster.
package notify

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

const (
	// Capacity is how many lines may wait for the webhook, besides the one that is being posted.
	Capacity = 100
	// PostTimeout is how long the webhook may take for one line.
	PostTimeout = 10 * time.Second
	// ShutdownTimeout is how long Run may go on when its context has ended.
	ShutdownTimeout = 5 * time.Second
)

var _ cache.TypedResourceEventHandler[*appsv1.Deployment] = &Notifier{}

// Notifier is an event handler for Deployments. It posts lines to a webhook.
type Notifier struct {
	url    string
	client *http.Client
	lines  chan string // between the handlers, which must not wait, and Run, which may
}

func New(url string, client *http.Client) *Notifier {
	return &Notifier{url: url, client: client, lines: make(chan string, Capacity)}
}

// OnAdd reports each container of a new Deployment: "shop/web: main runs nginx:1.28". Deployments
// that existed before the informer started aren't news.
func (n *Notifier) OnAdd(deployment *appsv1.Deployment, isInInitialList bool) {
	if isInInitialList {
		return
	}
	n.OnUpdate(&appsv1.Deployment{}, deployment) // before, it had no containers
}

// OnUpdate reports each container whose image has changed, "shop/web: main was nginx:1.28 and runs
// nginx:1.29", and each new container, as OnAdd does. Containers are the same if they have the same
// name.
func (n *Notifier) OnUpdate(old, deployment *appsv1.Deployment) {
	before := map[string]string{}
	for _, container := range old.Spec.Template.Spec.Containers {
		before[container.Name] = container.Image
	}
	for _, container := range deployment.Spec.Template.Spec.Containers {
		switch image, existed := before[container.Name]; {
		case !existed:
			n.report(fmt.Sprintf("%s/%s: %s runs %s", deployment.Namespace, deployment.Name, container.Name, container.Image))
		case image != container.Image: // at a resync, they are equal
			n.report(fmt.Sprintf("%s/%s: %s was %s and runs %s", deployment.Namespace, deployment.Name, container.Name, image, container.Image))
		}
	}
}

func (n *Notifier) OnDelete(cache.DeletedObject[*appsv1.Deployment]) {}

// report has a line posted, and returns at once. If Capacity lines are waiting, it drops this one
// and logs that.
func (n *Notifier) report(line string) {
	select {
	case n.lines <- line:
	default:
		klog.InfoS("Lost a line, because too many are waiting", "line", line)
	}
}

// Run posts the lines, one after another and in order, until ctx ends. That has to be after the
// informer has stopped. Then it posts the lines that are still waiting, for no longer than
// ShutdownTimeout, and returns. If the webhook refuses a line, it logs that, and goes on.
func (n *Notifier) Run(ctx context.Context) {
	// Requests may go on when ctx has ended, but not for longer than ShutdownTimeout.
	posting, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	context.AfterFunc(ctx, func() { time.AfterFunc(ShutdownTimeout, stop) })

	for {
		select {
		case line := <-n.lines:
			n.deliver(posting, line)
		case <-ctx.Done():
			for {
				select {
				case line := <-n.lines:
					n.deliver(posting, line)
				default:
					return
				}
			}
		}
	}
}

func (n *Notifier) deliver(ctx context.Context, line string) {
	if err := n.post(ctx, line); err != nil {
		klog.ErrorS(err, "Lost a line", "line", line)
	}
}

// post sends a line to the webhook, as the body of a request.
func (n *Notifier) post(ctx context.Context, line string) error {
	ctx, stop := context.WithTimeout(ctx, PostTimeout)
	defer stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, n.url, strings.NewReader(line))
	if err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	response, err := n.client.Do(request)
	if err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("webhook: %s", response.Status)
	}
	return nil
}
