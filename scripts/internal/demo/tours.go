package demo

// The tours of Foos and of TDSets.

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/operators/scripts/internal/chapters"
)

// namespace is that of all tours, and of nobody else.
const namespace = "demo"

type tour struct {
	resource schema.GroupVersionResource
	shows    string   // the arguments of kubectl get after each step
	env      []string // the program's additional variables
	parts    [][]step // the program starts with each part and stops after it
}

type step struct {
	title            string
	question, answer string            // the narration before and after
	before           func(*Demo) error // comes first; may be nil
	kubectl          []string          // arguments of the command
	waitFor          [][]string        // arguments of kubectl wait
	// watch returns when the step is done. It may be nil.
	watch func(context.Context, *Demo) error
	// follows is a Deployment whose replicas are shown until the operator has reverted them, or "".
	follows string
	shows   string // "": the tour's
}

// tourOf returns the tour of the chapter's program.
func tourOf(chapter chapters.Chapter, root string) (tour, error) {
	sample := chapter.Parts().Sample
	if chapter.Kind() == chapters.Foo {
		return fooTour(sample), nil
	}
	// The sample names a namespace, in which the learner may have objects.
	content, err := os.ReadFile(sample)
	if err != nil {
		return tour{}, err
	}
	copied := filepath.Join(root, ".workshop", "demo-"+filepath.Base(sample))
	content = []byte(strings.ReplaceAll(string(content), "namespace: temp", "namespace: "+namespace))
	return tdsetTour(copied, root), os.WriteFile(copied, content, 0o600)
}

func fooTour(sample string) tour {
	foos := schema.GroupVersionResource{Group: "samplecontroller.k8s.io", Version: "v1alpha1", Resource: "foos"}
	return tour{resource: foos, shows: "foos,deployments,pods", parts: [][]step{{
		{
			title:    "Create a Foo",
			question: "A Foo asks for a Deployment, but only our program understands that.",
			kubectl:  []string{"apply", "-f", sample},
			waitFor:  [][]string{{"--for", "condition=Ready", "foo/example-foo"}},
			answer:   "The program created the Deployment, and Kubernetes' own controllers created the Pod.",
		},
		{
			title:    "Scale it",
			question: "The desired state changes. Who updates the Deployment?",
			kubectl:  []string{"scale", "foo/example-foo", "--replicas", "3"},
			waitFor:  [][]string{{"--for", "jsonpath={.status.availableReplicas}=3", "foo/example-foo"}},
			answer:   "The program saw the change, updated the Deployment, and reported the result in the Foo's status.",
		},
		{
			title:    "Interfere: scale the Deployment by hand",
			question: "The Foo still asks for 3.",
			kubectl:  []string{"scale", "deployment/example-foo", "--replicas", "5"},
			follows:  "example-foo",
			waitFor:  [][]string{{"--for", "jsonpath={.status.replicas}=3", "deployment/example-foo"}},
			answer:   "The program reverted it: the Foo's spec counts, not who wrote last.",
		},
		{
			title:    "Interfere: delete the Deployment",
			question: "The Foo is still there.",
			kubectl:  []string{"delete", "deployment/example-foo"},
			waitFor: [][]string{
				{"--for", "create", "deployment/example-foo"},
				{"--for", "condition=Available", "deployment/example-foo"},
				{"--for", "condition=Ready", "foo/example-foo"},
			},
			answer: "The program created it again.",
		},
		{
			title:    "Delete the Foo",
			question: "Who deletes the Deployment?",
			kubectl:  []string{"delete", "foo/example-foo"},
			waitFor: [][]string{
				{"--for", "delete", "deployment/example-foo"},
				{"--for", "delete", "pod", "--all"},
			},
			answer: "Not the program. The Deployment names the Foo as its owner, so the garbage collector deleted it.",
		},
	}}}
}

// tdsetTour begins with a fast day. Then the program starts again and uses the real time.
func tdsetTour(sample, root string) tour {
	const name = "tdset-hello-world"
	zone := func(zone string) []string {
		return []string{"patch", "tdset/" + name, "--type", "merge", "--patch", `{"spec":{"timeZone":"` + zone + `"}}`}
	}
	ready := [][]string{{"--for", "condition=Ready", "tdset/" + name}}
	return tour{
		resource: schema.GroupVersionResource{Group: "schedule.rs", Version: "v2", Resource: "tdsets"},
		shows:    "tdsets,deployments,services,pods",
		env:      []string{"ZONEINFO=" + zoneFolder(root)},
		parts: [][]step{{
			{
				title: "Create a TDSet",
				question: "It asks for 5 replicas from 9 to 17, 3 from 17 to 19, 2 from 19 to 0, 2 from 1 to 7, and 3 " +
					"from 7 to 9. These hours are in UTC. How many replicas should there be now?",
				kubectl: []string{"apply", "-f", sample},
				waitFor: ready,
				answer:  "The program created a Deployment for this hour. Now it sleeps until NEXT CHANGE.",
			},
			{
				title: "A day in half a minute",
				question: "Let's not wait a whole day. Hours depend on the time zone, and programs read zones from files. " +
					"This program's file for " + fastZone + " sets clocks forward by an hour each second. " +
					"How many replicas will there be from 0 to 1, which no window includes?",
				before:  beginDay,
				kubectl: zone(fastZone),
				watch:   watchDay(name, 2, 3, 2, 3, 5, 3, 2),
				shows:   "tdsets,deployments",
				answer: "There are 3, as defaultReplica says. " +
					"Each change was one write to the Deployment, and the program slept in between.",
			},
		}, {
			{
				title:    "Back in UTC",
				question: "The program was stopped and has started again. The Deployment is as the fast day left it.",
				kubectl:  zone("UTC"),
				waitFor:  ready,
				answer: "It compares the actual state with the desired state of this hour, " +
					"so it needs no memory of what it missed.",
			},
			{
				title:    "Interfere: scale the Deployment by hand",
				question: "The schedule still says how many replicas there should be.",
				kubectl:  []string{"scale", "deployment/" + name, "--replicas", "9"},
				follows:  name,
				answer:   "The program reverted it.",
			},
			{
				title:    "Ask for a Service",
				question: "From now on, the TDSet asks for a Service.",
				kubectl:  []string{"patch", "tdset/" + name, "--type", "merge", "--patch", `{"spec":{"service":{"port":80}}}`},
				waitFor:  [][]string{{"--for", "create", "service/" + name}},
				answer:   "Port 80 of the Service leads to port 8000 of the Pods.",
			},
			{
				title:    "Delete the TDSet",
				question: "Its finalizer keeps it until its Pods are gone.",
				kubectl:  []string{"delete", "tdset/" + name},
				waitFor: [][]string{
					{"--for", "delete", "deployment/" + name},
					{"--for", "delete", "service/" + name},
					{"--for", "delete", "pod", "--all"},
				},
				answer: "The program scaled the Deployment to zero, waited for the Pods, and removed its finalizer. " +
					"Then the garbage collector deleted the rest.",
			},
		}},
	}
}
