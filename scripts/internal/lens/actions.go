package lens

// What the page's buttons do, and the commands that do the same.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/faultproxy"
	"example.com/operators/scripts/internal/faults"
)

const mergePatch = types.MergePatchType

var deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}

// change is an action on an object, in each program's namespace.
type change struct {
	Button
	do func(ctx context.Context, s *Session, namespace, object string) (written, error)
}

// written is what an action has done: the command that does the same, the object that it changed, as
// items name it, that object's new resourceVersion, or "" if it has none, and a detail for the label.
type written struct{ command, object, version, detail string }

// of returns what an action has done, or tried to do, to an object.
func of(command, resource, namespace, object string, changed *unstructured.Unstructured) written {
	w := written{command: command, object: name(resource, namespace, object)}
	if changed != nil {
		w.version = changed.GetResourceVersion()
	}
	return w
}

func (s *Session) changes() []change {
	kind := strings.ToLower(s.Sample.GetKind())
	scaled, renamed, bad := "replicas", true, `{"spec":{"deploymentName":"Not_A_Name"}}`
	if s.Sample.GetKind() == chapters.TDSet {
		scaled, renamed, bad = "defaultReplicas", false, `{"spec":{"timeZone":"Mars/Olympus_Mons"}}`
		if s.resource.Version == "v1" {
			scaled = "defaultReplica"
		}
	}
	all := []change{{
		Button{Action: "create", Label: "Create", Help: "Create another " + s.Sample.GetKind() + "."},
		func(ctx context.Context, s *Session, namespace, object string) (written, error) {
			sample := s.sample(object)
			created, err := s.dynamic.Resource(s.resource).Namespace(namespace).Create(ctx, sample, metav1.CreateOptions{FieldManager: "lens"})
			command := fmt.Sprintf("kubectl create --namespace %s --filename - <<< '%s'", namespace, oneLine(sample))
			return of(command, s.resource.Resource, namespace, object, created), err
		},
	}, {
		Button{Action: "scale", Label: "Scale", Help: "Ask for one more replica. After three, it starts again at one.", Object: true},
		func(ctx context.Context, s *Session, namespace, object string) (written, error) {
			now, err := s.dynamic.Resource(s.resource).Namespace(namespace).Get(ctx, object, metav1.GetOptions{})
			if err != nil {
				return written{}, err
			}
			replicas, _, _ := unstructured.NestedInt64(now.Object, "spec", scaled)
			done, err := s.patch(ctx, s.resource, kind, namespace, object, fmt.Sprintf(`{"spec":{%q:%d}}`, scaled, replicas%3+1))
			done.detail = fmt.Sprintf(" to %d", replicas%3+1)
			return done, err
		},
	}, {
		Button{Action: "interfere", Label: "Interfere", Help: "Change the Deployment's replicas, a field that belongs to the operator.", Object: true},
		func(ctx context.Context, s *Session, namespace, object string) (written, error) {
			return s.patch(ctx, deployments, "deployment", namespace, s.deploymentOf(ctx, namespace, object), `{"spec":{"replicas":9}}`)
		},
	}, {
		Button{Action: "label", Label: "Label", Help: "Add a label to the Deployment. The operator doesn't manage this label.", Object: true},
		func(ctx context.Context, s *Session, namespace, object string) (written, error) {
			return s.patch(ctx, deployments, "deployment", namespace, s.deploymentOf(ctx, namespace, object), fmt.Sprintf(`{"metadata":{"labels":{"seen":"%d"}}}`, time.Now().Unix()))
		},
	}, {
		Button{Action: "remove", Label: "Delete the Deployment", Help: "Delete the Deployment that the operator created.", Object: true},
		func(ctx context.Context, s *Session, namespace, object string) (written, error) {
			return s.delete(ctx, deployments, "deployment", namespace, s.deploymentOf(ctx, namespace, object))
		},
	}, {
		Button{Action: "delete", Label: "Delete", Help: "Delete the " + s.Sample.GetKind() + ".", Object: true},
		func(ctx context.Context, s *Session, namespace, object string) (written, error) {
			return s.delete(ctx, s.resource, kind, namespace, object)
		},
	}}
	all = append(all, change{
		Button{Action: "take", Label: "Take the name", Help: "Create a Deployment with the name that the next " + s.Sample.GetKind() + " asks for. It isn't the operator's."},
		func(ctx context.Context, s *Session, namespace, object string) (written, error) {
			taken, err := s.dynamic.Resource(deployments).Namespace(namespace).Create(ctx, foreign(object), metav1.CreateOptions{FieldManager: "kubectl-create"})
			command := fmt.Sprintf("kubectl create deployment --namespace %s %s --image %s", namespace, object, someImage)
			return of(command, deployments.Resource, namespace, object, taken), err
		},
	}, change{
		Button{Action: "bad", Label: "Bad input", Help: "Set a field to an invalid value.", Object: true},
		func(ctx context.Context, s *Session, namespace, object string) (written, error) {
			return s.patch(ctx, s.resource, kind, namespace, object, bad)
		},
	})
	if !renamed {
		all = append(all, change{
			Button{Action: "shift", Label: "Shift time zone", Help: "Move the TDSet to the next time zone, where it is an hour later. Another window may be active there.", Object: true},
			func(ctx context.Context, s *Session, namespace, object string) (written, error) {
				now, err := s.dynamic.Resource(s.resource).Namespace(namespace).Get(ctx, object, metav1.GetOptions{})
				if err != nil {
					return written{}, err
				}
				zone, _, _ := unstructured.NestedString(now.Object, "spec", "timeZone")
				return s.patch(ctx, s.resource, kind, namespace, object, fmt.Sprintf(`{"spec":{"timeZone":%q}}`, later(zone)))
			},
		})
	}
	if renamed {
		all = append(all, change{
			Button{Action: "double", Label: "Duplicate", Help: "Create another Foo that asks for the same Deployment.", Object: true},
			func(ctx context.Context, s *Session, namespace, object string) (written, error) {
				sample := s.sample(object + "-double")
				if err := unstructured.SetNestedField(sample.Object, s.deploymentOf(ctx, namespace, object), "spec", "deploymentName"); err != nil {
					return written{}, err
				}
				created, err := s.dynamic.Resource(s.resource).Namespace(namespace).Create(ctx, sample, metav1.CreateOptions{FieldManager: "lens"})
				command := fmt.Sprintf("kubectl create --namespace %s --filename - <<< '%s'", namespace, oneLine(sample))
				return of(command, s.resource.Resource, namespace, sample.GetName(), created), err
			},
		}, change{
			Button{Action: "rename", Label: "Rename", Help: "Ask for a Deployment with another name.", Object: true},
			func(ctx context.Context, s *Session, namespace, object string) (written, error) {
				name := object + "-renamed"
				if s.deploymentOf(ctx, namespace, object) == name {
					name = object
				}
				return s.patch(ctx, s.resource, kind, namespace, object, fmt.Sprintf(`{"spec":{"deploymentName":%q}}`, name))
			},
		})
	}
	return all
}

