package gotest

import (
	"slices"
	"testing"
)

func TestFailures(t *testing.T) {
	results := func(tests ...*Test) Results { return Results{{Path: "example.com/a", Failed: true, Tests: tests}} }
	for sentence, test := range map[string]struct {
		results   Results
		want      []Failure
		onlyTests bool
	}{
		"a test without subtests": {
			results:   results(&Test{Name: "TestA", State: Failed}, &Test{Name: "TestB", State: Passed}),
			want:      []Failure{{"example.com/a", "TestA", 1}},
			onlyTests: true,
		},
		"two subtests, and their parent counts once": {
			results: results(&Test{Name: "TestA", State: Failed}, &Test{Name: "TestA/b", State: Failed},
				&Test{Name: "TestA/c", State: Passed}, &Test{Name: "TestA/d", State: Failed}),
			want:      []Failure{{"example.com/a", "TestA/b", 2}, {"example.com/a", "TestA/d", 1}},
			onlyTests: true,
		},
		"a skipped test isn't a failed one": {
			results: results(&Test{Name: "TestA", State: Failed}, &Test{Name: "TestB", State: Skipped}),
			want:    []Failure{{"example.com/a", "TestA", 1}},
		},
		"a package that doesn't build": {results: Results{{Path: "example.com/a", Failed: true, Build: "undefined"}}},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, onlyTests := test.results.Failures()
			if !slices.Equal(got, test.want) || onlyTests != test.onlyTests {
				t.Errorf("got %+v, only tests: %v; want %+v, %v", got, onlyTests, test.want, test.onlyTests)
			}
		})
	}
}

func TestPattern(t *testing.T) {
	failure := Failure{Name: "TestA/it_(really)_is"}
	if got, want := failure.Pattern(), `^TestA$/^it_\(really\)_is$`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
