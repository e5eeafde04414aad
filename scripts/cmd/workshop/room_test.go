package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/exercises/exercisetest"
)

// oneExercise makes a repository with 01/1 the current one.
func oneExercise(t *testing.T) {
	t.Helper()
	root := t.TempDir()
	exercisetest.Write(t, root, "01-a", "1-one", nil)
	t.Setenv("WORKSHOP_ROOT", root)
	t.Setenv("WORKSHOP_CLUSTER", "")
	t.Setenv(roomVariable, "")
	t.Setenv(nameVariable, "")
}

// execute runs a command line, and returns what it printed.
func execute(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	command := newRootCommand()
	command.SetArgs(args)
	var out, errors bytes.Buffer
	command.SetOut(&out)
	command.SetErr(&errors)
	err = command.ExecuteContext(t.Context())
	return out.String(), errors.String(), err
}

// openRoom runs progress --serve until the test ends, and returns the room's address.
func openRoom(t *testing.T) string {
	t.Helper()
	command := newRootCommand()
	command.SetArgs([]string{"progress", "--serve", "127.0.0.1:0"})
	reader, writer := io.Pipe()
	command.SetOut(writer)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		err := command.ExecuteContext(ctx)
		writer.CloseWithError(io.EOF)
		ended <- err
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("progress --serve: %v", err)
		}
	})
	var printed strings.Builder
	for lines := bufio.NewScanner(reader); lines.Scan(); {
		printed.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), "Press Ctrl-C") {
			break
		}
	}
	line := regexp.MustCompile(`(?m)^    \./scripts/workshop watch --room (http://127\.0\.0\.1:\d+/\w+-\w+) --name Ana$`).FindStringSubmatch(printed.String())
	if line == nil {
		t.Fatalf("no line for learners in\n%s", &printed)
	}
	return line[1]
}

func TestACheckIsShownInTheRoom(t *testing.T) {
	oneExercise(t)
	url := openRoom(t)
	response, err := http.Get(url + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, stderr, err := execute(t, "check", "01/1", "--room", url, "--name", "Ana <b>"); err != errReported || stderr != "" {
		t.Fatalf("error %v, and printed %q", err, stderr)
	}
	for lines := bufio.NewScanner(response.Body); ; {
		if !lines.Scan() {
			t.Fatalf("the page got no update: %v", lines.Err())
		}
		if text := lines.Text(); strings.Contains(text, "Ana &lt;b&gt;") {
			if !strings.Contains(text, "<td>01/1</td>") || !strings.Contains(text, "1 of 2 tests") {
				t.Errorf("it shows %s", text)
			}
			return
		}
	}
}

// An unreachable room changes nothing about the check but one line.
func TestACheckWithoutItsRoom(t *testing.T) {
	oneExercise(t)
	url := openRoom(t) + "-wrong"
	without, _, _ := execute(t, "check", "01/1")
	t.Setenv(roomVariable, url)
	t.Setenv(nameVariable, "Ana")
	stdout, stderr, err := execute(t, "check", "01/1")
	took := regexp.MustCompile(`\(\d+\.\ds\)`)
	if took.ReplaceAllString(stdout, "") != took.ReplaceAllString(without, "") || err != errReported {
		t.Errorf("error %v, and printed\n%s\nwant\n%s", err, stdout, without)
	}
	const want = "workshop: the room can't be reached: it answers 404: there is no room at this address: use the one on the instructor's screen\n"
	if stderr != want {
		t.Errorf("printed %q, want %q", stderr, want)
	}
}

func TestWrongFlagsOfTheRoom(t *testing.T) {
	oneExercise(t)
	for line, want := range map[string]string{
		"check 01/1 --room here --name Ana":              `--room "here"`,
		"watch 01/1 --room http://1.2.3.4:5 --name Ana":  `--room "http://1.2.3.4:5"`,
		"check 01/1 --room= --name Ana":                  `--room ""`,
		"check 01/1 --room http://1.2.3.4:5/lomar-tibek": "--name (or WORKSHOP_NAME) says who you are in the room: the name is empty",
		"watch 01/1 --name Ana":                          "--name is for --room",
		"progress --serve 8090":                          `--serve "8090" isn't an address`,
		"progress --serve=":                              `--serve "" isn't an address`,
	} {
		if _, _, err := execute(t, strings.Fields(line)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got the error %v, want %q", line, err, want)
		}
	}
}
