package verdict

import (
	"testing"

	"example.com/operators/scripts/internal/gotest"
)

func TestEditPlace(t *testing.T) {
	const file = "01-a/exercises/1-sum/exercise.go"
	for sentence, test := range map[string]struct {
		verdict Verdict
		want    string
	}{
		"the mark":                   {Verdict{}, file + ":7"},
		"the compiler's first error": {Verdict{Compiler: file + ":5:33: undefined: c\n" + file + ":6:1: undefined: d"}, file + ":5"},
		"the first failing test with a place": {
			Verdict{Tests: []Test{{State: gotest.Passed, Place: "a:1"}, {State: gotest.Failed}, {State: gotest.Failed, Place: file + ":6"}}}, file + ":6",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			test.verdict.Exercise = writeSum(t, t.TempDir(), nil)
			if got := test.verdict.EditPlace(); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
	noMark := Verdict{Exercise: writeSum(t, t.TempDir(), map[string]string{"exercise.go": "package sum\n"})}
	if got := noMark.EditPlace(); got != file+":1" {
		t.Errorf("without a mark: got %s", got)
	}
}
