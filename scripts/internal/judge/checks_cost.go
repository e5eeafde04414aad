package judge

// What does the operator cost, and can it be observed?

import (
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/shirou/gopsutil/v4/process"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func costChecks() []Check {
	return []Check{
		{
			Name:    "endpoints",
			Promise: "the endpoints for metrics and probes respond",
			Why:     "Without probes, nothing restarts an operator that hangs. Without metrics, nobody notices.",
			Lesson:  "05-controller-runtime/more/production.md",
			needs:   "endpoints",
			judge:   endpointsRespond,
		},
		{
			Name:    "cost",
			Promise: "requests, CPU time and memory grow no faster than the number of objects",
			Why: "Code that is fine with ten objects may be quadratic, for example because the operator lists all " +
				"objects each time it works on one of them, or because its cache lacks an index.",
			Lesson: "02-informers/README.md",
			Alone:  true,
			needs:  "cost",
			judge:  costGrowsLinearly,
		},
	}
}

func endpointsRespond(s *scenario) {
	s.settles("observed")
	e := s.replicas[0].endpoints
	for name, url := range map[string]string{"metrics": e.Metrics, "healthz": e.Healthz, "readyz": e.Readyz} {
		if url == "" {
			continue
		}
		s.step("get %s", url)
		if err := s.get(url); err != nil {
			s.found(Error, []Evidence{noted("%v", err)}, "the endpoint %s doesn't respond", name)
		}
	}
}

func (s *scenario) get(url string) error {
	request, err := http.NewRequestWithContext(s.Context(), http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := (&http.Client{Timeout: 5 * time.Second}).Do(request)
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

// cost is what each of some objects costs the operator.
type cost struct {
	objects  int
	requests float64
	cpu      float64 // in ms
	memory   float64 // in KiB
}

func costGrowsLinearly(s *scenario) {
	r := s.start()
	s.ready("warm-up")
	var before cost
	made := 0
	for _, count := range s.config.Cost {
		c, ok := s.costOf(r, made, count)
		if !ok {
			break
		}
		if made > 0 {
			s.foundGrowth(before, c)
		}
		made += count
		before = c
	}
}

// foundGrowth is a finding for what each of many objects costs more than each of few. The limits
// leave room for chance: the garbage collector's heap doubles now and then, and a busy machine makes
// the same work take more CPU time.
func (s *scenario) foundGrowth(few, many cost) {
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
			s.found(Warning, []Evidence{
				noted("%d objects: %.1f %s for each", few.objects, measure.few, measure.unit),
				noted("%d objects: %.1f %s for each", many.objects, measure.many, measure.unit),
			}, "with more objects, each one costs more %s", measure.of)
		}
	}
}

// costOf creates that many samples, and returns what they cost until all are ready. If they don't
// become ready, that is a finding.
func (s *scenario) costOf(r *running, first, count int) (c cost, ok bool) {
	s.step("create %d samples", count)
	began, before := time.Now(), s.usage(r)
	samples := make([]*unstructured.Unstructured, count)
	var creating errgroup.Group
	creating.SetLimit(8)
	for i := range samples {
		sample := s.sample(fmt.Sprintf("cost-%d", first+i))
		creating.Go(func() (err error) {
			samples[i], err = s.api(sample).Create(s.Context(), sample, metav1.CreateOptions{FieldManager: manager})
			return err
		})
	}
	s.must(creating.Wait())
	limit := s.config.Limits.Converge + time.Duration(count)*100*time.Millisecond
	for _, sample := range samples {
		rest := max(limit-time.Since(began), time.Second)
		if err := s.within(rest, func() error { return s.isReady(sample) }); err != nil {
			sent := float64(s.usage(r).requests-before.requests) / float64(count)
			s.found(Error, append([]Evidence{noted("%.1f requests for each object so far; %v", sent, err)}, s.crashes()...),
				"%d samples that are created at once aren't ready within %v", count, limit)
			return c, false
		}
	}
	took := time.Since(began)
	s.awaitSettled()
	after := s.usage(r)
	each := func(value float64) float64 { return value / float64(count) }
	c = cost{
		objects:  count,
		requests: each(float64(after.requests - before.requests)),
		cpu:      each((after.cpu - before.cpu).Seconds() * 1000),
		memory:   each((float64(after.memory) - float64(before.memory)) / (1 << 10)),
	}
	s.measure("%d objects: %.1f requests, %.1f ms of CPU time and %.1f KiB of memory for each, all ready after %.1f s",
		count, c.requests, c.cpu, c.memory, took.Seconds())
	return c, true
}

// usage is what a replica has used so far.
type usage struct {
	requests int
	cpu      time.Duration
	memory   uint64 // in bytes
}

func (s *scenario) usage(r *running) usage {
	p, err := process.NewProcessWithContext(s.Context(), int32(r.PID()))
	s.must(err)
	times, err := p.TimesWithContext(s.Context())
	s.must(err)
	memory, err := p.MemoryInfoWithContext(s.Context())
	s.must(err)
	cpu := time.Duration((times.User + times.System) * float64(time.Second))
	return usage{len(r.Proxy.Requests()), cpu, memory.RSS}
}
