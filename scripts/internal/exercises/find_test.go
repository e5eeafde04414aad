package exercises

import (
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	root := t.TempDir()
	writeSum(t, root, "01-a", "1-one", nil)
	writeSum(t, root, "01-a", "2-two", nil)
	writeSum(t, root, "02-b", "1-one", nil)
	writeSum(t, root, "04-d", "0-zero", nil)
	writeSum(t, root, "04-d", "10-ten", nil)
	write(t, root+"/03-c/README.md", "no exercises yet")
	write(t, root+"/01-a/exercises/notes/README.md", "not an exercise")
	for sentence, test := range map[string]struct {
		name, want string // names of exercises, or an error's words
	}{
		"an empty name doesn't mean all":  {"", "the exercise's name is empty"},
		"a chapter":                       {"01", "01/1, 01/2"},
		"a chapter's folder of exercises": {"01-a/exercises", "01/1, 01/2"},
		"with its zero":                   {"01/2", "01/2"},
		"without":                         {"1/2", "01/2"},
		"by its folder":                   {"01-a/exercises/2-two", "01/2"},
		"by a file in it":                 {"01-a/exercises/2-two/exercise.go", "01/2"},
		"one that doesn't exist":          {"01/3", `there is no exercise "01/3"; chapter 01 has 01/1, 01/2`},
		"exercise 0":                      {"04/0", "04/0"},
		"a number with two digits":        {"04/10", "04/10"},
		"a chapter without exercises":     {"03/1", "chapter 03-c has no exercises"},
		"a chapter that doesn't exist":    {"09/1", `there is no chapter "09"; there are 01-a, 02-b, 03-c, 04-d`},
	} {
		t.Run(sentence, func(t *testing.T) {
			found, err := Find(root, test.name)
			if err != nil {
				if !strings.Contains(err.Error(), test.want) {
					t.Errorf("error %q, want %q", err, test.want)
				}
				return
			}
			if got := namesOf(found); got != test.want {
				t.Errorf("found %q, want %q", got, test.want)
			}
		})
	}
	if _, err := FindOne(root, "01"); err == nil || !strings.Contains(err.Error(), "which of its exercises, 01/1, 01/2?") {
		t.Errorf("one, by the name of a chapter: error %v", err)
	}
	if _, err := FindOne(root, ""); err == nil || !strings.Contains(err.Error(), "is empty") {
		t.Errorf("one, by an empty name: error %v", err)
	}
	e, err := FindOne(root, "02/1")
	if err != nil || e.Path("hints.md") != "02-b/exercises/1-one/hints.md" || e.Title != "Sums" || e.Minutes != 5 {
		t.Errorf("found %+v, error %v", e, err)
	}
}
