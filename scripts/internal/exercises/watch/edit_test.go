package watch

import (
	"os"
	"strings"
	"testing"
)

func TestTheEditorIsStartedInTheBackground(t *testing.T) {
	root := t.TempDir()
	one := writeSum(t, root, "01-a", "1-one", nil)
	editor := root + "/editor"
	if err := os.WriteFile(editor, []byte("#!/bin/sh\necho \"$@ isn't there\"\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	w := watchOn(t, root, Watch{EditCommand: editor + " -g {file}:{line}"}, true, 0)
	w.waitFor("e edit   " + keysLine)
	w.press("e")
	w.waitFor("failed: exit status 3\n-g " + one.File("exercise.go") + ":7 isn't there")
	w.waitFor(keysLine)
}

func TestWithoutAnEditorsCommand(t *testing.T) {
	root := t.TempDir()
	writeSum(t, root, "01-a", "1-one", nil)
	w := watch(t, root, noChecker, true)
	w.waitFor(keysLine)
	if strings.Contains(w.String(), "e edit") {
		t.Error("e is offered")
	}
	w.press("e")
	w.waitFor("--edit-cmd 'code -g {file}:{line}'")
	w.waitFor(keysLine)
}
