package chapters

import (
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
		names, want []string
		wantErr     bool
	}{
		"no name means all chapters":            {nil, []string{"01-raw-watch", "02-informers"}, false},
		"a number with its zero":                {[]string{"02"}, []string{"02-informers"}, false},
		"a number without its zero":             {[]string{"2"}, []string{"02-informers"}, false},
		"a folder":                              {[]string{"01-raw-watch"}, []string{"01-raw-watch"}, false},
		"a folder as a shell completes it":      {[]string{"01-raw-watch/"}, []string{"01-raw-watch"}, false},
		"several, in the order asked for":       {[]string{"2", "1"}, []string{"02-informers", "01-raw-watch"}, false},
		"a folder that isn't a chapter":         {[]string{"scripts"}, nil, true},
		"a chapter that doesn't exist":          {[]string{"03"}, nil, true},
		"an empty name isn't the first chapter": {[]string{""}, nil, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			found, err := Find(root, test.names...)
			if (err != nil) != test.wantErr {
				t.Fatalf("got error %v, want one: %v", err, test.wantErr)
			}
			if len(found) != len(test.want) {
				t.Fatalf("found %v, want %v", found, test.want)
			}
			for i := range found {
				if found[i].Name != test.want[i] {
					t.Errorf("found %v, want %v", found, test.want)
				}
			}
		})
	}
}
