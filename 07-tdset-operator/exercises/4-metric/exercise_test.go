//go:build check || solution

// These tests check what Collector promises, by what a scrape returns. They gather, compare and
// lint with prometheus/testutil. The cache is a fake client, and its TDSets have the status that
// the controller has written.
//
// As given, a scrape returns what Reconcile last set, under the wrong names. `workshop test` checks
// these failures:
//
// fails: TestLint
// says: use base unit "seconds" instead of "minutes"
//
// fails: TestNumbers/a TDSet that was reconciled three hours ago
// says: +tdset_until_next_transition_seconds{name="web",namespace="default"} 7200
//
// fails: TestNumbers/a TDSet that hasn't been available since 11:00
// says: +tdset_not_as_scheduled_seconds{name="web",namespace="default"} 7200
//
// fails: TestNumbers/a transition ten minutes ago, for which Reconcile wasn't called
// says: -tdset_untilNextTransition_minutes{activeWindow="9-17",name="web"} 300
//
// fails: TestNumbers/a schedule that never changes
// says: -tdset_not_as_scheduled_gauge{name="web",since="2026-01-05T12:00:00Z"} 0
//
// fails: TestNumbers/an unknown time zone
// says: +tdset_not_as_scheduled_seconds{name="web",namespace="default"} 3600
//
// fails: TestNumbers/two TDSets with the same name in different namespaces
// says: +tdset_not_as_scheduled_seconds{name="web",namespace="test"} 3600
//
// fails: TestNumbers/a TDSet that is being deleted
// says: -tdset_untilNextTransition_minutes{activeWindow="9-17",name="web"} 300
//
// fails: TestNumbers/a TDSet that has been deleted
// says: -tdset_untilNextTransition_minutes{activeWindow="9-17",name="web"} 300
//
// fails: TestScrape/the cache hasn't synced yet
// says: got 200 series of TDSets, want 0
//
// fails: TestScrape/the cache hasn't been started yet
// says: got 200 series of TDSets, want 0

package metric

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// TestLint runs Prometheus' own linter on the names and units.
func TestLint(t *testing.T) {
	p := newProgram(t, noon, aTDSet("web"))
	if len(p.scrape()) == 0 {
		t.Error("there are no series to lint")
	}
	problems, err := testutil.GatherAndLint(p.registry)
	noError(t, err)
	for _, problem := range problems {
		t.Errorf("%s: %s", problem.Metric, problem.Text)
	}
}

// noon is when the TDSets were last reconciled, unless a test says otherwise. Their window 9-17 is
// active then.
var noon = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

func TestNumbers(t *testing.T) {
	for sentence, test := range map[string]struct {
		tdsets         []*schedulev2.TDSet
		later          time.Duration      // time from noon to the scrape
		gone           bool               // whether the TDSets are gone by then
		untilNext      map[string]float64 // seconds, by namespace and name
		notAsScheduled map[string]float64
		why            string
	}{

		"a TDSet that was reconciled three hours ago": {
			tdsets:         tdsets(aTDSet("web")),
			later:          3 * time.Hour,
			untilNext:      map[string]float64{"default/web": 7200},
			notAsScheduled: map[string]float64{"default/web": 0},
			why:            "Reconcile isn't called again before 17:00, so compute the number at each scrape",
		},

		"a TDSet that hasn't been available since 11:00": {
			tdsets:         tdsets(aTDSet("web", since(11, "Available", metav1.ConditionFalse))),
			later:          time.Hour,
			untilNext:      map[string]float64{"default/web": 14400},
			notAsScheduled: map[string]float64{"default/web": 7200},
		},

		"a transition ten minutes ago, for which Reconcile wasn't called": {
			tdsets:         tdsets(aTDSet("web")),
			later:          5*time.Hour + 10*time.Minute,
			untilNext:      map[string]float64{"default/web": 13800},
			notAsScheduled: map[string]float64{"default/web": 600},
			why:            "the schedule goes on even if the controller hangs, so the next transition is the one at 21:00",
		},

		"a schedule that never changes": {
			tdsets:         tdsets(aTDSet("web", allDay)),
			notAsScheduled: map[string]float64{"default/web": 0},
			why:            "there is no next transition: 0 would mean now, and -1 would mean a second ago",
		},
		"an unknown time zone": {
			tdsets:         tdsets(aTDSet("web", nowhere, since(11, "Degraded", metav1.ConditionTrue))),
			notAsScheduled: map[string]float64{"default/web": 3600},
			why:            "without a time zone, the next transition is unknown",
		},
		"two TDSets with the same name in different namespaces": {
			tdsets:         tdsets(aTDSet("web"), aTDSet("web", in("test"), since(11, "Available", metav1.ConditionFalse))),
			untilNext:      map[string]float64{"default/web": 18000, "test/web": 18000},
			notAsScheduled: map[string]float64{"default/web": 0, "test/web": 3600},
		},
		"a TDSet that is being deleted": {
			tdsets: tdsets(aTDSet("web", terminating)),
		},
		"a TDSet that has been deleted": {
			tdsets: tdsets(aTDSet("web")),
			gone:   true,
			why:    "nobody can fix an alert about a TDSet that no longer exists",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			p := newProgram(t, noon, test.tdsets...)
			p.scrape() // a scrape while it still exists
			if test.gone {
				noError(t, p.api.DeleteAllOf(t.Context(), &schedulev2.TDSet{}, client.InNamespace("default")))
			}
			p.clock.Step(test.later)

			want := page("tdset_until_next_transition_seconds", helpUntilNext, test.untilNext) +
				page("tdset_not_as_scheduled_seconds", helpNotAsScheduled, test.notAsScheduled)
			if err := testutil.GatherAndCompare(p.registry, strings.NewReader(want)); err != nil {
				t.Errorf("the scrape differs (-got +want):\n%v\n%s", strings.TrimSpace(err.Error()), test.why)
			}
		})
	}
}

