package judge

// What does the operator cost, and can it be observed?

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"time"

	"github.com/shirou/gopsutil/v4/load"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func costChecks() []Check {
	return []Check{
		{
			Name:      "endpoints",
			Promise:   "the endpoints for metrics and probes respond",
			Why:       "Without probes, nothing restarts an operator that hangs. Without metrics, nobody notices.",
			Fix:       "Serve metrics and probes on the addresses in judge.yaml.",
			Lesson:    "05-controller-runtime/more/production.md",
			requires:  "endpoints",
			ofProgram: true,
			run:       endpointsRespond,
		},
		{
			Name:     "cost",
			Promise:  "requests, CPU time and memory grow no faster than the number of objects",
			Why:      "Code that is fine with ten objects may be quadratic, for example because its cache lacks an index.",
			Fix:      "Use an index of the cache instead of a list of all objects and set client-go's limit (config.QPS) to -1.",
			Lesson:   "02-informers/README.md",
			Alone:    true,
			requires: "cost",
			run:      costGrowsLinearly,
		},
	}
}

func endpointsRespond(s *scenario) {
	s.startWith("observed")
	for name, url := range s.config.Endpoints {
		url = s.replicas[0].replace(url)
		s.step("get %s", url)
		if err := get(url); err != nil {
			s.found(Error, []Evidence{noted("%v", err)}, "the endpoint %s doesn't respond", name)
		}
	}
}

func get(url string) error {
	response, err := (&http.Client{Timeout: 5 * time.Second}).Get(url)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		content, _ := io.ReadAll(io.LimitReader(response.Body, 2000))
		return fmt.Errorf("GET %s: %s: %s", url, response.Status, content)
	}
	return nil
}

func costGrowsLinearly(s *scenario) {
	r := s.start()
	s.ready("warm-up")
	var few usage
	made := 0
	for _, count := range s.config.Cost {
		many, ok := s.costOf(r, made, count)
		if !ok {
			break
		}
		if made > 0 {
			s.foundGrowth(few, many, count)
		}
		made += count
		few = many
	}
}

// foundGrowth is a finding for what each of many objects costs more than each of few. The limits allow
// for a heap that doubles now and then, and for a busy machine, which needs more CPU time.
func (s *scenario) foundGrowth(few, many usage, count int) {
	for _, measure := range []struct {
		of          string
		few, many   float64
		times, plus float64
		unit        string
	}{
		{"requests", few.requests, many.requests, 2, 1, "requests"},
		{"CPU time", few.cpu, many.cpu, 3, 10, "ms"},
		{"memory", few.memory, many.memory, 4, 100, "KiB"},
	} {
		if measure.many > measure.times*max(measure.few, 0)+measure.plus {
			evidence := noted("%.1f %s for each of %d objects, and %.1f %s for each of those before them",
				measure.many, measure.unit, count, measure.few, measure.unit)
			s.found(Warning, []Evidence{evidence}, "with more objects, each one costs more %s", measure.of)
		}
	}
}

// costOf creates that many samples, and returns what each has cost until all are ready. If they don't
// become ready, that is a finding.
func (s *scenario) costOf(r *replica, first, count int) (each usage, ok bool) {
	s.step("create %d samples", count)
	began, before := time.Now(), s.usage(r)
	samples := make([]*unstructured.Unstructured, count)
	var creating errgroup.Group
	creating.SetLimit(8)
	for i := range samples {
		sample := s.sample(fmt.Sprintf("cost-%d", first+i))
		creating.Go(func() (err error) {
			samples[i], err = s.api(sample).Create(s.ctx, sample, metav1.CreateOptions{FieldManager: manager})
			return err
		})
	}
	s.must(creating.Wait())
	limit := s.config.Limits.Converge + time.Duration(count)*100*time.Millisecond
	for _, sample := range samples {
		rest := max(limit-time.Since(began), time.Second)
		if err := s.within(rest, func() error { return s.isReady(sample) }); err != nil {
			if average, err := load.AvgWithContext(s.ctx); err == nil && average.Load1 > 2*float64(runtime.NumCPU()) {
				s.unable("samples aren't ready within %v, but this machine is busy: its load is %.0f", limit, average.Load1)
			}
			s.needs(s.havePods(sample)) // a node has room for 110 Pods
			sent := s.usage(r).forEach(count, before).requests
			s.found(Error, append([]Evidence{noted("%.1f requests for each object so far; %v", sent, err)}, s.crashes()...),
				"%d samples that are created at once aren't ready within %v", count, limit)
			return each, false
		}
	}
	took := time.Since(began)
	s.needs(s.settle())
	each = s.usage(r).forEach(count, before)
	s.measure("%d objects: %.1f requests, %.1f ms of CPU time and %.1f KiB of memory for each, all ready after %.1f s",
		count, each.requests, each.cpu, each.memory, took.Seconds())
	return each, true
}
