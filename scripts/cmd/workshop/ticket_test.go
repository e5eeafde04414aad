package main

// The programs of tickets, and of the exercises in which the learner writes one.

import (
	"strings"
	"testing"

	"example.com/operators/scripts/internal/testkit"
)

func TestTheProgram(t *testing.T) {
	t.Setenv("WORKSHOP_ROOT", testkit.Repository())
	for arg, test := range map[string]struct {
		tdset            bool
		wantName, wantOn string // the program's name, and its name in lens
		wantErr          string
	}{
		"03":            {wantName: "03-workqueue", wantOn: "03"},
		"03-workqueue/": {wantName: "03-workqueue", wantOn: "03"},
		"03/7":          {wantName: "03-workqueue-7-busy", wantOn: "03-7-busy"},
		"3":             {tdset: true, wantName: "03-workqueue-tdset", wantOn: "03"},
		"03/9":          {wantName: "03-workqueue-9-capstone", wantOn: "03-9-capstone"},
		"03/1":          {wantErr: "03/1 has no program of its own, because it is neither a ticket nor a capstone"},
		"03/99":         {wantErr: `there is no exercise "03/99"`},
	} {
		_, p, err := theProgram(arg, test.tdset)
		shown, shownErr := programsIn([]string{arg}, test.tdset)
		switch {
		case test.wantErr != "":
			if err == nil || !strings.Contains(err.Error(), test.wantErr) || shownErr == nil {
				t.Errorf("%s: got the errors %v and %v, want %q", arg, err, shownErr, test.wantErr)
			}
		case err != nil || shownErr != nil:
			t.Errorf("%s: got the errors %v and %v", arg, err, shownErr)
		case p.Name != test.wantName || shown[0].Name != test.wantOn:
			t.Errorf("%s: got the program %s, in lens %s; want %s and %s",
				arg, p.Name, shown[0].Name, test.wantName, test.wantOn)
		}
	}
}

func TestLensDoesntKnowOtherKinds(t *testing.T) {
	t.Setenv("WORKSHOP_ROOT", testkit.Repository())
	_, err := programsIn([]string{"07/9"}, false)
	if err == nil || !strings.Contains(err.Error(), "that of 07/9 manages Websites") {
		t.Errorf("got the error %v", err)
	}
}