func TestScrape(t *testing.T) {
	for sentence, test := range map[string]struct {
		beforeRead func(ctx context.Context) error
		want       int // how many series a hundred TDSets have
	}{
		"the cache has synced": {want: 200},
		"the cache hasn't synced yet": {
			beforeRead: func(ctx context.Context) error {
				select {
				case <-ctx.Done():
					return errors.New("failed waiting for *schedulev2.TDSet Informer to sync")
				case <-time.After(time.Hour): // the API server is back by then
					return nil
				}
			},
		},
		"the cache hasn't been started yet": {
			beforeRead: func(context.Context) error { return errors.New("the cache is not started, can not read objects") },
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newProgram(t, noon, many(100)...)
				p.registry.MustRegister(prometheus.NewCounter(prometheus.CounterOpts{Name: "other_total", Help: "Somebody else's."}))
				p.scrape() // an earlier scrape, which succeeded
				p.reads = 0
				p.beforeRead = test.beforeRead

				began := time.Now() // in this bubble, time passes only while all goroutines wait
				series := p.scrape()
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("the scrape took %v, want at most 5s: if Prometheus times out, it gets none of the program's metrics", took)
				}
				count := len(slices.DeleteFunc(series, func(name string) bool { return !strings.HasPrefix(name, "tdset_") }))
				if count != test.want {
					t.Errorf("got %d series of TDSets, want %d", count, test.want)
				}
				if p.reads > 1 {
					t.Errorf("one scrape read the cache %d times, want at most once", p.reads)
				}
				if p.reading != nil && p.reading.Err() == nil {
					t.Error("after the scrape, the context of the read goes on: a goroutine that waits for the cache would leak at each scrape")
				}
				time.Sleep(2 * time.Hour) // lets any goroutine that is still running finish
			})
		})
	}
}

// program is a running program with a Collector.
type program struct {
	*testing.T
	clock     *clocktesting.FakeClock
	api       client.Client // changes the content of the cache
	collector prometheus.Collector
	registry  *prometheus.Registry

	reads      int                         // number of lists from the cache
	reading    context.Context             // of the last one
	beforeRead func(context.Context) error // called before each read; may be nil
}

func newProgram(t *testing.T, now time.Time, tdsets ...*schedulev2.TDSet) *program {
	kinds := runtime.NewScheme()
	noError(t, schedulev2.AddToScheme(kinds))
	builder := fake.NewClientBuilder().WithScheme(kinds)
	for _, tdset := range tdsets {
		builder = builder.WithObjects(tdset.DeepCopy())
	}
	server := builder.Build()
	p := &program{T: t, api: server, clock: clocktesting.NewFakeClock(now), registry: prometheus.NewPedanticRegistry()}
	p.collector = NewCollector(interceptor.NewClient(server, interceptor.Funcs{
		List: func(ctx context.Context, server client.WithWatch, into client.ObjectList, opts ...client.ListOption) error {
			p.reads, p.reading = p.reads+1, ctx
			if p.beforeRead != nil {
				if err := p.beforeRead(ctx); err != nil {
					return err
				}
			}
			return server.List(ctx, into, opts...)
		},
	}), p.clock)
	if err := p.registry.Register(p.collector); err != nil {
		t.Fatalf("the collector can't be registered: %v", err)
	}
	p.observe(tdsets...)
	return p
}

