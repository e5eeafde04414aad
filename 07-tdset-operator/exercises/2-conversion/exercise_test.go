//go:build check || solution

// These tests check what ConvertTo and ConvertFrom promise. Between the two, they encode each Worker as
// JSON and decode it again, as the API server does.
//
// As given, v1 keeps nothing that it can't express. `workshop test` checks these failures:
//
// fails: TestConvertTo/no drain
// says: got {"metadata":{},"spec":{"image":"a","replicas":{"min":3,"max":3},"drain":"0s"}}; want
//
// fails: TestConvertFrom/a range
// says: got the annotation: false; want true
//
// fails: TestConvertFrom/one and a half seconds
// says: got the annotation: false; want true
//
// fails: TestEdits/nothing
// says: got {"metadata":{"annotations":{"team":"blue"}},"spec":{"image":"a","replicas":{"min":5,"max":5},"drain":"1s"}
//
// fails: TestEdits/the replicas
// says: got {"metadata":{"annotations":{"team":"blue"}},"spec":{"image":"a","replicas":{"min":4,"max":4},"drain":"1s"}
//
// fails: TestEdits/the drain
// says: got {"metadata":{"annotations":{"team":"blue"}},"spec":{"image":"a","replicas":{"min":5,"max":5},"drain":"9s"}
//
// fails: TestEdits/the drain is removed
// says: got {"metadata":{"annotations":{"team":"blue"}},"spec":{"image":"a","replicas":{"min":5,"max":5},"drain":"0s"}
//
// fails: TestEdits/our annotation is spoilt
// says: got {"metadata":{"annotations":{"team":"blue"}},"spec":{"image":"a","replicas":{"min":5,"max":5},"drain":"1s"}
//
// fails: TestEdits/our annotation is null
// says: got {"metadata":{"annotations":{"team":"blue"}},"spec":{"image":"a","replicas":{"min":5,"max":5},"drain":"1s"}
//
// fails: TestTheSourceStays/ConvertTo
// says: got the annotations map[]; want map[workers.example.com/v2:]

package conversion

import (
	"encoding/json"
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
)

// controller-runtime serves the conversion of these types.
var (
	_ conversion.Hub         = &WorkerV2{}
	_ conversion.Convertible = &WorkerV1{}
)

func TestConvertTo(t *testing.T) {
	for sentence, test := range map[string]struct {
		v1   *WorkerV1
		want *WorkerV2
	}{
		"all fields": {v1(3, new(int64(30))), v2(3, 3, 30*time.Second)},
		"no drain":   {v1(3, nil), v2(3, 3, -1)},
	} {
		t.Run(sentence, func(t *testing.T) {
			from, got := asJSON(t, test.v1), &WorkerV2{}
			if err := test.v1.ConvertTo(got); err != nil {
				t.Fatal(err)
			}
			compare(t, from, got, test.want)
		})
	}
}

func TestConvertFrom(t *testing.T) {
	for sentence, test := range map[string]struct {
		v2       *WorkerV2
		want     *WorkerV1
		wantKept bool
	}{
		"no drain":               {v2(3, 3, -1), v1(3, nil), false},
		"a range":                {v2(2, 5, 30*time.Second), v1(5, new(int64(30))), true},
		"one and a half seconds": {v2(3, 3, 1500*time.Millisecond), v1(3, new(int64(2))), true},
	} {
		t.Run(sentence, func(t *testing.T) {
			from, got := asJSON(t, test.v2), &WorkerV1{}
			if err := got.ConvertFrom(test.v2); err != nil {
				t.Fatal(err)
			}
			if _, isKept := got.Annotations[keptV2]; isKept != test.wantKept {
				t.Errorf("got the annotation: %t; want %t\nconverted from %s", isKept, test.wantKept, from)
			}
			got.Annotations = nil
			compare(t, from, got, test.want)
		})
	}
}

