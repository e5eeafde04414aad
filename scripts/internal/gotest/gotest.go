// Package gotest runs `go test` and counts what came of it. It is there so that a skipped test, and a package whose tests
// never ran, can't pass for green.
package gotest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Counts are numbers of tests, subtests included. A package that fails by itself, or doesn't build, counts as a failed test.
type Counts struct {
	Passed, Failed, Skipped int
}

// Plus adds.
func (c Counts) Plus(other Counts) Counts {
	return Counts{c.Passed + other.Passed, c.Failed + other.Failed, c.Skipped + other.Skipped}
}

// Result is what a run came to.
type Result struct {
	Counts
	// Problems holds, for each test or package that didn't pass, its name and all that it printed.
	Problems []string
}

// Run runs `go test -json` with args in the module at dir. progress is called with each test's name as it starts. The error
// says that the run itself went wrong; tests that fail are in the Result.
func Run(ctx context.Context, dir string, env, args []string, progress func(test string)) (Result, error) {
	command := exec.CommandContext(ctx, "go", append([]string{"test", "-json"}, args...)...)
	command.Dir = dir
	command.Env = append(os.Environ(), env...)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 30 * time.Second
	var stderr strings.Builder
	command.Stderr = &stderr
	output, err := command.StdoutPipe()
	if err != nil {
		return Result{}, err
	}
	if err := command.Start(); err != nil {
		return Result{}, fmt.Errorf("start go test: %w", err)
	}
	result, parseErr := parse(output, progress)
	io.Copy(io.Discard, output)
	runErr := command.Wait()
	switch {
	case ctx.Err() != nil:
		return result, ctx.Err()
	case parseErr != nil:
		return result, parseErr
	case runErr != nil && len(result.Problems) == 0:
		// go test failed, and no test did: a bad flag, a broken go.mod.
		return result, fmt.Errorf("go test: %w\n%s", runErr, stderr.String())
	}
	return result, nil
}

// event is one line of go test -json, as `go doc test2json` describes it.
type event struct {
	Action     string
	Package    string
	ImportPath string
	Test       string
	Output     string
}

// parse reads the lines of one run.
func parse(lines io.Reader, progress func(string)) (Result, error) {
	var result Result
	printed := map[string][]string{} // by package and test
	record := func(what, key string) {
		result.Problems = append(result.Problems, fmt.Sprintf("%s: %s\n%s", key, what, strings.Join(printed[key], "")))
	}
	scanner := bufio.NewScanner(lines)
	scanner.Buffer(nil, 16<<20)
	for scanner.Scan() {
		var e event
		if err := json.Unmarshal(scanner.Bytes(), &e); err != nil {
			return result, fmt.Errorf("go test printed %q: %w", scanner.Text(), err)
		}
		key := strings.Join(slices.DeleteFunc([]string{e.Package, e.ImportPath, e.Test}, func(s string) bool { return s == "" }), " ")
		switch {
		case e.Action == "output" || e.Action == "build-output":
			printed[key] = append(printed[key], e.Output)
		case e.Action == "build-fail":
			result.Failed++
			record("doesn't build", key)
		case e.Action == "run":
			progress(e.Test)
		case e.Test == "" && e.Action == "fail":
			// A package fails because a test did, or by itself: in TestMain, by a panic, a leak, a race.
			if !slices.ContainsFunc(result.Problems, func(p string) bool { return strings.HasPrefix(p, e.Package) }) {
				result.Failed++
				record("failed", key)
			}
		case e.Test == "":
		case e.Action == "pass":
			result.Passed++
			delete(printed, key)
		case e.Action == "fail":
			result.Failed++
			record("failed", key)
		case e.Action == "skip":
			result.Skipped++
			record("was skipped", key)
		}
	}
	if err := scanner.Err(); err != nil {
		return result, fmt.Errorf("read go test's output: %w", err)
	}
	if result.Passed+result.Failed+result.Skipped == 0 && len(result.Problems) == 0 {
		return result, errors.New("no test was run")
	}
	return result, nil
}
