package lens

// The page's buttons: those that change objects, those that stop programs, and the faults.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/faults"
)

// button is a button of the page, and what it does to a program, or to an object in its namespace.
type button struct {
	Button
	do func(ctx context.Context, p *running, on target) (done, error)
}

// done is what a button has done. Its label is "" if there is nothing to show.
type done struct {
	label, command, explain string
	wrote                   object // if it was an object
	resourceVersion         string
}

// Controls describe the page's buttons.
func (s *Session) Controls() Controls {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	controls := Controls{Objects: slices.Clone(s.objects), Look: s.shown}
	var titles []string
	for _, p := range s.programs {
		controls.Programs = append(controls.Programs, p.Name)
		titles = append(titles, p.Built.Name)
	}
	controls.Title = strings.Join(titles, " and ")
	for _, button := range s.buttons() {
		for _, p := range s.programs {
			button.On = button.On || p.faults[button.Action] != nil || button.Action == "stop" && p.stopped
		}
		controls.Buttons = append(controls.Buttons, button.Button)
	}
	return controls
}

// Do does what a button says, in the namespace of each program or to each program. A program may
// refuse what another one accepts.
func (s *Session) Do(ctx context.Context, action Action) (err error) {
	s.acting.Lock()
	defer s.acting.Unlock()
	all := s.buttons()
	pressed := slices.IndexFunc(all, func(b button) bool { return b.Action == action.Action })
	if pressed < 0 {
		return fmt.Errorf("there is no button %q", action.Action)
	}
	if all[pressed].Object && action.Object == "" {
		return fmt.Errorf("create a %s first, or choose one", s.sample.GetKind())
	}
	if action.Action == "create" {
		s.created++
		action.Object = fmt.Sprintf("%s-%d", strings.ToLower(s.sample.GetKind()), s.created)
	}
	for _, p := range s.programs {
		began := time.Now()
		did, failed := s.press(ctx, all[pressed], p, action.Object)
		err = errors.Join(err, failed)
		if did.label == "" {
			continue
		}
		item := actionItem(began, did.label, did.command)
		item.Explain += did.explain
		if failed != nil {
			item.Failed, item.Detail = true, did.command+"\n"+failed.Error()
		}
		s.observer.acted(item, did.wrote, did.resourceVersion)
	}
	return err
}

func (s *Session) press(ctx context.Context, b button, p *running, name string) (done, error) {
	on := target{name: name}
	if b.Object {
		now, err := s.dynamic.Resource(s.resource).Namespace(p.namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return done{}, err
		}
		on = targetOf(now)
	}
	return b.do(ctx, p, on)
}

// actionItem is an item of the lane with what you did.
func actionItem(began time.Time, label, command string) Item {
	item := Item{
		Lane: Actions, At: milliseconds(began), Until: milliseconds(time.Now()), Label: label, Detail: command,
		Explain: "You did this.",
	}
	if command != "" {
		item.Explain += " The command below does the same."
	}
	return item
}

func (s *Session) buttons() []button {
	kind, bad := s.sample.GetKind(), `{"spec":{"deploymentName":"Not_A_Name"}}`
	if kind == chapters.TDSet {
		bad = `{"spec":{"timeZone":"Mars/Olympus_Mons"}}`
	}
	change := func(action, label, help string, of func(target) write) button {
		return button{
			Button{Action: action, Label: label, Help: help, Group: "objects", Object: action != "create"},
			func(ctx context.Context, p *running, on target) (done, error) {
				return s.send(ctx, p.namespace, label+" "+on.name, of(on))
			},
		}
	}
	all := []button{
		change("create", "Create", "Create another "+kind+".", func(on target) write {
			return write{s.resource, on.name, s.sampleFor(on.name, on.name), ""}
		}),
		change("scale", "Scale", "Ask for one more replica. After three, it starts again at one.", func(on target) write {
			return write{s.resource, on.name, nil, fmt.Sprintf(`{"spec":{%q:%d}}`, on.replicasField, on.replicas%3+1)}
		}),
		change("interfere", "Interfere", "Change the Deployment's replicas, a field that belongs to the operator.",
			func(on target) write { return write{deployments, on.deployment, nil, `{"spec":{"replicas":9}}`} }),
		change("label", "Label", "Add a label to the Deployment. The operator doesn't manage this label.",
			func(on target) write {
				patch := fmt.Sprintf(`{"metadata":{"labels":{"seen":"%d"}}}`, time.Now().Unix())
				return write{deployments, on.deployment, nil, patch}
			}),
		change("remove", "Delete the Deployment", "Delete the Deployment that the operator created.",
			func(on target) write { return write{deployments, on.deployment, nil, ""} }),
		change("delete", "Delete", "Delete the "+kind+".",
			func(on target) write { return write{s.resource, on.name, nil, ""} }),
		change("bad", "Bad input", "Set a field to an invalid value.",
			func(on target) write { return write{s.resource, on.name, nil, bad} }),
	}
	if kind == chapters.Foo {
		all = append(all, change("double", "Duplicate", "Create another Foo that asks for the same Deployment.",
			func(on target) write {
				name := on.name + "-double"
				return write{s.resource, name, s.sampleFor(name, on.deployment), ""}
			}))
	}
	all = append(all,
		button{Button{
			Action: "kill", Label: "Kill", Group: "program",
			Help: "Kill the program. It is started again, like a container in a Pod.",
		}, s.kill},
		button{Button{
			Action: "stop", Label: "Stop", Group: "program", Switch: true,
			Help: "Shut the program down. Press this button again to start it.",
		}, s.stop})
	for _, fault := range faults.All() {
		if !fault.Replicas {
			all = append(all, button{
				Button{
					Action: fault.Name, Label: fault.Name + ": " + fault.Label, Group: "faults", Switch: true,
					Help: fault.Does,
				},
				func(_ context.Context, p *running, _ target) (done, error) { return s.toggle(p, fault) },
			})
		}
	}
	return all
}

func (s *Session) kill(_ context.Context, p *running, _ target) (done, error) {
	if p.stopped {
		return done{}, p.notRunning()
	}
	command := fmt.Sprintf("kill -KILL %d", p.PID())
	p.Kill()
	return done{label: "Kill " + p.Name, command: command}, nil
}

// stop stops the program, or starts it again.
func (s *Session) stop(_ context.Context, p *running, _ target) (done, error) {
	if p.stopped {
		return done{label: "Start " + p.Name}, s.start(p)
	}
	command := fmt.Sprintf("kill -TERM %d", p.PID())
	p.Stop()
	s.set(func() { p.stopped = true })
	return done{label: "Stop " + p.Name, command: command}, nil
}

// toggle begins or ends a fault.
func (s *Session) toggle(p *running, fault faults.Fault) (done, error) {
	if on := p.faults[fault.Name]; on != nil {
		fault.End(p.Proxy)
		on.Stop()
		s.set(func() { delete(p.faults, fault.Name) })
		return done{label: fault.Name + " ends for " + p.Name, explain: " " + fault.See}, nil
	}
	if p.stopped {
		return done{}, p.notRunning()
	}
	begun := fault.Begin(faults.Target{Proxy: p.Proxy, Kill: p.Kill, Owned: []string{deployments.Resource}})
	s.set(func() { p.faults[fault.Name] = begun })
	return done{
		label:   fault.Name + " begins for " + p.Name,
		explain: " From now on, " + fault.Does + ".",
	}, nil
}

func (p *running) notRunning() error {
	return fmt.Errorf("%s isn't running: press Stop again to start it", p.Name)
}

// set changes what Controls shows.
func (s *Session) set(change func()) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	change()
}
