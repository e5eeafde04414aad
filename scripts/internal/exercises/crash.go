package exercises

// How a test run ended before its end: a panic, a test that never ends, a failure of Go's runtime, an exit.

import (
	"regexp"
	"strconv"
	"strings"
)

// crash is what the runtime printed.
type crash struct {
	headline string // after "panic: ", without the runtime's notes
	timedOut string // how long it was waited for; "": it wasn't that
	stacks   string // of the goroutines, the one that crashed first
	exited   bool   // nothing was printed: the program just ended
}

var (
	crashed  = regexp.MustCompile(`(?s)(?:panic: |fatal error: )(.*?)\n\n((?:runtime stack:\n.*?\n\n)?goroutine \d+ .*)$`)
	timedOut = regexp.MustCompile(`^test timed out after (\S+)`)
	notes    = regexp.MustCompile(` \[recovered(, repanicked)?\]|\n\[signal [^\n]*\]`)
	// stackFrame is a function and the line in it, as in a goroutine's stack.
	stackFrame = regexp.MustCompile(`(?m)^(\S.*)\(.*\)\n\t(\S+\.go):(\d+)`)
	// compiled is what the compiler adds to the names of functions in functions, and of init.
	compiled = regexp.MustCompile(`(\.(func|gowrap|deferwrap)?\d+|-range\d+).*$`)
	// waiting is the head of a goroutine's stack.
	waiting = regexp.MustCompile(`(?m)^goroutine \d+ .*?\[([a-z][^,\]]*).*\]:$`)
)

// findCrash finds a crash in a test's output. There is none in most.
func findCrash(output string) *crash {
	match := crashed.FindStringSubmatch(output)
	if match == nil {
		return nil
	}
	c := &crash{headline: notes.ReplaceAllString(match[1], ""), stacks: match[2]}
	if match := timedOut.FindStringSubmatch(c.headline); match != nil {
		c.timedOut = match[1]
	}
	return c
}

// beforeCrash is what a test had printed until then.
func beforeCrash(output string) string {
	if at := crashed.FindStringIndex(output); at != nil {
		return output[:at[0]]
	}
	return output
}

func (c *crash) message() string {
	switch {
	case c.exited:
		return "it ended the whole run: something in it calls os.Exit or log.Fatal"
	case c.timedOut != "":
		return "it didn't end within " + c.timedOut + ", and was ended"
	}
	return "it panicked: " + c.headline
}

// place is the line in the learner's file where it happened, and what is there: the innermost one of the first goroutine that
// is in that file. The line is 0 if none is.
func (c *crash) place(e Exercise) (line int, why string) {
	for _, match := range stackFrame.FindAllStringSubmatch(c.stacks, -1) {
		if strings.HasSuffix(match[2], "/"+folder+"/"+e.Folder+"/"+exerciseFile) {
			line, _ = strconv.Atoi(match[3])
			return line, c.why(functionName(match[1]))
		}
	}
	return 0, ""
}

// why says what is at that place.
func (c *crash) why(function string) string {
	if c.timedOut == "" {
		return "in " + function
	}
	doing := "busy"
	for _, stack := range strings.Split(c.stacks, "\n\n") {
		if match := waiting.FindStringSubmatch(stack); match != nil && strings.Contains(stack, "/"+exerciseFile+":") {
			if !strings.HasPrefix(match[1], "run") {
				doing = "waiting: " + match[1]
			}
			break
		}
	}
	return "in " + function + " (" + doing + ")"
}

// functionName is the name in a stack's frame, such as Follow in example.com/a/b.Follow.func1, or T.Get in b.(*T).Get.
func functionName(qualified string) string {
	name := qualified[strings.LastIndex(qualified, "/")+1:]
	_, name, _ = strings.Cut(name, ".")
	return strings.NewReplacer("(*", "", ")", "").Replace(compiled.ReplaceAllString(name, ""))
}
