package main

// The workshop's room: progress --serve opens it, and the flags of check and watch join it.

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/exercises/verdict"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/room"
)

// The environment has the defaults of --room and --name, so that people set them once.
const (
	roomVariable = "WORKSHOP_ROOM"
	nameVariable = "WORKSHOP_NAME"
)

// serveRoom opens a room, prints what to tell people, and serves until ctx ends.
func serveRoom(ctx context.Context, command *cobra.Command, address string) error {
	all, err := exercises.All(theRoot())
	if err != nil {
		return err
	}
	server, err := room.Open(address, all)
	if err != nil {
		return err
	}
	urls := server.URLs()
	command.Println("The room is open. This page shows who works on what:")
	for _, url := range urls {
		command.Printf("    %s", url.URL)
		if url.Interface != "" {
			command.Printf("    (on %s)", url.Interface)
		}
		command.Println()
	}
	if len(urls) > 1 {
		command.Println("Use the one on the room's network, also in the lines below.")
	}
	command.Printf(`
Learners type this, each with a name of their own:
    ./scripts/workshop watch --room %[1]s --name Ana
or this, once in each terminal, for all commands:
    export %[2]s=%[1]s %[3]s=Ana

Anyone who knows the address can read the page and send reports. Nothing is stored. Press Ctrl-C to close the room.
`, urls[0].URL, roomVariable, nameVariable)
	return server.Serve(ctx)
}

// roomFlags are those of commands that check exercises.
type roomFlags struct{ room, name string }

func (f *roomFlags) add(command *cobra.Command) {
	command.Flags().StringVar(&f.room, "room", "", "in a workshop: send each result to the instructor's page at this `URL` (default: $"+roomVariable+")")
	command.Flags().StringVar(&f.name, "name", "", "with --room: the name that the page shows for you (default: $"+nameVariable+")")
}

// join returns nil if there is no room, and then nothing is sent.
func (f *roomFlags) join(command *cobra.Command) (*room.Client, error) {
	address, name := f.room, f.name
	if !command.Flags().Changed("room") {
		address = os.Getenv(roomVariable)
		if address == "" && command.Flags().Changed("name") {
			return nil, problem.New("--name is for --room, and there is no room").
				ToDo("add --room with the address on the instructor's screen, or leave --name out")
		}
		if address == "" {
			return nil, nil
		}
	}
	if !command.Flags().Changed("name") {
		name = os.Getenv(nameVariable)
	}
	return room.Join(address, name, nil)
}

// with calls work with a checker whose verdicts are sent to the room, if there is one. failed
// delivers the first failure to reach the room.
func (f *roomFlags) with(command *cobra.Command, work func(checker verdict.Checker, failed <-chan error) error) error {
	checker := verdict.Checker{Root: theRoot(), Env: clusterForTests}
	client, err := f.join(command)
	if err != nil {
		return err
	}
	if client == nil {
		return work(checker, nil)
	}
	checker.Checked = client.Report(theRoot())
	err = work(checker, client.Failed())
	client.Leave()
	select {
	case failed := <-client.Failed():
		command.PrintErrln("workshop: " + problem.Format(failed))
	default:
	}
	return err
}
