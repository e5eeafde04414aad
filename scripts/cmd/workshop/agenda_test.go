package main

import (
	"bytes"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/exercises/exercisetest"
	"example.com/operators/scripts/internal/testkit"
)

func TestAgenda(t *testing.T) {
	const first, second = "## 1h (1:00): a test\n\n| at | min |\n| 0:00 | 5 |\n| 1:30 | 60 |\n", "## 2h (2:00): more\n\n| 0:00 | 5 |\n"
	t.Setenv("WORKSHOP_ROOT", testkit.Write(t, t.TempDir(), map[string]string{"scripts/AGENDA.md": "# Timetables\n\n" + first + "\n" + second}))
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

func TestPreparation(t *testing.T) {
	t.Setenv("WORKSHOP_ROOT", root)
	command := newRootCommand()
	command.SetArgs([]string{"agenda", "90m", "--prepare"})
	var out bytes.Buffer
	command.SetOut(&out)
	if err := command.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	const want = `./scripts/workshop doctor
./scripts/workshop up
./scripts/workshop demo 01
./scripts/workshop demo 03
./scripts/workshop check 01/1
./scripts/workshop check 03/1
`
	if out.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), want)
	}
}

// What a workshop skips stays open for the learner.
func TestCatchingUpInAWorkshop(t *testing.T) {
	root := t.TempDir()
	for _, folder := range []string{"1-one", "2-two", "3-three"} {
		exercisetest.Write(t, root, "01-a", folder, nil)
	}
	testkit.Write(t, root, map[string]string{"scripts/AGENDA.md": "# Timetables\n\n## 1h (1:00): a test\n\n" +
		"| 0:00 | 5 | [Exercise 01/1: Sums](../README.md) | |\n| 0:05 | 5 | [Exercise 01/3: Sums](../README.md) | |\n"})
	t.Setenv("WORKSHOP_ROOT", root)
	for _, test := range []struct {
		args    []string
		want    string
		wantErr string
	}{
		{
			args: []string{"catch-up", "01/2", "--agenda", "1h"},
			want: "01/1  Sums  the solution is in place\n\nYou are caught up to 01/1.",
		},
		{
			args: []string{"catch-up", "01/3", "--agenda", "1h"},
			want: "01/1  Sums  the solution is in place already\n01/3  Sums  the solution is in place\n\nYou are caught up to 01/3.",
		},
		{
			args:    []string{"catch-up", "01/3", "--agenda", "2h"},
			wantErr: `there is no timetable "2h"`,
		},
	} {
		command := newRootCommand()
		command.SetArgs(test.args)
		var out bytes.Buffer
		command.SetOut(&out)
		err := command.ExecuteContext(t.Context())
		if (err != nil) != (test.wantErr != "") || err != nil && !strings.Contains(err.Error(), test.wantErr) || !strings.HasPrefix(out.String(), test.want) {
			t.Errorf("%q printed\n%s\nerror %v", test.args, out.String(), err)
		}
	}
}