// scrape returns the series, without their values.
func (p *program) scrape() (all []string) {
	p.Helper()
	families, err := p.registry.Gather()
	if err != nil {
		p.Fatalf("the scrape failed, so Prometheus gets none of the program's metrics: %v", err)
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			var labels []string
			for _, label := range metric.GetLabel() {
				labels = append(labels, fmt.Sprintf("%s=%q", label.GetName(), label.GetValue()))
			}
			all = append(all, fmt.Sprintf("%s{%s}", family.GetName(), strings.Join(labels, ",")))
		}
	}
	return all
}

// observe calls Observe, if it still exists.
func (p *program) observe(tdsets ...*schedulev2.TDSet) {
	if observer, is := p.collector.(interface{ Observe(*schedulev2.TDSet) }); is {
		for _, tdset := range tdsets {
			observer.Observe(tdset)
		}
	}
}

// aTDSet returns a TDSet that is as scheduled, and was reconciled at noon.
func aTDSet(name string, changes ...func(*schedulev2.TDSet)) *schedulev2.TDSet {
	tdset := &schedulev2.TDSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, CreationTimestamp: metav1.NewTime(noon.AddDate(0, 0, -4))},
		Spec: schedulev2.TDSetSpec{
			Windows: []schedulev2.Window{
				{Name: "9-17", Start: "09:00", End: "17:00", Replicas: 5},
				{Name: "17-21", Start: "17:00", End: "21:00", Replicas: 3},
			},
			DefaultReplicas: 1,
		},
		Status: schedulev2.TDSetStatus{ActiveWindow: "9-17", NextTransitionTime: new(metav1.NewTime(noon.Add(5 * time.Hour)))},
	}
	since(9, "Available", metav1.ConditionTrue)(tdset)
	since(9, "Progressing", metav1.ConditionFalse)(tdset)
	since(9, "Degraded", metav1.ConditionFalse)(tdset)
	for _, change := range changes {
		change(tdset)
	}
	return tdset
}

// since sets a condition, as it has been since that hour of the day.
func since(hour int, kind string, status metav1.ConditionStatus) func(*schedulev2.TDSet) {
	return func(tdset *schedulev2.TDSet) {
		meta.SetStatusCondition(&tdset.Status.Conditions, metav1.Condition{
			Type: kind, Status: status, LastTransitionTime: metav1.NewTime(noon.Add(time.Duration(hour-12) * time.Hour)),
		})
	}
}

func in(namespace string) func(*schedulev2.TDSet) {
	return func(tdset *schedulev2.TDSet) { tdset.Namespace = namespace }
}

func allDay(tdset *schedulev2.TDSet) {
	tdset.Spec.Windows = []schedulev2.Window{{Name: "0-24", Start: "00:00", End: "24:00", Replicas: 5}}
	tdset.Status.ActiveWindow, tdset.Status.NextTransitionTime = "0-24", nil
}

func nowhere(tdset *schedulev2.TDSet) {
	tdset.Spec.TimeZone = "Europe/Atlantis"
	tdset.Status.ActiveWindow, tdset.Status.NextTransitionTime = "", nil
}

func terminating(tdset *schedulev2.TDSet) {
	tdset.DeletionTimestamp, tdset.Finalizers = new(metav1.NewTime(noon)), []string{"schedule.rs/drain"}
}

func tdsets(all ...*schedulev2.TDSet) []*schedulev2.TDSet { return all }

func many(count int) (all []*schedulev2.TDSet) {
	for i := range count {
		all = append(all, aTDSet(fmt.Sprint("web-", i)))
	}
	return all
}

// page returns the part of a scrape about one gauge, in Prometheus' text format. The keys of values
// are namespace/name.
func page(metric, help string, values map[string]float64) string {
	if len(values) == 0 {
		return ""
	}
	text := fmt.Sprintf("# HELP %s %s\n# TYPE %s gauge\n", metric, help, metric)
	for key, value := range values {
		namespace, name, _ := strings.Cut(key, "/")
		text += fmt.Sprintf("%s{name=%q,namespace=%q} %v\n", metric, name, namespace, value)
	}
	return text
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
