package judge

// What does the operator cost, and can it be observed?

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/shirou/gopsutil/v4/process"
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
			requires: func(config *Config) string {
				if config.Endpoints == (Endpoints{}) {
					return "judge.yaml has no endpoints"
				}
				return ""
			},
			judge: endpointsRespond,
		},
		{
			Name:    "cost",
			Promise: "requests, CPU time and memory grow no faster than the number of objects",
			Why: "Code that is fine with ten objects may be quadratic, for example because the operator lists all " +
				"objects each time it works on one of them, or because its cache lacks an index.",
			Lesson: "02-informers/README.md",
			Alone:  true,
			requires: func(config *Config) string {
				if len(config.Cost) == 0 {
					return "judge.yaml has no cost"
				}
				return ""
			},
			judge: costGrowsLinearly,
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
		code, body, err := s.get(url)
		if err != nil || code >= 300 {
			s.find(Error, []Evidence{{At: time.Now(), Text: fmt.Sprintf("GET %s: status %d, error %v", url, code, err), Detail: body}}, "the endpoint %s doesn't respond", name)
		}
	}
}

func (s *scenario) get(url string) (code int, body string, err error) {
	request, err := http.NewRequestWithContext(s.Context(), http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	response, err := (&http.Client{Timeout: 5 * time.Second}).Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(io.LimitReader(response.Body, 2000))
	return response.StatusCode, string(content), err
}

// cost is what some objects cost the operator.
type cost struct {
	objects  int
	requests int
	cpu      time.Duration
	before   uint64 // memory in bytes, without these objects
	rss      uint64 // and with them
	took     time.Duration
}

func (c cost) perObject(value float64) float64 { return value / float64(c.objects) }

// grown is how many KiB of memory the objects need.
func (c cost) grown() float64 { return (float64(c.rss) - float64(c.before)) / (1 << 10) }

func costGrowsLinearly(s *scenario) {
	r := s.start()
	s.awaits(s.create(s.sample("warm-up")))
	var costs []cost
	made := 0
	for _, count := range s.config.Cost {
		c, ok := s.costOf(r, made, count)
		if !ok {
			break
		}
		made += count
		costs = append(costs, c)
		s.measure(fmt.Sprintf("%d objects: requests per object", count), c.perObject(float64(c.requests)), "")
		s.measure(fmt.Sprintf("%d objects: CPU time per object", count), c.perObject(c.cpu.Seconds()*1000), "ms")
		s.measure(fmt.Sprintf("%d objects: memory", count), float64(c.rss)/(1<<20), "MiB")
		s.measure(fmt.Sprintf("%d objects: time until all are ready", count), c.took.Seconds(), "s")
	}
	for i := 1; i < len(costs); i++ {
		s.foundGrowth(costs[i-1], costs[i])
	}
}

// foundGrowth is a finding for what each of many objects costs more than each of few. The limits
// leave room for chance: the garbage collector's heap doubles now and then, and a busy machine makes
// the same work take more CPU time.
func (s *scenario) foundGrowth(few, many cost) {
	for _, measure := range []struct {
		of          string
		few, many   float64 // per object
		times, plus float64
		unit        string
	}{
		{"requests", few.perObject(float64(few.requests)), many.perObject(float64(many.requests)), 2, 1, "requests"},
		{"CPU time", few.perObject(few.cpu.Seconds() * 1000), many.perObject(many.cpu.Seconds() * 1000), 3, 10, "ms"},
		{"memory", few.perObject(few.grown()), many.perObject(many.grown()), 4, 100, "KiB"},
	} {
		if measure.many > measure.times*max(measure.few, 0)+measure.plus {
			s.find(Warning, []Evidence{
				{At: time.Now(), Text: fmt.Sprintf("%d objects: %.1f %s for each", few.objects, measure.few, measure.unit)},
				{At: time.Now(), Text: fmt.Sprintf("%d objects: %.1f %s for each", many.objects, measure.many, measure.unit)},
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
	var creating sync.WaitGroup
	slots := make(chan struct{}, 8)
	errs := make(chan error, count)
	for i := range count {
		slots <- struct{}{}
		creating.Go(func() {
			defer func() { <-slots }()
			sample := s.sample(fmt.Sprintf("cost-%d", first+i))
			created, err := s.api(sample).Create(s.Context(), sample, metav1.CreateOptions{FieldManager: manager})
			samples[i] = created
			errs <- err
		})
	}
	creating.Wait()
	close(errs)
	for err := range errs {
		s.must(err)
	}
	limit := s.config.Limits.Converge.Duration + time.Duration(count)*100*time.Millisecond
	for _, sample := range samples {
		if err := s.within(max(limit-time.Since(began), time.Second), func() error { return s.isReady(sample) }); err != nil {
			sent := float64(len(r.Proxy.Requests())-before.requests) / float64(count)
			s.find(Error, append([]Evidence{{At: time.Now(), Text: fmt.Sprintf("%.1f requests for each object so far; %v", sent, err)}}, s.crashes()...),
				"%d samples that are created at once aren't ready within %v", count, limit)
			return cost{}, false
		}
	}
	took := time.Since(began)
	if err := s.settle(time.Now().Add(s.config.Limits.Converge.Duration)); err != nil {
		s.unable("%v", err)
	}
	after := s.usage(r)
	return cost{objects: count, requests: after.requests - before.requests, cpu: after.cpu - before.cpu, before: before.rss, rss: after.rss, took: took}, true
}

// usage is what the replica has used so far.
func (s *scenario) usage(r *running) (c cost) {
	c.requests = len(r.Proxy.Requests())
	p, err := process.NewProcessWithContext(s.Context(), int32(r.PID()))
	s.must(err)
	times, err := p.TimesWithContext(s.Context())
	s.must(err)
	c.cpu = time.Duration((times.User + times.System) * float64(time.Second))
	memory, err := p.MemoryInfoWithContext(s.Context())
	s.must(err)
	c.rss = memory.RSS
	return c
}
