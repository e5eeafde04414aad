package lens

// What a program does about a key, from its log: the key waits in the queue, a reconcile call works
// on it, and the key may wait again, for its next try or for the time that the call asked for.
//
// Each chapter's log tells another part of that. Chapters 01 and 02 have no queue. 03 and 04 log
// when an event queues a key. controller-runtime (05 to 07) doesn't, so there, lens works it out when
// the work begins, from the events since the previous work on the key.

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

const workedOut = " controller-runtime doesn't log its queue, so this is worked out from the events and " +
	"from the reconcile calls."

// logged is called with each line of a program's log.
func (o *Observer) logged(by, line string) {
	e, ok := parseLine(line, time.Now())
	if !ok {
		return
	}
	o.mutex.Lock()
	defer o.mutex.Unlock()
	p := o.program(by)
	switch {
	case e.message == "Starting":
		o.started(p, milliseconds(e.at))
	case e.message == "received request":
		o.called(p, e)
	case e.message == "wrote response":
		o.answered(p, e)
	case e.message == "Event received":
		o.handled(p, e)
	case e.message == "Key queued":
		p.retries = itsOwnQueue
		o.queued(p, e)
	case e.message == "Work started", e.message == "Reconciling":
		if e.message == "Reconciling" {
			p.retries = framework
		}
		o.workStarted(p, e)
	case e.message == "Work finished", e.message == "Reconciler error", e.message == "Reconcile successful",
		strings.HasPrefix(e.message, requeueing):
		o.workFinished(p, e)
	}
}

// requeueing begins the message about a reconcile call that asked to be called again.
const requeueing = "Reconcile done, requeueing after "

// started is called when a program starts. Whatever it did before has ended.
func (o *Observer) started(p *programState, at float64) {
	for key, state := range p.keys {
		o.claimRequests(p, key, state.working, at)
		for _, lasts := range []int{state.working, state.queued, state.waiting} {
			o.end(lasts, at, " The program exited before this was finished.")
		}
	}
	clear(p.keys)
	clear(p.arrivals)
	p.logged = 0
}

// handled is called when an event handler has got an event.
func (o *Observer) handled(p *programState, e entry) {
	namespace, name, _ := strings.Cut(e.values["object"], "/")
	target := object{plural(e.values["kind"]), namespace, name}
	arrived := of(p.arrivals, version{target, e.values["resourceVersion"]})
	p.logged = cmp.Or(arrived.by, arrived.event)
	if managed, found := o.managed(target); found {
		of(p.keys, managed.key()).logged = p.logged
	}
}

// queued is called when an event handler has queued a key. It is in the queue only once.
func (o *Observer) queued(p *programState, e entry) {
	key := of(p.keys, e.key())
	if key.queued == 0 {
		key.queued = o.waits(p, e.key(), milliseconds(e.at), e.key(), fmt.Sprintf("The key %s waits for a worker.", e.key()))
	} else {
		o.Recorder.Update(key.queued, func(item *Item) {
			item.Explain += " Meanwhile it was queued again, but the queue still holds it only once."
		})
	}
	o.Recorder.Cause(p.logged, key.queued)
}

// waits adds an item to the lane of the queue, which lasts.
func (o *Observer) waits(p *programState, key string, from float64, label, explain string) int {
	if p.retries == framework {
		explain += workedOut
	}
	return o.Recorder.Add(Item{Lane: Queue, Program: p.name, At: from, Object: key, Label: label, Explain: explain})
}

