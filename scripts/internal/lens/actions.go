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

	"example.com/operators/scripts/internal/faults"
)

// Controls describe the page's buttons.
func (s *Session) Controls() Controls {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	controls := Controls{Objects: slices.Clone(s.objects), Look: s.shown}
	stopped, on := false, map[string]bool{}
	var titles []string
	for _, p := range s.programs {
		controls.Programs = append(controls.Programs, p.Name)
		titles = append(titles, p.Built.Name)
		stopped = stopped || p.process == nil
		for fault := range p.faults {
			on[fault] = true
		}
	}
	controls.Title = strings.Join(titles, " and ")
	for _, change := range s.changes() {
		controls.Buttons = append(controls.Buttons, change.Button)
	}
	controls.Buttons = append(controls.Buttons, Button{
		Action: "kill", Label: "Kill", Group: "program",
		Help: "Kill the program. It is started again, like a container in a Pod.",
	}, Button{
		Action: "stop", Label: "Stop", Group: "program", Switch: true, On: stopped,
		Help: "Shut the program down. Press this button again to start it.",
	})
	for _, fault := range faults.All() {
		if !fault.Replicas {
			controls.Buttons = append(controls.Buttons, Button{
				Action: fault.Name, Label: fault.Name, Group: "faults", Switch: true, On: on[fault.Name], Help: fault.Does,
			})
		}
	}
	return controls
}

// Do does what a button says, in the namespace of each program or to each program. It returns
// commands that do the same. A program may refuse what another one accepts.
func (s *Session) Do(ctx context.Context, action Action) (commands string, err error) {
	do := func(p *running) (string, error) { return s.toggle(p, action.Action) }
	for _, change := range s.changes() {
		if change.Action != action.Action {
			continue
		}
		name := action.Object
		if change.Object && name == "" {
			return "", fmt.Errorf("create a %s first, or choose one", s.sample.GetKind())
		}
		if !change.Object {
			name = s.nextName()
		}
		do = func(p *running) (string, error) { return s.change(ctx, change, p.namespace, name) }
	}
	s.acting.Lock()
	defer s.acting.Unlock()
	var all []string
	for _, p := range s.programs {
		command, failed := do(p)
		all, err = append(all, command), errors.Join(err, failed)
	}
	return strings.TrimSpace(strings.Join(all, "\n")), err
}

// nextName names another object.
func (s *Session) nextName() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.created++
	return fmt.Sprintf("%s-%d", strings.ToLower(s.sample.GetKind()), s.created)
}

// change writes an object as a button asks for, and shows that.
func (s *Session) change(ctx context.Context, change change, namespace, name string) (command string, err error) {
	began := time.Now()
	on := target{name: name}
	if change.Object {
		now, err := s.dynamic.Resource(s.resource).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		on = targetOf(now)
	}
	write := change.write(on)
	command, changed, err := write.send(ctx, s.dynamic, namespace)
	item := actionItem(began, strings.TrimSpace(fmt.Sprintf("%s %s %s", change.Label, name, write.note)), command)
	resourceVersion := ""
	switch {
	case err != nil:
		item.Failed, item.Detail = true, command+"\n"+err.Error()
	case changed != nil:
		resourceVersion = changed.GetResourceVersion()
	}
	s.observer.acted(item, object{write.resource.Resource, namespace, write.name}, resourceVersion)
	return command, err
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

// toggle kills, stops or starts a program, or begins or ends a fault of its proxy.
func (s *Session) toggle(p *running, name string) (command string, err error) {
	began := time.Now()
	switch {
	case name == "stop" && p.process == nil:
		if err := s.start(p); err != nil {
			return "", err
		}
		s.Recorder.Add(actionItem(began, "Start "+p.Name, ""))
		return p.Name + " is running again", nil
	case p.process == nil:
		return "", fmt.Errorf("%s isn't running: press Stop again to start it", p.Name)
	case name == "stop":
		command = fmt.Sprintf("kill -TERM %d", p.process.PID())
		p.process.Stop()
		s.set(func() { p.process = nil })
		s.Recorder.Add(actionItem(began, "Stop "+p.Name, command))
		return command, nil
	case name == "kill":
		command = fmt.Sprintf("kill -KILL %d", p.process.PID())
		p.process.Kill()
		s.Recorder.Add(actionItem(began, "Kill "+p.Name, command))
		return command, nil
	}
	return s.toggleFault(p, name)
}

func (s *Session) toggleFault(p *running, name string) (command string, err error) {
	began := time.Now()
	fault, err := faults.Find(name)
	if err != nil {
		return "", err
	}
	if fault.Replicas {
		return "", fmt.Errorf("%s needs several replicas: ./scripts/workshop faults %s %[1]s", name, p.Name)
	}
	if on := p.faults[name]; on != nil {
		fault.End(p.proxy)
		on.Stop()
		s.set(func() { delete(p.faults, name) })
		s.Recorder.Add(actionItem(began, name+" ends for "+p.Name, ""))
		return name + " ends", nil
	}
	target := faults.Target{Proxy: p.proxy, Kill: p.process.Kill, Owned: []string{"deployments"}}
	s.set(func() { p.faults[name] = fault.Begin(target) })
	command = fmt.Sprintf("./scripts/workshop faults %s %s", p.Name, name)
	item := actionItem(began, name+" begins for "+p.Name, command)
	item.Explain += " From now on, " + fault.Does + "."
	s.Recorder.Add(item)
	return command, nil
}

// set changes what Controls shows.
func (s *Session) set(change func()) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	change()
}