// someImage is that of a Deployment that isn't the operator's.
const someImage = "registry.k8s.io/pause:3.10"

// foreign returns what kubectl create deployment would create.
func foreign(name string) *unstructured.Unstructured {
	labels := map[string]any{"app": name}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": name, "labels": labels},
		"spec": map[string]any{
			"selector": map[string]any{"matchLabels": labels},
			"template": map[string]any{
				"metadata": map[string]any{"labels": labels},
				"spec":     map[string]any{"containers": []any{map[string]any{"name": "pause", "image": someImage}}},
			},
		},
	}}
}

// later returns the time zone in which it is one hour later, and the one in which the day begins
// after the last. The sign of these names is the other way round: Etc/GMT-1 is east of Etc/GMT.
func later(zone string) string {
	hours := 0
	fmt.Sscanf(zone, "Etc/GMT%d", &hours) // others are taken for UTC
	if hours--; hours < -14 {
		hours = 12
	}
	if hours == 0 {
		return "UTC"
	}
	return fmt.Sprintf("Etc/GMT%+d", hours)
}

// sample returns the sample with another name, which is also the name of its Deployment.
func (s *Session) sample(name string) *unstructured.Unstructured {
	sample := s.Sample.DeepCopy()
	sample.SetName(name)
	sample.SetNamespace("")
	if _, found, _ := unstructured.NestedString(sample.Object, "spec", "deploymentName"); found {
		_ = unstructured.SetNestedField(sample.Object, name, "spec", "deploymentName") // it is a map
	}
	return sample
}

