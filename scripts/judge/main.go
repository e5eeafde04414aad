// Command judge checks whether an operator keeps the promises that every operator should keep. It
// needs Go and a disposable cluster, and nothing else of the course. docs/judge.md describes it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"example.com/operators/scripts/internal/judge"
	"example.com/operators/scripts/internal/problem"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	call := os.Args[0]
	if strings.Contains(call, "go-build") {
		call = "go run ./scripts/judge"
	}
	command := judge.Command(judge.Host{Call: call})
	command.SetOut(os.Stdout) // cobra prints to stderr otherwise
	command.SilenceErrors, command.SilenceUsage = true, true
	err := command.ExecuteContext(ctx)
	_, notJudged := errors.AsType[judge.NotJudged](err)
	switch {
	case err == nil:
	case !errors.Is(err, problem.ErrReported):
		fmt.Fprintln(os.Stderr, "judge: "+problem.Format(err))
		os.Exit(2)
	case notJudged:
		os.Exit(2)
	default:
		os.Exit(1)
	}
}
