package demo

// The tours of Foos and of TDSets.

import (
	"context"
	"path/filepath"

	"example.com/operators/scripts/internal/chapters"
)

type tour struct {
	namespace string
	dedicated bool   // only tours use the namespace, so nobody waits for its deletion
	resource  string // as kubectl calls it
	shows     string // the arguments of kubectl get after each step
	acts      []act
}

// act is a part of a tour. The program starts with it and stops after it.
type act struct {
	env   func(root string) []string // for the program; may be nil
	flags []string                   // the program's
	steps []step
}

type step struct {
	title            string
	question, answer string                             // the narration before and after
	before           func(*Demo) error                  // comes first; may be nil
	kubectl          []string                           // arguments of the command
	waitFor          [][]string                         // arguments of kubectl wait
	watch            func(context.Context, *Demo) error // returns when the step is done; may be nil
	shows            string                             // "": the tour's
}

// tours makes the tour of each kind from the path of the kind's sample.
var tours = map[string]func(sample string) tour{chapters.Foo: fooTour, chapters.TDSet: tdsetTour}

func fooTour(sample string) tour {
	about := tour{namespace: "demo", dedicated: true, resource: "foos", shows: "foos,deployments,pods"}
	about.acts = []act{{steps: []step{
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
			waitFor: [][]string{
				{"--for", "jsonpath={.spec.replicas}=3", "deployment/example-foo"},
				{"--for", "jsonpath={.status.replicas}=3", "deployment/example-foo"},
			},
			answer: "The program reverted it: the Foo's spec counts, not who wrote last.",
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
	return about
}

// fastZone is the TDSet's time zone while a day passes in half a minute. The API server knows the
// real one. In $ZONEINFO, the program finds one in which an hour passes each second.
const fastZone = "Antarctica/Troll"

const comparesStates = "It compares the actual state with the desired state of this hour, " +
	"so it needs no memory of what it missed."

func zoneFolder(root string) string { return filepath.Join(root, ".workshop", "demo.zoneinfo") }

// tdsetTour begins with a fast day. Then the program uses the real time.
func tdsetTour(sample string) tour {
	const name = "tdset-hello-world"
	fast := &day{deployment: name, want: []int32{2, 3, 2, 3, 5, 3, 2}}
	zone := func(zone string) []string {
		return []string{"patch", "tdset/" + name, "--type", "merge", "--patch", `{"spec":{"timeZone":"` + zone + `"}}`}
	}
	ready := [][]string{{"--for", "condition=Ready", "tdset/" + name}}
	return tour{namespace: "temp", resource: "tdsets", shows: "tdsets,deployments,services,pods", acts: []act{
		{
			env: func(root string) []string { return []string{"ZONEINFO=" + zoneFolder(root)} },
			steps: []step{
				{
					title: "Create a TDSet",
					question: "It asks for 5 replicas from 9 to 17, 3 from 17 to 19, 2 from 19 to 0, 2 from 1 to 7, and 3 " +
						"from 7 to 9.\n" +
						"These hours are in UTC. How many replicas should there be now?",
					kubectl: []string{"apply", "-f", sample},
					waitFor: ready,
					answer:  "The program created a Deployment for this hour. Now it sleeps until NEXT CHANGE.",
				},
				{
					title: "A day in half a minute",
					question: "Let's not wait a whole day. Hours depend on the time zone, and programs read zones from files.\n" +
						"This program's file for " + fastZone + " sets clocks forward by an hour each second.\n" +
						"How many replicas will there be from 0 to 1, which no window includes?",
					before:  fast.begin,
					kubectl: zone(fastZone),
					watch:   fast.watch,
					shows:   "tdsets,deployments",
					answer: "There are 3, as defaultReplica says. " +
						"Each change was one write to the Deployment, and the program slept in between.",
				},
			},
		},
		{
			steps: []step{
				{
					title:    "Back in UTC",
					question: "The program was stopped and has started again. The Deployment is as the fast day left it.",
					kubectl:  zone("UTC"),
					waitFor:  ready,
					answer:   comparesStates,
				},
				{
					title:    "Interfere: scale the Deployment by hand",
					question: "The schedule still says how many replicas there should be.",
					kubectl:  []string{"scale", "deployment/" + name, "--replicas", "9"},
					watch:    untilReplicasAreNot(name, 9),
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
					answer: "The program scaled the Deployment to zero, waited for the Pods, and removed its finalizer.\n" +
						"Then the garbage collector deleted the rest.",
				},
			},
		},
	}}
}

// solvedTour is for the solutions of the exercises TDSet. Their hours are in UTC, so the tour sets
// their clocks instead.
func solvedTour(sample string) tour {
	const name = "tdset-hello-world"
	ready := [][]string{{"--for", "condition=Ready", "tdset/" + name}}
	at := func(instant string) []string { return []string{"--now", "2026-01-01T" + instant + "Z"} }
	return tour{namespace: "temp", resource: "tdsets", shows: "tdsets,deployments,pods", acts: []act{
		{
			flags: at("08:59:50"),
			steps: []step{
				{
					title: "Create a TDSet, seconds before nine o'clock",
					question: "It asks for 5 replicas from 9 to 17, 3 from 17 to 19, 2 from 19 to 0, 2 from 1 to 7, and 3 " +
						"from 7 to 9.\n" +
						"These hours are in UTC, and the program's clock starts at 08:59:50.",
					kubectl: []string{"apply", "-f", sample},
					waitFor: [][]string{{"--for", "create", "deployment/" + name}},
					answer:  "The program created a Deployment with the replicas for this hour.",
				},
				{
					title:    "Nine o'clock",
					question: "A window begins, but no object changes. What makes the program look?",
					watch:    untilReplicasAreNot(name, 3),
					waitFor:  ready,
					answer:   "The clock. When the program looked last, it also found out when to look again.",
				},
				{
					title:    "Interfere: scale the Deployment by hand",
					question: "The schedule still says how many replicas there should be.",
					kubectl:  []string{"scale", "deployment/" + name, "--replicas", "9"},
					watch:    untilReplicasAreNot(name, 9),
					waitFor:  ready,
					answer:   "The program reverted it.",
				},
			},
		},
		{
			flags: at("19:30:00"),
			steps: []step{
				{
					title:    "Restart in the evening",
					question: "The program was stopped, and has started again at 19:30. Two windows have begun in between.",
					watch:    untilReplicasAreNot(name, 5),
					waitFor:  ready,
					answer:   comparesStates,
				},
				{
					title:    "Delete the TDSet",
					question: "Who deletes the Deployment?",
					kubectl:  []string{"delete", "tdset/" + name},
					waitFor: [][]string{
						{"--for", "delete", "deployment/" + name},
						{"--for", "delete", "pod", "--all"},
					},
					answer: "Not the program. The Deployment names the TDSet as its owner, so the garbage collector deleted it.",
				},
			},
		},
	}}
}