// An old client reads a Worker in v1, edits it, and sends it back.
func TestEdits(t *testing.T) {
	original := func() *WorkerV2 { return annotated(v2(2, 5, 1500*time.Millisecond), "team", "blue") }
	drain := func(worker *WorkerV2, drain time.Duration) *WorkerV2 {
		worker.Spec.Drain = &metav1.Duration{Duration: drain}
		return worker
	}
	// forged sets the drain, and the annotation to that of a Worker that the API server refuses.
	forged := func(drainSeconds int64, refused *WorkerV2) func(*WorkerV1) {
		view := &WorkerV1{}
		if err := view.ConvertFrom(refused); err != nil {
			t.Fatal(err)
		}
		return func(w *WorkerV1) {
			w.Spec.DrainSeconds, w.Annotations[keptV2] = &drainSeconds, view.Annotations[keptV2]
		}
	}
	for sentence, test := range map[string]struct {
		edit func(*WorkerV1)
		want *WorkerV2
	}{
		"nothing":                  {func(*WorkerV1) {}, original()},
		"the replicas":             {func(w *WorkerV1) { w.Spec.Replicas = 4 }, replicas(original(), 4, 4)},
		"the drain":                {func(w *WorkerV1) { w.Spec.DrainSeconds = new(int64(9)) }, drain(original(), 9*time.Second)},
		"the drain is removed":     {func(w *WorkerV1) { w.Spec.DrainSeconds = nil }, annotated(v2(2, 5, -1), "team", "blue")},
		"our annotation is spoilt": {func(w *WorkerV1) { w.Annotations[keptV2] = "{" }, drain(replicas(original(), 5, 5), 2*time.Second)},
		"our annotation is null":   {func(w *WorkerV1) { w.Annotations[keptV2] = "null" }, drain(replicas(original(), 5, 5), 2*time.Second)},

		"our annotation has a range from 9 to 5":  {forged(2, v2(9, 5, 2*time.Second)), drain(replicas(original(), 5, 5), 2*time.Second)},
		"our annotation has a range from -1 to 5": {forged(2, v2(-1, 5, 2*time.Second)), drain(replicas(original(), 5, 5), 2*time.Second)},
		"our annotation has a drain of -500ms":    {forged(0, drain(v2(5, 5, 0), -500*time.Millisecond)), drain(replicas(original(), 5, 5), 0)},
	} {
		t.Run(sentence, func(t *testing.T) {
			view := &WorkerV1{}
			if err := view.ConvertFrom(original()); err != nil {
				t.Fatal(err)
			}
			view = overTheWire(t, view, &WorkerV1{})
			test.edit(view)
			from, got := asJSON(t, view), &WorkerV2{}
			if err := view.ConvertTo(got); err != nil {
				t.Fatal(err)
			}
			compare(t, from, got, test.want)
		})
	}
}

// What is converted may be in a cache, so it must stay as it is.
func TestTheSourceStays(t *testing.T) {
	t.Run("ConvertFrom", func(t *testing.T) {
		source := annotated(v2(2, 5, time.Second), "team", "blue")
		from := asJSON(t, source)
		if err := new(WorkerV1).ConvertFrom(source); err != nil {
			t.Fatal(err)
		}
		compare(t, from, source, annotated(v2(2, 5, time.Second), "team", "blue"))
	})
	t.Run("ConvertTo", func(t *testing.T) {
		view := &WorkerV1{}
		if err := view.ConvertFrom(v2(2, 5, time.Second)); err != nil {
			t.Fatal(err)
		}
		withAnnotation(view, keptV2, view.Annotations[keptV2]) // as given, there is none
		before := maps.Clone(view.Annotations)
		if err := view.ConvertTo(&WorkerV2{}); err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(view.Annotations, before) {
			t.Errorf("got the annotations %v; want %v", view.Annotations, before)
		}
	})
}

// compare fails the test unless got and want are the same. from is what got was converted from, as
// JSON.
func compare(t *testing.T, from string, got, want any) {
	t.Helper()
	if !cmp.Equal(got, want) {
		t.Errorf("got %s; want %s\nconverted from %s", asJSON(t, got), asJSON(t, want), from)
	}
}

func asJSON(t *testing.T, worker any) string {
	t.Helper()
	content, err := json.Marshal(worker)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// overTheWire encodes from as JSON and decodes it, as the API server does.
func overTheWire[T any](t *testing.T, from, to T) T {
	t.Helper()
	content, err := json.Marshal(from)
	if err := errors.Join(err, json.Unmarshal(content, to)); err != nil {
		t.Fatal(err)
	}
	return to
}

func v1(replicas int32, drainSeconds *int64) *WorkerV1 {
	return &WorkerV1{Spec: WorkerV1Spec{Image: "a", Replicas: replicas, DrainSeconds: drainSeconds}}
}

// v2 makes a Worker without drain if that is negative.
func v2(least, most int32, drain time.Duration) *WorkerV2 {
	worker := &WorkerV2{Spec: WorkerV2Spec{Image: "a", Replicas: Range{least, most}}}
	if drain >= 0 {
		worker.Spec.Drain = &metav1.Duration{Duration: drain}
	}
	return worker
}

func withAnnotation(worker *WorkerV1, key, value string) *WorkerV1 {
	metav1.SetMetaDataAnnotation(&worker.ObjectMeta, key, value)
	return worker
}

func annotated(worker *WorkerV2, key, value string) *WorkerV2 {
	metav1.SetMetaDataAnnotation(&worker.ObjectMeta, key, value)
	return worker
}

func replicas(worker *WorkerV2, least, most int32) *WorkerV2 {
	worker.Spec.Replicas = Range{least, most}
	return worker
}
