package main

import (
	"bytes"
	"testing"

	"example.com/operators/scripts/internal/testfiles"
)

func TestAgenda(t *testing.T) {
	const first, second = "## 1h (1:00): a test\n\n| at | min |\n| 0:00 | 5 |\n| 1:30 | 60 |\n", "## 2h (2:00): more\n\n| 0:00 | 5 |\n"
	t.Setenv("WORKSHOP_ROOT", testfiles.Write(t, t.TempDir(), map[string]string{"scripts/AGENDA.md": "# Timetables\n\n" + first + "\n" + second}))
	const firstAt, secondAt = "## 1h (1:00): a test\n\n| at | min |\n| 23:00 | 5 |\n| 00:30 | 60 |\n", "## 2h (2:00): more\n\n| 23:00 | 5 |\n"
	for name, want := range map[string]string{"1h": firstAt, "2h": secondAt, "": firstAt + "\n" + secondAt} {
		args := []string{"agenda", "--start", "23:00"}
		if name != "" {
			args = append(args, name)
		}
		command := newRootCommand()
		command.SetArgs(args)
		var out bytes.Buffer
		command.SetOut(&out)
		if err := command.ExecuteContext(t.Context()); err != nil || out.String() != "# Timetables\n\n"+want {
			t.Errorf("%q printed\n%s\nwant\n%s\nerror %v", args, out.String(), want, err)
		}
	}
}
