// Command judge checks whether an operator keeps the promises that every operator should keep. It
// needs Go and a cluster that may be thrown away, and nothing else of the course. docs/judge.md says
// how to use it.
//
//	go run ./scripts/judge init --kubeconfig FILE --crd crd.yaml --sample sample.yaml \
//	  -- ./my-operator --kubeconfig {kubeconfig}
//	go run ./scripts/judge --kubeconfig FILE -- ./my-operator --kubeconfig {kubeconfig}
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"example.com/operators/scripts/internal/judge"
	"example.com/operators/scripts/internal/problem"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	command := judge.Command(judge.Host{Call: "go run ./scripts/judge"})
	command.SilenceErrors, command.SilenceUsage = true, true
	err := command.ExecuteContext(ctx)
	if err == nil {
		return
	}
	if !errors.Is(err, problem.ErrReported) {
		fmt.Fprintln(os.Stderr, "judge: "+problem.Format(err))
	}
	if _, notJudged := errors.AsType[judge.NotJudged](err); notJudged {
		os.Exit(2)
	}
	os.Exit(1)
}
