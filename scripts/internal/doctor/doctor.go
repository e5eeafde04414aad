// Package doctor looks at the machine for what will get in the workshop's way, and says the mend. It changes nothing.
package doctor

import (
	"context"

	"example.com/operators/scripts/internal/cluster"
)

// State is how a finding is to be taken.
type State int

const (
	OK State = iota
	Warn
	Bad
)

// Mark is how a state is shown.
func (s State) Mark() string { return [...]string{"✓", "!", "✗"}[s] }

// Finding is what one check found.
type Finding struct {
	State State
	What  string // one sentence
	Mend  string // "" if there is nothing to mend
}

func ok(what string) Finding         { return Finding{OK, what, ""} }
func warn(what, mend string) Finding { return Finding{Warn, what, mend} }
func bad(what, mend string) Finding  { return Finding{Bad, what, mend} }

// Examine runs all checks, on the repository at root and its cluster.
func Examine(ctx context.Context, root string, c *cluster.Cluster) (findings []Finding) {
	m := observe(ctx, root, c)
	for _, check := range checks() {
		findings = append(findings, check(m))
	}
	return findings
}

// checks lists all checks, the most common trouble first.
func checks() []func(machine) Finding {
	return []func(machine) Finding{
		checkGo,
		checkTool("git", "diffs between your work and the course's can't be shown"),
		checkTool("make", "chapters 06 and 07 and their tests need it"),
		checkKubectl, checkCompiler,
		checkFolder, checkPath, checkDisk, checkMemory,
		checkFlags, checkProxy, checkWorkspace, checkHTTPProxy,
		checkPorts, checkStrays, checkClock,
	}
}
