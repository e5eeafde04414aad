//go:build check || solution

// These tests check what ClientConfig and NewQueue promise. They run in bubbles of
// testing/synctest. A bubble's clock moves only when all goroutines wait, so the tests measure
// pauses and nothing else. The server is a function that answers at once.
//
// As given, a thousand Foos take minutes. `workshop test` checks these failures:
//
// fails: TestClientConfig/a thousand requests are sent at once
// says: 1000 requests took 3m18s, want 0s
//
// fails: TestClientConfig/no request is delayed, however many there are
// says: of a million requests at once, the client sends only the first 10 without a delay
//
// fails: TestNewQueue/a thousand keys that fail once are retried after 5ms
// says: 100 of 1000 keys were retried after 5ms, and the last one after 1m30s
//
// fails: TestNewQueue/twenty thousand keys that fail once are retried after 5ms
// says: 100 of 20000 keys were retried after 5ms, and the last one after 33m10s
//
// fails: TestNewQueue/each failure doubles the pause, up to a minute
// says: the pause after failure 15 was 1m21.92s, want 1m0s

package hurry

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	typedappsv1 "k8s.io/client-go/kubernetes/typed/apps/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// Discard the log, because it would only hide what the tests report.
func TestMain(m *testing.M) {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

func TestClientConfig(t *testing.T) {
	t.Run("a thousand requests are sent at once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			if took := create(t, 1000, http.StatusCreated); took != 0 {
				t.Errorf("1000 requests took %v, want 0s: the client delayed them", took)
			}
		})
	})

	t.Run("no request is delayed, however many there are", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			limiter := newClient(t, &rest.Config{Host: "https://example.com"}).RESTClient().GetRateLimiter()
			for n := range 1_000_000 {
				if limiter != nil && !limiter.TryAccept() {
					t.Fatalf("of a million requests at once, the client sends only the first %d without a delay: a larger limit is still a limit", n)
				}
			}
		})
	})

	t.Run("a request that gets 429 is sent again after Retry-After", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			if took := create(t, 1, http.StatusTooManyRequests, http.StatusCreated); took != retryAfter {
				t.Errorf("the server answered 429 with Retry-After, and the request took %v, want %v", took, retryAfter)
			}
		})
	})

	t.Run("the caller's config isn't changed", func(t *testing.T) {
		given := &rest.Config{Host: "https://example.com"}
		ClientConfig(given)
		if given.QPS != 0 || given.Burst != 0 || given.RateLimiter != nil {
			t.Errorf("the caller's config has changed, want no change, because others may use it: QPS %v, Burst %d, RateLimiter %v",
				given.QPS, given.Burst, given.RateLimiter)
		}
	})

	t.Run("all other settings are kept", func(t *testing.T) {
		given := &rest.Config{
			Host: "https://example.com", BearerToken: "a token", UserAgent: "an agent",
			TLSClientConfig: rest.TLSClientConfig{CAFile: "ca.crt"},
		}
		want := rest.CopyConfig(given)
		got := rest.CopyConfig(ClientConfig(given))
		got.QPS, got.Burst, got.RateLimiter = 0, 0, nil
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("ClientConfig changed more than the limits (-given +returned):\n%s", diff)
		}
	})
}

func TestNewQueue(t *testing.T) {
	const shortest, longest = 5 * time.Millisecond, time.Minute

	for sentence, keys := range map[string]int{
		"a thousand keys that fail once are retried after 5ms":      1000,
		"twenty thousand keys that fail once are retried after 5ms": 20_000,
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				queue := newQueue(t)
				begin := time.Now()
				for i := range keys {
					queue.AddRateLimited(keyOf(fmt.Sprint("foo-", i)))
				}
				inTime, last := 0, time.Duration(0)
				for range keys {
					get(t, queue)
					if last = time.Since(begin); last <= shortest {
						inTime++
					}
				}
				if inTime != keys || last != shortest {
					t.Errorf("%d of %d keys were retried after %v, and the last one after %v: want all after 5ms, because each has failed once",
						inTime, keys, shortest, last.Round(time.Millisecond))
				}
			})
		})
	}

	t.Run("each failure doubles the pause, up to a minute", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			queue := newQueue(t)
			want := shortest
			for failures := range 30 {
				begin := time.Now()
				queue.AddRateLimited(keyOf("foo"))
				get(t, queue)
				if pause := time.Since(begin); pause != want {
					t.Fatalf("the pause after failure %d was %v, want %v", failures+1, pause, want)
				}
				want = min(2*want, longest)
			}
		})
	})
}

const retryAfter = 3 * time.Second

// create creates n Deployments, one after another, and returns how long that took. The server gives
// these answers in turn, and then repeats the last one.
func create(t *testing.T, n int, answers ...int) time.Duration {
	server := roundTripper(func(request *http.Request) (*http.Response, error) {
		if err := request.Body.Close(); err != nil {
			return nil, err
		}
		answer := answers[0]
		answers = answers[min(1, len(answers)-1):]
		return &http.Response{
			StatusCode: answer,
			Header: http.Header{
				"Content-Type": {"application/json"},
				"Retry-After":  {fmt.Sprint(retryAfter.Seconds())},
			},
			Body:    io.NopCloser(strings.NewReader(`{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"web"}}`)),
			Request: request,
		}, nil
	})
	client := newClient(t, &rest.Config{Host: "https://example.com", Transport: server})
	begin := time.Now()
	for i := range n {
		deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("web-", i)}}
		if _, err := client.Deployments("default").Create(t.Context(), deployment, metav1.CreateOptions{}); err != nil {
			t.Fatalf("request %d: %v", i+1, err)
		}
	}
	return time.Since(begin).Round(time.Millisecond)
}

// newClient returns a client that uses the result of ClientConfig.
func newClient(t *testing.T, given *rest.Config) *typedappsv1.AppsV1Client {
	config := ClientConfig(given)
	if given.Transport != nil && config.Transport == nil {
		t.Fatal("the returned config lacks the given Transport, want only the limits to differ")
	}
	client, err := typedappsv1.NewForConfig(config)
	if err != nil {
		t.Fatalf("no client can be created with the returned config: %v", err)
	}
	return client
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

type queue = workqueue.TypedRateLimitingInterface[types.NamespacedName]

// newQueue calls NewQueue. The queue is shut down when the test ends, or after a day.
func newQueue(t *testing.T) queue {
	q := NewQueue()
	time.AfterFunc(24*time.Hour, q.ShutDown)
	t.Cleanup(q.ShutDown)
	return q
}

// get waits for the next key, and removes it from the queue.
func get(t *testing.T, q queue) {
	key, shutdown := q.Get()
	if shutdown {
		t.Fatal("a key that failed wasn't retried within a day")
	}
	q.Done(key)
}

func keyOf(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "default", Name: name}
}
