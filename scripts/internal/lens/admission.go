package lens

// The calls to a program's webhooks, from its log. The API server makes them while it handles a
// write.

import "fmt"

// called is called when a webhook has received a request.
func (o *observer) called(p *observed, e entry) {
	at := milliseconds(e.at)
	object := name(e.values["resource"], e.values["namespace"], e.values["name"])
	id := o.recorder.Add(Item{
		Lane: Admission, Program: p.name, At: at, Object: object, Label: object,
		Explain: fmt.Sprintf("Before it stored %s, the API server called a webhook of %s, which may change or refuse the object.", object, p.name),
	})
	p.calls[e.values["requestID"]] = id
	o.prune(p.calls)
	for _, write := range o.writes[object] {
		if at >= write.at-1 && at <= write.last+1 {
			o.recorder.Cause(write.id, id)
			return
		}
	}
	keep(o.calls, object, moment{id, at, at})
}

// answered is called when a webhook has answered.
func (o *observer) answered(p *observed, e entry) {
	o.recorder.Update(p.calls[e.values["requestID"]], func(item *Item) {
		item.Until = milliseconds(e.at)
		if item.Failed = e.values["allowed"] == "false"; item.Failed {
			item.Label += " is refused"
		}
	})
}

// admitted links a write to the webhook calls that it caused. Some of their log lines may arrive
// later.
func (o *observer) admitted(object string, write moment) {
	var others []moment
	for _, call := range o.calls[object] {
		if call.at >= write.at-1 && call.at <= write.last+1 {
			o.recorder.Cause(write.id, call.id)
		} else {
			others = append(others, call)
		}
	}
	o.calls[object] = others
	keep(o.writes, object, write)
}
