package judge

// The catalogue of the checks. Their code is in the files checks_*.go, in the same order.

import (
	"slices"
	"strings"
	"time"

	"example.com/operators/scripts/internal/problem"
)

// Check is one promise that an operator should keep.
type Check struct {
	Name string `json:"check"`
	// Promise is a sentence that is true if the check passes, Why says what goes wrong otherwise, and
	// Fix what to change in the operator then.
	Promise string `json:"promise"`
	Why     string `json:"-"`
	Fix     string `json:"-"`
	// Lesson is where the course teaches it: a path in the repository.
	Lesson string `json:"-"`

	// Alone says that no other check may run meanwhile, IsFault that it is about a fault of the
	// catalogue, and ofProgram that it is about the whole program, so that it runs once.
	Alone, IsFault bool `json:"-"`
	ofProgram      bool
	lasts          time.Duration // at most; 0: longest
	// requires is the field of judge.yaml, or the flag, without which the check doesn't apply, or "".
	requires string
	run      func(*scenario)
}

// NotFor returns why an operator with this judge.yaml can't be judged by the check, or "".
func (c Check) NotFor(config *Config) string {
	has := map[string]bool{
		"":              true,
		"mutations":     len(config.Mutations) > 0,
		"badInput":      len(config.BadInput) > 0,
		"permissions":   len(config.Permissions) > 0,
		"secondReplica": config.SecondReplica.Args != nil,
		"endpoints":     len(config.Endpoints) > 0,
		"webhooks":      len(config.Webhooks) > 0,
		"cost":          len(config.Cost) > 0,
		"--from":        config.From != "",
	}
	switch {
	case has[c.requires]:
		return ""
	case strings.HasPrefix(c.requires, "--"):
		return c.requires + " isn't given"
	}
	return "judge.yaml has no " + c.requires
}

// All returns all checks, in the order of the report.
func All() []Check {
	return slices.Concat(workChecks(), writeChecks(), otherPeopleChecks(), nameChecks(), statusChecks(), refusalChecks(),
		deletionChecks(), faultChecks(), accessChecks(), webhookChecks(), costChecks())
}

// Find returns the checks of these names, or all if there are none.
func Find(names ...string) (found []Check, err error) {
	all := All()
	if len(names) == 0 {
		return all, nil
	}
	for _, name := range names {
		i := slices.IndexFunc(all, func(c Check) bool { return strings.EqualFold(c.Name, name) })
		if i < 0 {
			var known []string
			for _, check := range all {
				known = append(known, check.Name)
			}
			return nil, problem.New("there is no check %q", name).ToDo("choose from %s", strings.Join(known, ", "))
		}
		found = append(found, all[i])
	}
	return found, nil
}
