package checks

// The budgets: how long a chapter may be, and how much of it is new to who comes from the one before. A diff that is larger than its lesson
// teaches less, and nobody notices it growing.

import (
	"context"
	"fmt"

	"example.com/operators/scripts/internal/chapterdiff"
	"example.com/operators/scripts/internal/chapters"
)

// budget is what a chapter may have at most: lines of handwritten Go, as `workshop diff --stat all` counts them.
type budget struct{ code, toRead int }

// mostLines are the budgets by a chapter's number. 07 is another operator: no small diff is promised there.
var mostLines = map[string]budget{
	"01": {code: 880},
	"02": {code: 680, toRead: 430},
	"03": {code: 930, toRead: 400},
	"04": {code: 810, toRead: 290},
	"05": {code: 750, toRead: 700},
	"06": {code: 950, toRead: 640},
	// 55 more than it once had: informers that wait for permissions without a limit, and what a server says that overrules, rewords or has
	// replaced something.
	"07": {code: 2010},
}

func budgets(_ context.Context, root string) ([]string, error) {
	all, err := chapters.All(root)
	if err != nil {
		return nil, err
	}
	rows, err := chapterdiff.Rows(all)
	if err != nil {
		return nil, err
	}
	return overBudget(rows), nil
}

// overBudget says which rows have more lines than they may.
func overBudget(rows []chapterdiff.Row) (problems []string) {
	for _, row := range rows {
		most, known := mostLines[row.Chapter.Number()]
		if !known {
			problems = append(problems, fmt.Sprintf("%s: has no budget: give it one in scripts/internal/checks/budgets.go", row.Chapter.Name))
			continue
		}
		if row.Code > most.code {
			problems = append(problems, fmt.Sprintf("%s: %d lines of code, and its budget is %d: make it shorter, or say why it needs more", row.Chapter.Name, row.Code, most.code))
		}
		if most.toRead > 0 && row.ToRead() > most.toRead {
			problems = append(problems, fmt.Sprintf("%s: %d lines to read for who comes from the chapter before, and its budget is %d: does the diff show the lesson and nothing else?",
				row.Chapter.Name, row.ToRead(), most.toRead))
		}
	}
	return problems
}
