// Package faults lets a reader try a fault by hand and watch: a chapter's program runs against a real API server, through a
// proxy that makes faults, and all that it sends, all that it says and all that is done to it is told as it happens.
//
// This file lists the faults; session.go runs a program and makes one, tell.go tells.
package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/faultproxy"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/process"
)

// Fault is a fault to try.
type Fault struct {
	Name, Does string
	// Copies says that several copies of the program run: they should elect a leader, if they can.
	Copies bool
	// begin makes it happen. What it returns takes it back; it is called once.
	begin func(ctx context.Context, s *session) (end func() error, err error)
}

// All returns all faults, in order.
func All() []Fault {
	all := []Fault{
		{Name: "F3", Does: "the API server is killed; then it is started again", begin: killAPIServer},
		{Name: "F5", Does: "the program is killed after its next write, before it can do another, and started again", begin: killProgram},
		{Name: "F7", Does: "a second copy of the program is started; then the first one is killed", Copies: true, begin: addCopy},
	}
	for _, recipe := range faultproxy.Recipes() {
		all = append(all, Fault{Name: recipe.Name, Does: recipe.Does, begin: func(ctx context.Context, s *session) (func() error, error) {
			return s.follow(ctx, recipe.Apply(s.copies[0].proxy)), nil
		}})
	}
	slices.SortFunc(all, func(a, b Fault) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Find returns the fault of that name, in any case.
func Find(name string) (Fault, error) {
	var names, several []string
	for _, fault := range All() {
		if strings.EqualFold(fault.Name, name) {
			return fault, nil
		}
		names = append(names, fault.Name)
		if strings.EqualFold(strings.TrimRight(fault.Name, "abc"), name) {
			several = append(several, fault.Name)
		}
	}
	if len(several) > 0 {
		return Fault{}, &problem.Problem{
			What: name + " is several faults",
			Mend: "take one of " + strings.Join(several, ", "),
		}
	}
	return Fault{}, &problem.Problem{
		What: fmt.Sprintf("there is no fault %q", name),
		Mend: fmt.Sprintf(`take one of %s; "./scripts/workshop faults" says what each does`, strings.Join(names, ", ")),
	}
}

// killAPIServer is F3.
func killAPIServer(ctx context.Context, s *session) (end func() error, err error) {
	end = func() error {
		if _, err := s.Cluster.Up(context.WithoutCancel(ctx), cluster.UpOptions{}); err != nil {
			return err
		}
		s.tell(theFault, "the API server is back")
		return nil
	}
	if err := s.Cluster.Kill(ctx, "kube-apiserver"); err != nil {
		return nil, errors.Join(err, end()) // it may have been killed all the same
	}
	return end, nil
}

// killProgram is F5.
func killProgram(ctx context.Context, s *session) (end func() error, err error) {
	first := s.copies[0]
	return s.follow(ctx, first.proxy.AfterWrite(1, func(audit.Request) { first.program.Kill() })), nil
}

// addCopy is F7. Copies are told apart by their number; the one that is killed is the oldest.
func addCopy(_ context.Context, s *session) (end func() error, err error) {
	if err := s.startCopy(); err != nil {
		return nil, err
	}
	return func() error {
		oldest := s.copies[0]
		s.copies = s.copies[1:]
		s.tell(oldest.source(theProgram), "is killed, and not started again")
		oldest.close((*process.Program).Destroy)
		return nil
	}, nil
}