// deploymentOf returns the name of the Deployment that an object asks for.
func (s *Session) deploymentOf(ctx context.Context, namespace, object string) string {
	now, err := s.dynamic.Resource(s.resource).Namespace(namespace).Get(ctx, object, metav1.GetOptions{})
	if err != nil {
		return object
	}
	if name, found, _ := unstructured.NestedString(now.Object, "spec", "deploymentName"); found {
		return name
	}
	return object
}

func (s *Session) patch(ctx context.Context, resource schema.GroupVersionResource, kind, namespace, object, patch string) (written, error) {
	command := fmt.Sprintf("kubectl patch --namespace %s %s %s --type merge --patch '%s'", namespace, kind, object, patch)
	changed, err := s.dynamic.Resource(resource).Namespace(namespace).Patch(ctx, object, mergePatch, []byte(patch), metav1.PatchOptions{FieldManager: "lens"})
	return of(command, resource.Resource, namespace, object, changed), err
}

func (s *Session) delete(ctx context.Context, resource schema.GroupVersionResource, kind, namespace, object string) (written, error) {
	background := metav1.DeletePropagationBackground
	err := s.dynamic.Resource(resource).Namespace(namespace).Delete(ctx, object, metav1.DeleteOptions{PropagationPolicy: &background})
	return of(fmt.Sprintf("kubectl delete --namespace %s %s %s", namespace, kind, object), resource.Resource, namespace, object, nil), err
}

func oneLine(object *unstructured.Unstructured) string {
	content, err := object.MarshalJSON()
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(content))
}

// list keeps the names of the managed objects, for the page's choice.
func (s *Session) list(kind schema.GroupVersionResource, object *unstructured.Unstructured, deleted bool) {
	if kind != s.resource {
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	at := slices.Index(s.objects, object.GetName())
	switch {
	case deleted && at >= 0:
		s.objects = slices.Delete(s.objects, at, at+1)
	case !deleted && at < 0:
		s.objects = append(s.objects, object.GetName())
	}
}

// lasting are the faults that package faults injects in other ways than with a proxy of its own, and
// F9 with a shorter delay. The page can end each of them.
func lasting(p *running, seconds int) map[string]func() *faultproxy.Fault {
	return map[string]func() *faultproxy.Fault{
		"F3": p.proxy.Down,
		"F5": func() *faultproxy.Fault {
			killed := p.replica
			return p.proxy.AfterWrite(1, func(audit.Request) { killed.Kill() })
		},
		"F9": func() *faultproxy.Fault {
			return p.proxy.Delay(time.Duration(cmp.Or(seconds, usualDelay)) * time.Second)
		},
	}
}

// usualDelay is how late events are, in seconds, unless the page says something else.
const usualDelay = 2

// shorter says what those do here.
var shorter = map[string]string{
	"F3": "the API server can't be reached",
	"F5": "the program is killed after its next write, and then restarted",
	"F9": "each watch event arrives late, by the number of seconds beside the button",
}

// Controls describe the page's buttons.
func (s *Session) Controls() Controls {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	controls := Controls{Objects: slices.Clone(s.objects), Look: s.shown}
	var names []string
	for _, p := range s.programs {
		controls.Programs = append(controls.Programs, p.Name)
		names = append(names, p.Built.Name)
	}
	controls.Title = strings.Join(names, " and ")
	for _, change := range s.changes() {
		change.Group = "objects"
		controls.Buttons = append(controls.Buttons, change.Button)
	}
	controls.Buttons = append(controls.Buttons,
		Button{Action: "kill", Label: "Kill", Help: "Kill the program. It is started again, like a container in a Pod.", Group: "program", Program: true},
		Button{Action: "stop", Label: "Stop", Help: "Shut the program down. Press this button again to start it.", Group: "program", Program: true, Switch: true, On: s.isStopped()})
	for _, fault := range faults.All() {
		if does := cmp.Or(shorter[fault.Name], fault.Does); shorter[fault.Name] != "" || !fault.IsLeadersDeath() && !fault.Replicas {
			button := Button{Action: fault.Name, Label: fault.Name, Help: does, Group: "faults", Program: true, Switch: true, On: s.isOn(fault.Name)}
			if fault.Name == "F9" {
				button.Seconds = usualDelay
			}
			controls.Buttons = append(controls.Buttons, button)
		}
	}
	return controls
}

// isStopped reports whether some program doesn't run.
func (s *Session) isStopped() bool {
	return slices.ContainsFunc(s.programs, func(p *running) bool { return p.replica == nil })
}

// isOn reports whether a fault is on for some program.
func (s *Session) isOn(fault string) bool {
	return slices.ContainsFunc(s.programs, func(p *running) bool { return p.faults[fault] != nil })
}

// Do does what a button says, for all programs or for one.
func (s *Session) Do(ctx context.Context, action Action) (command string, err error) {
	for _, change := range s.changes() {
		if change.Action == action.Action {
			return s.change(ctx, change, action.Object)
		}
	}
	s.acting.Lock()
	defer s.acting.Unlock()
	for _, p := range s.programs {
		if action.Program != "" && p.Name != action.Program {
			continue
		}
		said, err := s.toggle(p, action)
		if err != nil {
			return "", err
		}
		command += said + "\n"
	}
	return strings.TrimSpace(command), nil
}

func (s *Session) change(ctx context.Context, change change, object string) (string, error) {
	if !change.Object {
		s.mutex.Lock()
		object = fmt.Sprintf("%s-%d", strings.ToLower(s.Sample.GetKind()), s.number)
		if change.Action == "create" { // take leaves the name to the next create
			s.number++
		}
		s.mutex.Unlock()
	} else if object == "" {
		return "", fmt.Errorf("create a %s first, or choose one", s.Sample.GetKind())
	}
	var commands []string
	var failed error
	for _, p := range s.programs { // each of them, even if one refuses it
		began := time.Now()
		done, err := change.do(ctx, s, p.namespace, object)
		s.observer.acted(began, change.Label+" "+object+done.detail, done.command, done.object, done.version, err)
		commands, failed = append(commands, done.command), errors.Join(failed, err)
	}
	return strings.Join(commands, "\n"), failed
}

// set changes what Controls shows.
func (s *Session) set(change func()) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	change()
}

