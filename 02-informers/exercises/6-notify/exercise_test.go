//go:build check || solution

// The tests of Notifier. The webhook is an http.Handler that the client calls without a network, so
// that time passes only if somebody waits (testing/synctest).
//
// As given, the handlers report everything that they hear about, and wait for the webhook. `workshop
// test` checks these failures:
//
// fails: TestHandlers/a Deployment that existed before: nothing
// says: the webhook got
//
// fails: TestHandlers/another image: its container is reported, with both images
// says: the webhook got
//
// fails: TestHandlers/one of two images has changed: one line
// says: the webhook got
//
// fails: TestHandlers/a new container: what it runs
// says: the webhook got
//
// fails: TestHandlers/a container is gone: nothing
// says: the webhook got
//
// fails: TestHandlers/the containers' order has changed: nothing
// says: the webhook got
//
// fails: TestHandlers/more replicas: nothing
// says: the webhook got
//
// fails: TestHandlers/a resync: nothing
// says: the webhook got
//
// fails: TestAHandlerDoesntWait
// says: the handlers took 30s
//
// fails: TestTooManyLines
// says: the webhook got 151 lines, want 101
//
// fails: TestShutdown/the webhook takes a second for each line: all lines are posted
// says: the handlers took 3s
//
// fails: TestShutdown/the webhook hangs: Run returns after ShutdownTimeout
// says: the handlers took 30s
//
// fails: TestARefusedLineDoesntHoldUpTheNext
// says: the webhook got
//
// fails: TestWithAnInformer
// says: the webhook got
//
// fails: TestALineThatHangsDoesntHoldUpTheNextForLong
// says: the handlers took 10s, want nothing

package notify

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
)

func TestHandlers(t *testing.T) {
	for sentence, test := range map[string]struct {
		old, deployment *appsv1.Deployment // old is nil: the Deployment is added
		isInInitialList bool
		want            []string
	}{
		"a Deployment that existed before: nothing": {
			deployment: deployment("main=nginx:1.28"), isInInitialList: true,
		},
		"a new Deployment: what each container runs": {
			deployment: deployment("main=nginx:1.28", "log=fluentd:1"),
			want:       []string{"shop/web: main runs nginx:1.28", "shop/web: log runs fluentd:1"},
		},
		"another image: its container is reported, with both images": {
			old: deployment("main=nginx:1.28"), deployment: deployment("main=nginx:1.29"),
			want: []string{"shop/web: main was nginx:1.28 and runs nginx:1.29"},
		},
		"one of two images has changed: one line": {
			old: deployment("main=nginx:1.28", "log=fluentd:1"), deployment: deployment("main=nginx:1.28", "log=fluentd:2"),
			want: []string{"shop/web: log was fluentd:1 and runs fluentd:2"},
		},
		"a new container: what it runs": {
			old: deployment("main=nginx:1.28"), deployment: deployment("log=fluentd:1", "main=nginx:1.28"),
			want: []string{"shop/web: log runs fluentd:1"},
		},
		"a container is gone: nothing": {
			old: deployment("main=nginx:1.28", "log=fluentd:1"), deployment: deployment("log=fluentd:1"),
		},
		"the containers' order has changed: nothing": {
			old: deployment("main=nginx:1.28", "log=fluentd:1"), deployment: deployment("log=fluentd:1", "main=nginx:1.28"),
		},
		"more replicas: nothing": {
			old: deployment("main=nginx:1.28"), deployment: scaled(deployment("main=nginx:1.28")),
		},
		"a resync: nothing": {
			old: deployment("main=nginx:1.28"), deployment: deployment("main=nginx:1.28"),
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				webhook := &webhook{}
				n := New("http://chat.example.com", webhook.client())
				stop := run(t, n)

				if test.old == nil {
					n.OnAdd(test.deployment, test.isInInitialList)
				} else {
					n.OnUpdate(test.old, test.deployment)
				}
				synctest.Wait()

				webhook.got(t, test.want...)
				stop()
			})
		})
	}
}

func TestAHandlerDoesntWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		webhook := &webhook{takes: time.Hour}
		n := New("http://chat.example.com", webhook.client())
		stop := run(t, n)
		defer stop()

		change(t, n, 0, 3)
	})
}

// The webhook works on the first line, and Capacity more may wait. The others are dropped.
func TestTooManyLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		webhook := &webhook{takes: time.Second}
		n := New("http://chat.example.com", webhook.client())
		stop := run(t, n)
		defer stop()

		change(t, n, 0, 1)
		synctest.Wait() // until it is being posted
		change(t, n, 1, 1+Capacity+50)
		time.Sleep(time.Hour)

		webhook.lock.Lock()
		defer webhook.lock.Unlock()
		if got := len(webhook.lines); got != 1+Capacity {
			t.Fatalf("the webhook got %d lines, want %d: the one that it was working on, and Capacity more", got, 1+Capacity)
		}
		want := fmt.Sprintf("shop/web: main was nginx:1.%d and runs nginx:1.%d", Capacity, Capacity+1)
		if last := webhook.lines[Capacity]; last != want {
			t.Errorf("the last line is %q, want %q: drop those that come when there is no room", last, want)
		}
	})
}

