package chapters

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestFind(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"01-raw-watch", "02-informers", "scripts", ".git"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for sentence, test := range map[string]struct {
		names []string
		want  string // "": an error
	}{
		"no name means all chapters":            {nil, "[01-raw-watch 02-informers]"},
		"a number with its zero":                {[]string{"02"}, "[02-informers]"},
		"a number without its zero":             {[]string{"2"}, "[02-informers]"},
		"a folder as a shell completes it":      {[]string{"01-raw-watch/"}, "[01-raw-watch]"},
		"several, in the order asked for":       {[]string{"2", "1"}, "[02-informers 01-raw-watch]"},
		"a folder that isn't a chapter":         {[]string{"scripts"}, ""},
		"an empty name isn't the first chapter": {[]string{""}, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			found, err := Find(root, test.names...)
			if got := fmt.Sprint(Names(found)); (err != nil) != (test.want == "") || err == nil && got != test.want {
				t.Errorf("found %s, error %v, want %s", got, err, test.want)
			}
		})
	}
}