// toggle kills or stops a program, or begins or ends a fault of its proxy.
func (s *Session) toggle(p *running, button Action) (command string, err error) {
	began, action := time.Now(), button.Action
	switch {
	case action == "stop" && p.replica == nil:
		again, err := p.start(s.observer)
		if err != nil {
			return "", err
		}
		s.set(func() { p.replica = again })
		s.observer.acted(began, "Start "+p.Name, "", "", "", nil)
		return p.Name + " is running again", nil
	case action == "stop":
		command = fmt.Sprintf("kill -TERM %d", p.replica.PID())
		p.replica.Stop()
		s.set(func() { p.replica = nil })
		s.observer.acted(began, "Stop "+p.Name, command, "", "", nil)
		return command, nil
	case p.replica == nil:
		return "", fmt.Errorf("%s isn't running: press Stop again to start it", p.Name)
	case action == "kill":
		command = fmt.Sprintf("kill -KILL %d", p.replica.PID())
		p.replica.Kill()
		s.observer.acted(began, "Kill "+p.Name, command, "", "", nil)
		return command, nil
	}
	if on := p.faults[action]; on != nil {
		on.Stop()
		s.set(func() { delete(p.faults, action) })
		s.observer.acted(began, action+" ends for "+p.Name, "", "", "", nil)
		return action + " ends", nil
	}
	known, err := faults.Find(action)
	if err != nil || known.IsLeadersDeath() {
		return "", unknownAction(action)
	}
	var fault *faultproxy.Fault
	if begin := lasting(p, button.Seconds)[known.Name]; begin != nil {
		fault = begin()
	} else {
		fault = known.Begin(faults.Target{Proxy: p.proxy, Kill: p.replica.Kill, Owned: []string{"deployments"}})
	}
	if fault == nil {
		return "", unknownAction(action)
	}
	command = fmt.Sprintf("./scripts/workshop faults %s %s", p.Name, known.Name)
	s.set(func() { p.faults[action] = fault })
	id := s.observer.acted(began, action+" begins for "+p.Name, command, "", "", nil)
	s.Recorder.Update(id, func(item *Item) {
		item.Explain += " From now on, " + cmp.Or(shorter[known.Name], known.Does) + "."
	})
	return command, nil
}
