package lens

// The queue of chapters 05 to 07. controller-runtime logs when the work on a key begins and ends,
// but not when the key is queued. So it's worked out afterwards, when the work begins: from the
// events that the program has received since the last work on the key, and from how that ended.

import (
	"fmt"
	"strings"
	"time"
)

// pause is why a key is processed again without an event: its work has failed, or the reconcile
// call asked for that.
type pause struct {
	work  int // that ended so
	ended float64
	due   float64 // 0: unknown, because controller-runtime doesn't log its backoff
}

const inferred = " controller-runtime doesn't log its queue, so this is worked out from the events and from the reconcile calls."

// inferQueue adds the queue items of a key whose work begins now, and returns those that caused it.
func (o *observer) inferQueue(p *observed, key string, at float64) (causes []int) {
	news := p.news[key]
	if len(news) > 0 {
		first := min(at, o.recorder.Get(news[0]).Until)
		causes = append(causes, o.recorder.Add(Item{
			Lane: Queue, Program: p.name, At: first, Until: at, Object: key, Label: key, Causes: news,
			Explain: fmt.Sprintf("The key %s waits for a worker.", key) + inferred,
		}))
	}
	wait, waits := p.pauses[key]
	if !waits {
		return causes
	}
	delete(p.pauses, key)
	item := Item{Lane: Queue, Program: p.name, At: wait.ended, Until: at, Object: key, Causes: []int{wait.work}}
	if wait.due == 0 {
		item.Failed, item.Label = true, fmt.Sprintf("%s, failure %d", key, p.failures[key])
		item.Explain = fmt.Sprintf("The work on %s has failed (failure %d in a row). Its key waits for its backoff, or for an event.", key, p.failures[key]) + inferred
	} else {
		after := time.Duration((wait.due - wait.ended) * float64(time.Millisecond)).Round(time.Millisecond)
		item.Label = fmt.Sprintf("%s, after %v", key, after)
		item.Explain = fmt.Sprintf("The reconcile call asked to process %s again after %v, unless an event comes first.", key, after) + inferred
	}
	id := o.recorder.Add(item)
	if len(news) == 0 {
		causes = append(causes, id)
	}
	return causes
}

// pausesAfter records that a key will be processed again without an event. message is the log's
// line about the end of the work.
func (p *observed) pausesAfter(key, message string, work int, at float64) {
	after, asked := strings.CutPrefix(message, "Reconcile done, requeueing after ")
	duration, err := time.ParseDuration(after)
	switch {
	case message == "Reconciler error":
		p.pauses[key] = pause{work: work, ended: at}
	case asked && err == nil:
		p.pauses[key] = pause{work: work, ended: at, due: at + float64(duration.Microseconds())/1000}
	default:
		delete(p.pauses, key)
	}
}
