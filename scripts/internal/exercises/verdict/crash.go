package verdict

// Crashes of a test run: a panic, a timeout, a failure of Go's runtime, or an exit.

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/gotest"
)

type crash struct {
	headline string // after "panic: ", without the runtime's notes
	timedOut string // the time limit that was exceeded; "": none was
	stacks   string // of the goroutines, the one that crashed first
	exited   bool   // nothing was printed: the program just ended
}

var (
	crashed  = regexp.MustCompile(`(?s)(?:panic: |fatal error: )(.*?)\n\n((?:runtime stack:\n.*?\n\n)?goroutine \d+ .*)$`)
	timedOut = regexp.MustCompile(`^test timed out after (\S+)`)
	notes    = regexp.MustCompile(` \[recovered(, repanicked)?\]|\n\[signal [^\n]*\]`)
	// stackFrame matches a function and its line in a goroutine's stack.
	stackFrame = regexp.MustCompile(`(?m)^(\S.*)\(.*\)\n\t(\S+\.go):(\d+)`)
	// compiled matches what the compiler adds to the names of function literals and of init.
	compiled = regexp.MustCompile(`(\.(func|gowrap|deferwrap)?\d+|-range\d+).*$`)
	// waiting matches the head of a goroutine's stack.
	waiting = regexp.MustCompile(`(?m)^goroutine \d+ .*?\[([a-z][^,\]]*).*\]:$`)
)

// findCrash returns the crash in a test's output, or nil, and the output before it.
func findCrash(output string) (before string, c *crash) {
	match := crashed.FindStringSubmatch(output)
	if match == nil {
		return output, nil
	}
	before, _, _ = strings.Cut(output, match[0])
	c = &crash{headline: notes.ReplaceAllString(match[1], ""), stacks: match[2]}
	if match := timedOut.FindStringSubmatch(c.headline); match != nil {
		c.timedOut = match[1]
	}
	return before, c
}

// assignCrashes finds the test that ended the whole run. go test reports a subtest's panic as its
// parent's output, although it belongs to the subtest that ran last.
func assignCrashes(run *gotest.Package) map[*gotest.Test]*crash {
	crashes := map[*gotest.Test]*crash{}
	var last *gotest.Test // unfinished one
	for i, t := range run.Tests {
		if t.State == gotest.Unfinished {
			last = t
		}
		_, c := findCrash(string(t.Output))
		if c == nil {
			continue
		}
		culprit := t
		for _, other := range run.Tests[i:] {
			unsuccessful := other.State == gotest.Failed || other.State == gotest.Unfinished
			if unsuccessful && strings.HasPrefix(other.Name, t.Name+"/") {
				culprit = other
			}
		}
		culprit.State = gotest.Failed
		crashes[culprit] = c
	}
	if run.Failed && last != nil && len(crashes) == 0 {
		last.State = gotest.Failed
		crashes[last] = &crash{exited: true}
	}
	return crashes
}

func (c *crash) message() string {
	switch {
	case c.exited:
		return "it ended the whole test run, because something in it calls os.Exit or log.Fatal"
	case c.timedOut != "":
		return "it didn't finish within " + c.timedOut + ", and was stopped"
	}
	return "it panicked: " + c.headline
}

// place returns the crash's innermost line in the learner's file, or 0, and the function.
func (c *crash) place(e exercises.Exercise) (line int, why string) {
	for _, match := range stackFrame.FindAllStringSubmatch(c.stacks, -1) {
		if strings.HasSuffix(match[2], "/"+exercises.Folder+"/"+e.Folder+"/"+exercises.ExerciseFile) {
			line, _ = strconv.Atoi(match[3])
			return line, "in " + functionName(match[1]) + c.doing()
		}
	}
	return 0, ""
}

// doing says what the learner's code was doing at the timeout.
func (c *crash) doing() string {
	if c.timedOut == "" {
		return ""
	}
	stacks := strings.Split(c.stacks, "\n\n")
	i := slices.IndexFunc(stacks, func(stack string) bool {
		return strings.Contains(stack, "/"+exercises.ExerciseFile+":")
	})
	if match := waiting.FindStringSubmatch(stacks[max(0, i)]); match != nil && !strings.HasPrefix(match[1], "run") {
		return ", waiting: " + match[1]
	}
	return ", busy"
}

// functionName returns Follow for example.com/a/b.Follow.func1, and T.Get for b.(*T).Get.
func functionName(qualified string) string {
	name := qualified[strings.LastIndex(qualified, "/")+1:]
	_, name, _ = strings.Cut(name, ".")
	return strings.NewReplacer("(*", "", ")", "").Replace(compiled.ReplaceAllString(name, ""))
}
