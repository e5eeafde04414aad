//go:build check || solution

// TestScheduleAt checks what scheduleAt returns. TestOneDay runs the program on a real API
// server, in stages. Each stage needs the ones before it. TestRetry checks what happens a minute
// after a failure, with testing/synctest, where waiting takes no time.
//
// As given, the program only reacts to events, and thinks that no window is ever active:
//
// fails: TestScheduleAt
// says: there is one window for the whole day, with 5 replicas, but scheduleAt returns 0
//
// fails: TestRetry
// says: no request in the minute after the failure, want another attempt
//
// fails: TestOneDay/the status says when all replicas are available
// says: tdsets "day" has the condition Ready: True AsScheduled from hour 7 to 9

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"example.com/operators/01-raw-watch/test/operatortest"
)

func TestMain(m *testing.M) { operatortest.Main(m, main) }

func TestScheduleAt(t *testing.T) {
	if replicas, _, _ := scheduleAt(TDSetSpec{SchedulingConfig: windows("0 to 24: 5")}, time.Now()); replicas != 5 {
		t.Fatalf("there is one window for the whole day, with 5 replicas, but scheduleAt returns %d", replicas) // the others would fail, too
	}
	for sentence, test := range map[string]struct {
		windows      []Scheduling // the default is 1 replica
		at           string
		wantReplicas int32
		wantWindow   int
		wantNext     string
	}{
		"no windows: the default, forever":                                     {nil, "2026-03-02T12:00:00Z", 1, noWindow, "never"},
		"before a window: the default, until it begins":                        {windows("9 to 17: 5"), "2026-03-02T08:59:59.999Z", 1, noWindow, "2026-03-02T09:00:00Z"},
		"a window begins with its first hour":                                  {windows("9 to 17: 5"), "2026-03-02T09:00:00Z", 5, 0, "2026-03-02T17:00:00Z"},
		"a window ends when the hour of its end begins":                        {windows("9 to 17: 5"), "2026-03-02T17:00:00Z", 1, noWindow, "2026-03-03T09:00:00Z"},
		"hours are in UTC, even if the instant is in another zone":             {windows("9 to 17: 5"), "2026-03-02T14:15:00+05:30", 1, noWindow, "2026-03-02T09:00:00Z"},
		"the last hour of the day, with an end of 24":                          {windows("19 to 24: 2"), "2026-03-02T23:59:59Z", 2, 0, "2026-03-03T00:00:00Z"},
		"the last hour of the day, with an end of 0":                           {windows("19 to 0: 2"), "2026-03-02T23:59:59Z", 2, 0, "2026-03-03T00:00:00Z"},
		"a window past midnight, in the evening":                               {windows("22 to 6: 2"), "2026-03-02T22:30:00Z", 2, 0, "2026-03-03T06:00:00Z"},
		"a window past midnight, in the morning":                               {windows("22 to 6: 2"), "2026-03-02T05:30:00Z", 2, 0, "2026-03-02T06:00:00Z"},
		"a window past midnight isn't active at noon":                          {windows("22 to 6: 2"), "2026-03-02T12:00:00Z", 1, noWindow, "2026-03-02T22:00:00Z"},
		"the whole day: nothing ever changes":                                  {windows("0 to 24: 2"), "2026-03-02T12:00:00Z", 2, 0, "never"},
		"a window may have 0 replicas":                                         {windows("0 to 6: 0"), "2026-03-02T03:00:00Z", 0, 0, "2026-03-02T06:00:00Z"},
		"where windows overlap, the first in the list is active until it ends": {windows("12 to 14: 8", "9 to 17: 5"), "2026-03-02T12:30:00Z", 8, 0, "2026-03-02T14:00:00Z"},
		"where windows overlap, the second is active until the first begins":   {windows("12 to 14: 8", "9 to 17: 5"), "2026-03-02T10:00:00Z", 5, 1, "2026-03-02T12:00:00Z"},
		"the end of an overlapped window is no change":                         {windows("9 to 17: 5", "8 to 12: 3"), "2026-03-02T10:00:00Z", 5, 0, "2026-03-02T17:00:00Z"},
		"another window with the same number of replicas is a change, too":     {windows("9 to 12: 5", "12 to 17: 5"), "2026-03-02T10:00:00Z", 5, 0, "2026-03-02T12:00:00Z"},
		"on the last day of a year, the next change is in the next year":       {windows("9 to 17: 5"), "2026-12-31T18:00:00Z", 1, noWindow, "2027-01-01T09:00:00Z"},
	} {
		t.Run(sentence, func(t *testing.T) {
			at, err := time.Parse(time.RFC3339, test.at)
			if err != nil {
				t.Fatal(err)
			}
			replicas, window, next := scheduleAt(TDSetSpec{SchedulingConfig: test.windows, DefaultReplica: 1}, at)

			if replicas != test.wantReplicas {
				t.Errorf("got %d replicas, want %d", replicas, test.wantReplicas)
			}
			if window != test.wantWindow {
				t.Errorf("the active window is %d, want %d", window, test.wantWindow)
			}
			got := "never"
			if !next.IsZero() {
				got = next.UTC().Format(time.RFC3339Nano)
			}
			if got != test.wantNext {
				t.Errorf("the next change is %s, want %s", got, test.wantNext)
			}
		})
	}
}