// workStarted is called when a reconcile call begins.
func (o *Observer) workStarted(p *programState, e entry) {
	name, at := e.key(), milliseconds(e.at)
	key := of(p.keys, name)
	if p.retries == framework && len(key.news) > 0 {
		since := min(at, o.Recorder.Get(key.news[0]).Until)
		key.queued = o.waits(p, name, since, name, fmt.Sprintf("The key %s waits for a worker.", name))
		for _, event := range key.news {
			o.Recorder.Cause(event, key.queued)
		}
	}
	// In controller-runtime's queue, an event also ends the wait for a retry. In client-go's, the
	// retry follows anyway, unless it was due while the key was queued and has merged with it.
	cause := cmp.Or(key.queued, key.waiting)
	o.end(key.queued, at, "")
	if key.queued == 0 || p.retries == framework || at >= key.due {
		o.end(key.waiting, at, "")
		key.waiting = 0
	}
	if p.retries == never {
		cause = cmp.Or(key.logged, p.logged)
	}
	key.news, key.logged, key.queued = nil, 0, 0
	key.working = o.Recorder.Add(Item{
		Lane: Work, Program: p.name, At: at, Object: name, Label: name,
		Explain: fmt.Sprintf("%s compares the actual state of %s with its desired state.", p.name, name),
	})
	o.Recorder.Cause(cause, key.working)
}

// workFinished is called when a reconcile call has ended.
func (o *Observer) workFinished(p *programState, e entry) {
	name, at := e.key(), milliseconds(e.at)
	key := of(p.keys, name)
	work := key.working
	if work == 0 {
		return // it began before lens did
	}
	key.working = 0
	requests := o.claimRequests(p, name, work, at)
	failure := cmp.Or(e.values["err"], e.values["error"])
	if failure == "" || failure == "null" { // which is how klog writes nil
		key.failures = 0
		explain := ""
		if requests == 0 {
			explain = " It sent no request, because there was nothing to do."
		}
		o.end(work, at, explain)
		if text, isRequeue := strings.CutPrefix(e.message, requeueing); isRequeue {
			exact, _ := time.ParseDuration(text)
			after := exact.Round(time.Millisecond)
			o.waitsAgain(p, e, work, fmt.Sprintf("%s, after %v", name, after),
				fmt.Sprintf("The reconcile call asked to process %s again after %v, unless an event comes first.", name, after))
		}
		return
	}
	key.failures++
	conflict, because := isConflict(failure), " It failed."
	if conflict {
		because = conflicted
	}
	o.Recorder.Update(work, func(item *Item) { item.Failed, item.Conflict, item.Detail = true, conflict, failure })
	if p.retries == never {
		o.end(work, at, because+" Nothing retries it before the next event.")
		return
	}
	o.end(work, at, because+" It will be retried.")
	o.waitsAgain(p, e, work, fmt.Sprintf("%s, failure %d", name, key.failures),
		fmt.Sprintf("The work on %s has failed (failure %d in a row). Its key waits for its next try, "+
			"twice as long after each failure, or until an earlier retry is due.", name, key.failures))
	o.Recorder.Update(key.waiting, func(item *Item) { item.Failed, item.Conflict = true, conflict })
	// The chapters' backoff: 5 ms, twice as long after each failure, up to a minute.
	key.due = at + math.Min(5*math.Pow(2, float64(key.failures-1)), 60_000)
}

// isConflict reports whether an error says that an object had changed, or had been created, since it
// was read: the API server's texts for 409.
func isConflict(failure string) bool {
	return strings.Contains(failure, "Operation cannot be fulfilled on ") || strings.HasSuffix(failure, " already exists")
}

// waitsAgain shows that a key waits since the end of a reconcile call.
func (o *Observer) waitsAgain(p *programState, e entry, work int, label, explain string) {
	key, at := of(p.keys, e.key()), milliseconds(e.at)
	o.end(key.waiting, at, "")
	key.waiting = o.waits(p, e.key(), at, label, explain)
	o.Recorder.Cause(work, key.waiting)
}

// claimRequests links a reconcile call that ends to the requests that it has sent, and returns their
// number. A request about an object whose owner isn't known may be any call's.
func (o *Observer) claimRequests(p *programState, key string, work int, ended float64) (claimed int) {
	began := o.Recorder.Get(work).At
	p.requests = slices.DeleteFunc(p.requests, func(request sent) bool {
		managed, found := o.managed(request.object)
		mine := work != 0 && request.received >= began && request.received <= ended && (!found || managed.key() == key)
		if mine {
			o.Recorder.Cause(work, request.item)
			claimed++
		}
		return mine
	})
	return claimed
}
