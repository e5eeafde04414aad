package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// What happens to deltas that wait in the FIFO together. The store has web@1 from the first list.
func TestDeltas(t *testing.T) {
	for sentence, test := range map[string]struct {
		queue func(*cache.RealFIFO) error
		want  string
	}{
		"changes of different objects are one batch": {
			func(f *cache.RealFIFO) error { f.Update(configMap("web", "2")); return f.Add(configMap("api", "3")) }, `
Updated      web@2
Added        api@3
  before     web@1
  after      api@3 web@2
  handler    OnUpdate web@1 -> web@2
  handler    OnAdd api@3 isInInitialList=false
`,
		},
		"two changes of one object are two batches": {
			func(f *cache.RealFIFO) error { f.Update(configMap("web", "2")); return f.Update(configMap("web", "3")) }, `
Updated      web@2
  before     web@1
  after      web@2
  handler    OnUpdate web@1 -> web@2
Updated      web@3
  before     web@2
  after      web@3
  handler    OnUpdate web@2 -> web@3
`,
		},
		"an object that is created again is added": {
			func(f *cache.RealFIFO) error { f.Delete(configMap("web", "2")); return f.Add(configMap("web", "3")) }, `
Deleted      web@2
  before     web@1
  after      nothing
  handler    OnDelete web@2
Added        web@3
  before     nothing
  after      web@3
  handler    OnAdd web@3 isInInitialList=false
`,
		},
		"an object that a list doesn't have was deleted": {
			func(f *cache.RealFIFO) error { return f.Replace([]any{configMap("api", "2")}, "2") }, `
ReplacedAll  api@2
  before     web@1
  after      api@2
  handler    OnDelete tombstone of web@1
  handler    OnAdd api@2 isInInitialList=false
`,
		},
		"a list and a bookmark are no batches": {
			func(f *cache.RealFIFO) error {
				f.Add(configMap("api", "2"))
				f.Bookmark("3")
				f.Replace([]any{configMap("api", "4")}, "4")
				return f.Add(configMap("web", "5"))
			}, `
Added        api@2
  before     web@1
  after      api@2 web@1
  handler    OnAdd api@2 isInInitialList=false
Bookmark     @3
ReplacedAll  api@4
  before     api@2 web@1
  after      api@4
  handler    OnDelete tombstone of web@1
  handler    OnUpdate api@2 -> api@4
Added        web@5
  before     api@4
  after      api@4 web@5
  handler    OnAdd web@5 isInInitialList=false
`,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			var printed strings.Builder
			i, fifo := newInformer(&printed, func() {}), newFIFO()
			i.bookmarks = true
			must(t, fifo.Replace([]any{configMap("web", "1")}, "1"))
			must(t, fifo.PopBatch(i.processBatch, i.process))
			if want := "ReplacedAll  web@1\n  before     nothing\n  after      web@1\n  handler    OnAdd web@1 isInInitialList=true\n"; printed.String() != want {
				t.Fatalf("the first list printed\n%s\nwant\n%s", &printed, want)
			}
			printed.Reset()

			must(t, test.queue(fifo))
			fifo.Close()
			for fifo.PopBatch(i.processBatch, i.process) == nil {
			}

			if diff := cmp.Diff(strings.TrimPrefix(test.want, "\n"), printed.String()); diff != "" {
				t.Errorf("printed (-want +got):\n%s", diff)
			}
		})
	}
}

// A handler that has heard about a change finds it in the store, and perhaps later ones, too.
func TestTheStoreIsAheadOfTheHandlers(t *testing.T) {
	var seen []string
	i := newInformer(t.Output(), nil)
	i.handle = func() { seen = append(seen, names(i.store.List()...)) }

	must(t, i.processBatch([]cache.Delta{{Type: cache.Added, Object: configMap("a", "1")}, {Type: cache.Added, Object: configMap("b", "2")}}, false))

	if want := []string{"a@1 b@2", "a@1 b@2"}; !slices.Equal(seen, want) {
		t.Errorf("the two handlers saw %q, want %q", seen, want)
	}
}

// The difference between the two queues: both get three changes, in this order.
func TestTheOrder(t *testing.T) {
	real, delta := newFIFO(), cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{EmitDeltaTypeReplaced: true})
	for sentence, test := range map[string]struct {
		queue cache.Queue
		want  []string
	}{
		"RealFIFO keeps the order of all changes":       {real, []string{"Added a@1", "Added b@2", "Updated a@3"}},
		"DeltaFIFO collects the changes of each object": {delta, []string{"Added a@1, Updated a@3", "Added b@2"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			must(t, test.queue.Add(configMap("a", "1")))
			must(t, test.queue.Add(configMap("b", "2")))
			must(t, test.queue.Update(configMap("a", "3")))
			test.queue.Close()

			var popped []string
			take := func(obj any, _ bool) error {
				var deltas []string
				for _, delta := range obj.(cache.Deltas) {
					deltas = append(deltas, string(delta.Type)+" "+names(delta.Object))
				}
				popped = append(popped, strings.Join(deltas, ", "))
				return nil
			}
			for _, err := test.queue.Pop(take); err == nil; _, err = test.queue.Pop(take) {
			}

			for _, line := range popped {
				t.Log(line)
			}
			if !slices.Equal(popped, test.want) {
				t.Errorf("popped %q, want %q", popped, test.want)
			}
		})
	}
}

func configMap(name, version string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, ResourceVersion: version}}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
