//go:build !solution

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
}

func New(url string, client *http.Client) *Notifier {
	return &Notifier{url: url, client: client}
}

// OnAdd reports each container of a new Deployment: "shop/web: main runs nginx:1.28". Deployments
// that existed before the informer started aren't news.
func (n *Notifier) OnAdd(deployment *appsv1.Deployment, isInInitialList bool) {
	// YOUR WORK: at each start, this reports every Deployment.
	for _, container := range deployment.Spec.Template.Spec.Containers {
		n.report(fmt.Sprintf("%s/%s: %s runs %s", deployment.Namespace, deployment.Name, container.Name, container.Image))
	}
}

// OnUpdate reports each container whose image has changed, "shop/web: main was nginx:1.28 and runs
// nginx:1.29", and each new container, as OnAdd does. Containers are the same if they have the same
// name.
func (n *Notifier) OnUpdate(old, deployment *appsv1.Deployment) {
	// YOUR WORK: this reports all containers, whatever has changed, even at a resync.
	n.OnAdd(deployment, false)
}

func (n *Notifier) OnDelete(cache.DeletedObject[*appsv1.Deployment]) {}

// report has a line posted, and returns at once. If Capacity lines are waiting, it drops this one
// and logs that.
func (n *Notifier) report(line string) {
	// YOUR WORK: the handlers, and so the informer's later events, wait for the webhook.
	if err := n.post(context.Background(), line); err != nil {
		klog.ErrorS(err, "Lost a line", "line", line)
	}
}

// Run posts the lines, one after another and in order, until ctx ends. That has to be after the
// informer has stopped. Then it posts the lines that are still waiting, for no longer than
// ShutdownTimeout, and returns. If the webhook refuses a line, it logs that, and goes on.
func (n *Notifier) Run(ctx context.Context) {
	// YOUR WORK: post the lines here.
	<-ctx.Done()
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