func TestShutdown(t *testing.T) {
	for sentence, test := range map[string]struct {
		takes    time.Duration
		want     []string
		wantTime time.Duration
	}{
		"the webhook takes a second for each line: all lines are posted": {
			takes: time.Second,
			want: []string{
				"shop/web: main was nginx:1.0 and runs nginx:1.1",
				"shop/web: main was nginx:1.1 and runs nginx:1.2",
				"shop/web: main was nginx:1.2 and runs nginx:1.3",
			},
			wantTime: 3 * time.Second,
		},
		"the webhook hangs: Run returns after ShutdownTimeout": {
			takes: time.Hour, wantTime: ShutdownTimeout,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				webhook := &webhook{takes: test.takes}
				n := New("http://chat.example.com", webhook.client())
				stop := run(t, n)
				change(t, n, 0, 3)

				begin := time.Now()
				stop()

				if took := time.Since(begin); took != test.wantTime {
					t.Errorf("Run returned %v after its context ended, want %v", took, test.wantTime)
				}
				webhook.got(t, test.want...)
			})
		})
	}
}

func TestARefusedLineDoesntHoldUpTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		webhook := &webhook{refuses: "runs nginx:1.1"}
		n := New("http://chat.example.com", webhook.client())
		stop := run(t, n)
		defer stop()

		change(t, n, 0, 2)
		synctest.Wait()

		webhook.got(t, "shop/web: main was nginx:1.1 and runs nginx:1.2")
	})
}

func TestALineThatHangsDoesntHoldUpTheNextForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		webhook := &webhook{hangs: "runs nginx:1.1"}
		n := New("http://chat.example.com", webhook.client())
		stop := run(t, n)
		defer stop()

		change(t, n, 0, 2)
		time.Sleep(PostTimeout)
		synctest.Wait()

		webhook.got(t, "shop/web: main was nginx:1.1 and runs nginx:1.2")
	})
}

// The handlers with a real informer, which resyncs once a minute.
func TestWithAnInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		webhook := &webhook{}
		n := New("http://chat.example.com", webhook.client())
		stop := run(t, n)
		client := fake.NewSimpleClientset(deployment("main=nginx:1.28"))
		deployments := client.AppsV1().Deployments("shop")
		factory := informers.NewSharedInformerFactory(client, time.Minute)
		if _, err := factory.Apps().V1().Deployments().TypedInformer().AddTypedEventHandler(n); err != nil {
			t.Fatal(err)
		}
		ctx, stopInformer := context.WithCancel(t.Context())
		factory.StartWithContext(ctx)
		synctest.Wait()

		created := deployment("main=httpd:2")
		created.Name = "new"
		if _, err := deployments.Create(ctx, created, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		if _, err := deployments.Update(ctx, deployment("main=nginx:1.29"), metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		stopInformer()
		factory.Shutdown()
		stop()

		webhook.got(t, "shop/new: main runs httpd:2", "shop/web: main was nginx:1.28 and runs nginx:1.29")
	})
}

// run runs n. stop ends its context, and waits until Run has returned.
func run(t *testing.T, n *Notifier) (stop func()) {
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); n.Run(ctx) }()
	return func() { end(); <-ended }
}

// change calls OnUpdate for each change from nginx:1.FIRST to nginx:1.LAST, and checks that this
// takes no time.
func change(t *testing.T, n *Notifier, first, last int) {
	t.Helper()
	begin := time.Now()
	for i := first; i < last; i++ {
		n.OnUpdate(deployment(fmt.Sprintf("main=nginx:1.%d", i)), deployment(fmt.Sprintf("main=nginx:1.%d", i+1)))
	}
	if took := time.Since(begin); took > 0 {
		t.Errorf("the handlers took %v, want nothing: they must not wait for the webhook", took)
	}
}

// webhook is a chat that takes some time for each line, and records the lines that it has accepted.
type webhook struct {
	takes   time.Duration
	refuses string // lines that contain this, unless it is empty
	hangs   string // for an hour, on lines that contain this, unless it is empty

	lock  sync.Mutex
	lines []string
}

func (w *webhook) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	line, err := io.ReadAll(request.Body)
	if err != nil {
		http.Error(response, err.Error(), http.StatusBadRequest)
		return
	}
	takes := w.takes
	if w.hangs != "" && strings.Contains(string(line), w.hangs) {
		takes = time.Hour
	}
	select {
	case <-time.After(takes):
	case <-request.Context().Done(): // the client has hung up
		return
	}
	if w.refuses != "" && strings.Contains(string(line), w.refuses) {
		http.Error(response, "no", http.StatusInternalServerError)
		return
	}
	w.lock.Lock()
	defer w.lock.Unlock()
	w.lines = append(w.lines, string(line))
}

// got checks which lines the webhook has accepted.
func (w *webhook) got(t *testing.T, want ...string) {
	t.Helper()
	w.lock.Lock()
	defer w.lock.Unlock()
	if diff := cmp.Diff(want, w.lines); diff != "" {
		t.Errorf("the webhook got %d lines, want %d (-want +got):\n%s", len(w.lines), len(want), diff)
	}
}

// client returns a client whose requests all go to the webhook.
func (w *webhook) client() *http.Client { return &http.Client{Transport: transport{w}} }

type transport struct{ handler http.Handler }

func (t transport) RoundTrip(request *http.Request) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	t.handler.ServeHTTP(recorder, request)
	if err := request.Context().Err(); err != nil {
		return nil, err
	}
	return recorder.Result(), nil
}

// deployment returns the Deployment shop/web with these containers, each as name=image.
func deployment(containers ...string) *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	for _, container := range containers {
		name, image, _ := strings.Cut(container, "=")
		d.Spec.Template.Spec.Containers = append(d.Spec.Template.Spec.Containers, corev1.Container{Name: name, Image: image})
	}
	return d
}

func scaled(d *appsv1.Deployment) *appsv1.Deployment {
	d.Spec.Replicas = new(int32(3))
	return d
}
