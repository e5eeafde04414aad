package lens

// How the versions of objects come to a program: with the events of its watches, or in a list.

import (
	"fmt"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/faultproxy"
)

// cachesFallBehind is called when the API server has stored a version. The programs that watch the
// object don't know it yet.
func (o *Observer) cachesFallBehind(v version) {
	for _, p := range o.programs {
		inSight := p.watches[v.resource] && (p.namespace == "" || p.namespace == v.namespace)
		if inSight && of(p.arrivals, v).by == 0 && p.behind[v.object] == 0 {
			p.behind[v.object] = o.Recorder.Add(Item{
				Lane: Cache, Program: p.name, At: o.Recorder.Get(of(o.versions, v).stored).At, Object: v.object.String(),
				Version: v.resourceVersion, Label: v.object.String(), Causes: []int{of(o.versions, v).stored},
				Explain: fmt.Sprintf("%s doesn't know the newest version of %s yet.", p.name, v.object),
			})
		}
	}
}

// received is called when the API server has sent an event, and again when the program has it.
func (o *Observer) received(by string, e faultproxy.WatchEvent) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	p, delivered := o.program(by), !e.Delivered.IsZero()
	p.watches[e.Watch.Resource] = true
	switch {
	case e.Type == "BOOKMARK" || e.Type == "ERROR" && !delivered:
		return
	case e.Type == "ERROR":
		o.Recorder.Add(Item{
			Lane: Events, Program: by, At: milliseconds(e.Received), Until: milliseconds(e.Delivered), Failed: true,
			Object: e.Watch.Resource, Label: "ERROR " + e.Watch.Resource,
			Explain: fmt.Sprintf("The API server ends %s's watch of %s with an error. If it is 410 Gone, the history "+
				"after the last known version is lost, so %[1]s has to list again.", by, e.Watch.Resource),
		})
		return
	}
	v := version{object{e.Watch.Resource, e.Object.Namespace, e.Object.Name}, e.Object.ResourceVersion}
	arrived := of(p.arrivals, v)
	if arrived.event == 0 || arrived.by != 0 && !delivered { // a new watch may repeat a version
		arrived.event = o.Recorder.Add(Item{
			Lane: Events, Program: by, At: milliseconds(e.Received), Object: v.object.String(), Version: v.resourceVersion,
			Label:   e.Type + " " + v.object.String(),
			Explain: fmt.Sprintf("The API server sends %s the event %s for %s.", by, e.Type, v.object),
		})
		if state := of(o.versions, v); state.stored != 0 {
			o.Recorder.Cause(state.stored, arrived.event)
		} else {
			state.early = append(state.early, arrived.event)
		}
	}
	if delivered {
		o.end(arrived.event, milliseconds(e.Delivered), "")
		o.arrived(p, v, arrived.event, milliseconds(e.Delivered))
	}
}

// listed is called when a program has listed a resource: its cache has all that was there before.
func (o *Observer) listed(p *programState, r audit.Request, list int) {
	p.watches[r.Resource] = true
	answered := milliseconds(r.Answered)
	for listed, state := range o.objects {
		stored := o.Recorder.Get(of(o.versions, state.newest).stored)
		if listed.resource != r.Resource || r.Namespace != "" && r.Namespace != listed.namespace ||
			stored.ID == 0 || stored.At > milliseconds(r.Received) {
			continue
		}
		arrived := of(p.arrivals, state.newest)
		if arrived.by != 0 {
			continue
		}
		o.end(arrived.event, answered, " Before it arrived, the program listed all objects again.")
		o.Recorder.Cause(stored.ID, list)
		o.arrived(p, state.newest, list, answered)
	}
}

// arrived is called when a version has come to a program with an event or a list.
func (o *Observer) arrived(p *programState, v version, by int, at float64) {
	of(p.arrivals, v).by = by
	if behind := p.behind[v.object]; behind != 0 {
		o.end(behind, at, fmt.Sprintf(" That lasted for %.0f ms.", at-o.Recorder.Get(behind).At))
		delete(p.behind, v.object)
	}
	if managed, found := o.managed(v.object); found {
		key := of(p.keys, managed.key())
		key.news = append(key.news, by)
	}
}