// windows reads windows such as "9 to 17: 5", with 5 replicas.
func windows(written ...string) []Scheduling {
	windows := make([]Scheduling, len(written))
	for i, text := range written {
		w := &windows[i]
		if _, err := fmt.Sscanf(text, "%d to %d: %d", &w.StartTime, &w.EndTime, &w.Replica); err != nil {
			panic(err)
		}
	}
	return windows
}

// There is one TDSet, and every request for it fails.
func TestRetry(t *testing.T) {
	klog.SetLogger(klog.Logger{}) // the program's log would only hide what the test reports
	synctest.Test(t, func(t *testing.T) {
		failed := 0
		c, err := newController(&rest.Config{Transport: transport(func(r *http.Request) (*http.Response, error) {
			switch list := `{"metadata": {"resourceVersion": "1"}, "items": [%s]}`; {
			case r.URL.Query().Get("watch") != "": // there is no event
				<-r.Context().Done()
				return nil, r.Context().Err()
			case strings.HasSuffix(r.URL.Path, "/tdsets"):
				return answer(fmt.Sprintf(list, `{"metadata": {"namespace": "temp", "name": "a"}}`)), nil
			case strings.HasSuffix(r.URL.Path, "/deployments"):
				return answer(fmt.Sprintf(list, "")), nil
			}
			failed++
			return nil, errors.New("the server is down")
		})}, "", shiftedClock{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go c.run(ctx)
		defer synctest.Wait()
		defer cancel()
		failures := func(within time.Duration) int {
			before := failed
			time.Sleep(within)
			synctest.Wait()
			return failed - before
		}
		if failures(0) == 0 {
			t.Fatal("run doesn't call syncHandler for the TDSet")
		}
		if more := failures(time.Second); more > 0 {
			t.Errorf("%d requests in the second after the failure, want none", more)
		}
		if failures(time.Minute) == 0 {
			t.Error("no request in the minute after the failure, want another attempt")
		}
	})
}

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

func answer(body string) *http.Response {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body))}
}

const othersDeployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: theirs}, spec: {selector: {matchLabels: {app: theirs}},
	template: {metadata: {labels: {app: theirs}}, spec: {containers: [{name: app, image: nginx}]}}}}`

func TestOneDay(t *testing.T) {
	const example = "manifests/tdset.yaml" // from 7 to 9 it asks for 3 replicas, and from 9 to 17 for 5
	stage := operatortest.Start(t, "manifests/crd.yaml", "--now=2026-03-02T08:59:53Z")
	stage("a TDSet gets its Deployment, with the replicas of the hour", func(t *operatortest.T) {
		t.Create("tdsets", example, "metadata.name=day")
		t.Has("deployments", "day", ".spec.replicas", "3")
		t.IsOwnedBy("deployments", "day", "TDSet day")
	})
	stage("so does another one, whose next boundary is later", func(t *operatortest.T) {
		t.Create("tdsets", example, "metadata.name=late", "spec.schedulingConfig=[{startTime: 20, endTime: 22, replica: 2}]")
		t.IsOwnedBy("deployments", "late", "TDSet late")
	})
	stage("the status says when all replicas are available", func(t *operatortest.T) {
		t.HasCondition("tdsets", "day", "Ready", "True AsScheduled from hour 7 to 9")
		t.Has("tdsets", "day", ".status.observedGeneration", "1")
	})
	stage("at nine, the Deployment is scaled, although no object has changed", func(t *operatortest.T) {
		t.Has("deployments", "day", ".spec.replicas", "5")
		t.HasCondition("tdsets", "day", "Ready", "True AsScheduled from hour 9 to 17")
	})
	stage("between two boundaries, nothing is written", func(t *operatortest.T) {
		written := t.Get("tdsets", "day", ".metadata.resourceVersion")
		spec := t.Get("deployments", "day", ".metadata.generation")
		time.Sleep(2 * time.Second)
		t.Has("tdsets", "day", ".metadata.resourceVersion", written)
		t.Has("deployments", "day", ".metadata.generation", spec)
	})
	stage("a new image is rolled out", func(t *operatortest.T) {
		t.Patch("tdsets", "day", `{"spec": {"container": {"image": "another"}}}`)
		t.Has("deployments", "day", ".spec.template.spec.containers[0].image", "another")
	})
	stage("a new schedule applies at once", func(t *operatortest.T) {
		t.Patch("tdsets", "day", `{"spec": {"schedulingConfig": [{"startTime": 8, "endTime": 20, "replica": 7}]}}`)
		t.Has("deployments", "day", ".spec.replicas", "7")
	})
	stage("a manual change is reverted, but the fields that others have added stay", func(t *operatortest.T) {
		t.Patch("deployments", "day", `{"metadata": {"annotations": {"team": "blue"}}, "spec": {"replicas": 1}}`)
		t.Has("deployments", "day", ".spec.replicas", "7")
		t.Has("deployments", "day", ".metadata.annotations.team", "blue")
	})
	stage("a deleted Deployment is created again", func(t *operatortest.T) {
		before := t.Get("deployments", "day", ".metadata.uid")
		t.Delete("deployments", "day")
		t.Changes("deployments", "day", ".metadata.uid", before)
	})
	stage("someone else's Deployment is left alone, and the status says so", func(t *operatortest.T) {
		t.Create("deployments", othersDeployment)
		t.Create("tdsets", example, "metadata.name=theirs")
		t.HasCondition("tdsets", "theirs", "Ready", "False ErrResourceExists")
		t.Has("deployments", "theirs", ".spec.replicas", "1")
		t.Has("deployments", "theirs", ".metadata.ownerReferences", "")
	})
	stage("once it is deleted, the TDSet gets its own", func(t *operatortest.T) {
		// The status above is a write, and so an event. When a TDSet that is created after it has its
		// Deployment, that event was handled.
		t.Create("tdsets", example, "metadata.name=another")
		t.IsOwnedBy("deployments", "another", "TDSet another")
		t.Delete("deployments", "theirs")
		t.IsOwnedBy("deployments", "theirs", "TDSet theirs")
	})
	stage("the status says why a write is refused", func(t *operatortest.T) {
		t.Create("resourcequotas", `{apiVersion: v1, kind: ResourceQuota, metadata: {name: none}, spec: {hard: {count/deployments.apps: "0"}}}`)
		t.Has("resourcequotas", "none", `.status.hard.count/deployments\.apps`, "0") // it is in force
		t.Create("tdsets", example, "metadata.name=unlucky")
		t.HasCondition("tdsets", "unlucky", "Ready", "False Refused")
		t.Delete("resourcequotas", "none")
	})
	stage("a TDSet that is being deleted gets nothing", func(t *operatortest.T) {
		t.Patch("tdsets", "day", `{"metadata": {"finalizers": ["example.com/wait"]}}`)
		defer t.Patch("tdsets", "day", `{"metadata": {"finalizers": null}}`) // even if the test fails
		t.Delete("tdsets", "day")
		t.Delete("deployments", "day")
		// When a TDSet that is created after that has its Deployment, the deletion was handled.
		t.Create("tdsets", example, "metadata.name=last")
		t.IsOwnedBy("deployments", "last", "TDSet last")
		t.IsGone("deployments", "day")
	})
}
