package checks

// The budgets: how long a chapter may be, and its diff from the chapter before. Without budgets, a
// diff grows beyond its lesson, and nobody notices.

import (
	"context"
	"errors"

	"example.com/operators/scripts/internal/chapterdiff"
	"example.com/operators/scripts/internal/chapters"
)

// budget is the most lines of handwritten Go, as `workshop diff --stat all` counts them.
type budget struct{ code, toRead int }

// mostLines are the budgets. 07 is another operator, so its diff has no budget. The solved TDSet
// exercises only have one for the lines to read.
var mostLines = map[string]budget{
	"01": {code: 868},
	"02": {code: 651, toRead: 298},
	"03": {code: 783, toRead: 217},
	"04": {code: 729, toRead: 250},
	"05": {code: 413, toRead: 397},
	"06": {code: 579, toRead: 354},
	"07": {code: 1632},

	"01-tdset": {},
	"02-tdset": {toRead: 308},
	"03-tdset": {toRead: 255},
	"04-tdset": {toRead: 227},
	"05-tdset": {toRead: 263},
	"06-tdset": {toRead: 225},
}

func budgets(_ context.Context, r *repository) error {
	own, err := chapterdiff.Rows(r.chapters)
	tdsets, err2 := chapterdiff.Rows(chapters.TDSets(r.chapters))
	for _, row := range append(own, tdsets...) {
		r.compareWithBudget(row)
	}
	return errors.Join(err, err2)
}

func (r *repository) compareWithBudget(row chapterdiff.Row) {
	name, budget := row.Chapter.Name, row.Chapter.Number()
	if row.Chapter.Solved {
		name, budget = name+"/exercises/5-tdset", budget+"-tdset"
	}
	most, known := mostLines[budget]
	if !known {
		r.report("%s: has no budget: give it one in scripts/internal/checks/budgets.go", name)
		return
	}
	if most.code > 0 && row.Code > most.code {
		r.report("%s: %d lines of code, but its budget is %d: make it shorter, or explain why it needs more", name, row.Code, most.code)
	}
	if most.toRead > 0 && row.ToRead() > most.toRead {
		r.report("%s: %d lines to read if you come from the chapter before, but its budget is %d: does the diff show the lesson and nothing else?",
			name, row.ToRead(), most.toRead)
	}
}
