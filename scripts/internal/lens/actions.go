package lens

// What the page's buttons do, and the commands that do the same.

import (
	"cmp"
	"context"
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
	do func(ctx context.Context, s *Session, namespace, object string) (command string, changed *unstructured.Unstructured, err error)
}

func (s *Session) changes() []change {
	kind := strings.ToLower(s.Sample.GetKind())
	scaled, renamed := "replicas", true
	if s.Sample.GetKind() == chapters.TDSet {
		scaled, renamed = "defaultReplicas", false
	}
	all := []change{{
		Button{Action: "create", Label: "Create", Help: "Create another " + s.Sample.GetKind() + "."},
		func(ctx context.Context, s *Session, namespace, object string) (string, *unstructured.Unstructured, error) {
			sample := s.sample(object)
			created, err := s.dynamic.Resource(s.resource).Namespace(namespace).Create(ctx, sample, metav1.CreateOptions{FieldManager: "lens"})
			return fmt.Sprintf("kubectl create --namespace %s --filename - <<< '%s'", namespace, oneLine(sample)), created, err
		},
	}, {
		Button{Action: "scale", Label: "Scale", Help: "Ask for one more replica, and for one again after three.", Object: true},
		func(ctx context.Context, s *Session, namespace, object string) (string, *unstructured.Unstructured, error) {
			now, err := s.dynamic.Resource(s.resource).Namespace(namespace).Get(ctx, object, metav1.GetOptions{})
			if err != nil {
				return "", nil, err
			}
			replicas, _, _ := unstructured.NestedInt64(now.Object, "spec", scaled)
			return s.patch(ctx, s.resource, kind, namespace, object, fmt.Sprintf(`{"spec":{%q:%d}}`, scaled, replicas%3+1))
		},
	}, {
		Button{Action: "interfere", Label: "Interfere", Help: "Change the Deployment's replicas, which belong to the operator.", Object: true},
		func(ctx context.Context, s *Session, namespace, object string) (string, *unstructured.Unstructured, error) {
			return s.patch(ctx, deployments, "deployment", namespace, s.deploymentOf(ctx, namespace, object), `{"spec":{"replicas":9}}`)
		},
	}, {
		Button{Action: "label", Label: "Label", Help: "Add a label to the Deployment that the operator doesn't care about.", Object: true},
		func(ctx context.Context, s *Session, namespace, object string) (string, *unstructured.Unstructured, error) {
			return s.patch(ctx, deployments, "deployment", namespace, s.deploymentOf(ctx, namespace, object), fmt.Sprintf(`{"metadata":{"labels":{"seen":"%d"}}}`, time.Now().Unix()))
		},
	}, {
		Button{Action: "remove", Label: "Delete the Deployment", Help: "Delete the Deployment that the operator has created.", Object: true},
		func(ctx context.Context, s *Session, namespace, object string) (string, *unstructured.Unstructured, error) {
			return s.delete(ctx, deployments, "deployment", namespace, s.deploymentOf(ctx, namespace, object))
		},
	}, {
		Button{Action: "delete", Label: "Delete", Help: "Delete the " + s.Sample.GetKind() + ".", Object: true},
		func(ctx context.Context, s *Session, namespace, object string) (string, *unstructured.Unstructured, error) {
			return s.delete(ctx, s.resource, kind, namespace, object)
		},
	}}
	if renamed {
		all = append(all, change{
			Button{Action: "rename", Label: "Rename", Help: "Ask for a Deployment with another name.", Object: true},
			func(ctx context.Context, s *Session, namespace, object string) (string, *unstructured.Unstructured, error) {
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

func (s *Session) patch(ctx context.Context, resource schema.GroupVersionResource, kind, namespace, object, patch string) (string, *unstructured.Unstructured, error) {
	command := fmt.Sprintf("kubectl patch --namespace %s %s %s --type merge --patch '%s'", namespace, kind, object, patch)
	changed, err := s.dynamic.Resource(resource).Namespace(namespace).Patch(ctx, object, mergePatch, []byte(patch), metav1.PatchOptions{FieldManager: "lens"})
	return command, changed, err
}

func (s *Session) delete(ctx context.Context, resource schema.GroupVersionResource, kind, namespace, object string) (string, *unstructured.Unstructured, error) {
	background := metav1.DeletePropagationBackground
	err := s.dynamic.Resource(resource).Namespace(namespace).Delete(ctx, object, metav1.DeleteOptions{PropagationPolicy: &background})
	return fmt.Sprintf("kubectl delete --namespace %s %s %s", namespace, kind, object), nil, err
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
func lasting(p *running) map[string]func() *faultproxy.Fault {
	return map[string]func() *faultproxy.Fault{
		"F3": p.proxy.Down,
		"F5": func() *faultproxy.Fault {
			return p.proxy.AfterWrite(1, func(audit.Request) { p.replica.Kill() })
		},
		"F9": func() *faultproxy.Fault { return p.proxy.Delay(2 * time.Second) },
	}
}

// shorter says what those do here.
var shorter = map[string]string{
	"F3": "the API server can't be reached",
	"F5": "the program is killed after its next write, and started again",
	"F9": "each event of a watch arrives 2 seconds late",
}

// Controls describe the page's buttons.
func (s *Session) Controls() Controls {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	controls := Controls{Objects: slices.Clone(s.objects)}
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
		Button{Action: "kill", Label: "Kill", Help: "Kill the program. It is started again, as a Pod would be.", Group: "program", Program: true})
	for _, fault := range faults.Injectable() {
		if does := cmp.Or(shorter[fault.Name], fault.Does); shorter[fault.Name] != "" || fault.NeedsProxy() && !fault.Replicas {
			controls.Buttons = append(controls.Buttons, Button{Action: fault.Name, Label: fault.Name, Help: does, Group: "faults", Program: true, On: s.isOn(fault.Name)})
		}
	}
	return controls
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
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, p := range s.programs {
		if action.Program != "" && p.Name != action.Program {
			continue
		}
		said, err := s.toggle(p, action.Action)
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
		s.number++
		s.mutex.Unlock()
	} else if object == "" {
		return "", fmt.Errorf("create a %s first, or choose one", s.Sample.GetKind())
	}
	var commands []string
	for _, p := range s.programs {
		command, changed, err := change.do(ctx, s, p.namespace, object)
		of, version := "", ""
		if changed != nil {
			of, version = name(plural(changed.GetKind()), changed.GetNamespace(), changed.GetName()), changed.GetResourceVersion()
		}
		s.observer.acted(change.Label+" "+object, command, of, version, err)
		if err != nil {
			return command, err
		}
		commands = append(commands, command)
	}
	return strings.Join(commands, "\n"), nil
}

// toggle kills a program, or begins or ends a fault of its proxy.
func (s *Session) toggle(p *running, action string) (command string, err error) {
	if action == "kill" {
		command = fmt.Sprintf("kill -KILL %d", p.replica.PID())
		p.replica.Kill()
		s.observer.acted("Kill "+p.Name, command, "", "", nil)
		return command, nil
	}
	if on := p.faults[action]; on != nil {
		on.Stop()
		delete(p.faults, action)
		s.observer.acted(action+" ends for "+p.Name, "", "", "", nil)
		return action + " ends", nil
	}
	known, err := faults.Find(action)
	if err != nil {
		return "", unknownAction(action)
	}
	var fault *faultproxy.Fault
	if begin := lasting(p)[known.Name]; begin != nil {
		fault = begin()
	} else {
		fault = known.Inject(p.proxy)
	}
	if fault == nil {
		return "", unknownAction(action)
	}
	command = fmt.Sprintf("./scripts/workshop faults %s %s", p.Name, known.Name)
	p.faults[action] = fault
	s.observer.acted(action+" begins for "+p.Name, command, "", "", nil)
	return command, nil
}
