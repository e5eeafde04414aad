package verdict

// What the tests check, in words: a sentence for each test, and headings for groups of subtests.

import (
	"regexp"
	"strings"
)

// TestName returns a sentence without spaces, as in go test's names.
func TestName(sentence string) string { return blank.ReplaceAllString(sentence, "_") }

var blank = regexp.MustCompile(`[\s\pZ]`)

func (s *source) sentence(name string) string {
	function, subtest, _ := strings.Cut(name, "/")
	if subtest == "" {
		return inWords(strings.TrimPrefix(function, "Test"))
	}
	if found := s.lookUp(subtest); found.text != "" {
		return found.text
	}
	return strings.ReplaceAll(subtest, "_", " ")
}

// lookUp finds the sentence of a subtest. The sentence of "a/b" may be b, a subtest of a subtest.
func (s *source) lookUp(subtest string) (found sentence) {
	for more := true; more && found.text == ""; {
		found = s.sentences[subtest]
		_, subtest, more = strings.Cut(subtest, "/")
	}
	return found
}

// group gives subtests the heading of their test, if several tests have subtests. A single heading
// would add nothing, because the whole exercise is about it.
func (s *source) group(tests []Test) {
	headings := map[string]string{}
	for _, t := range tests {
		if function, _, isSubtest := strings.Cut(t.Name, "/"); isSubtest {
			headings[function] = s.heading(function)
		}
	}
	for i := range tests {
		if function, _, isSubtest := strings.Cut(tests[i].Name, "/"); isSubtest && len(headings) > 1 {
			tests[i].Group = headings[function]
		}
	}
}

// heading returns the name of the learner's function that a test is named after, such as scheduleAt
// for TestScheduleAt. Otherwise it returns the test's sentence, such as "Nothing to do".
func (s *source) heading(test string) string {
	name := strings.TrimPrefix(test, "Test")
	for _, name := range []string{name, strings.ToLower(name[:1]) + name[1:]} {
		if f := s.functions[name]; f != nil && f.learners {
			return name
		}
	}
	words := inWords(name)
	return strings.ToUpper(words[:1]) + words[1:]
}

// Words end before the last capital of several, as in HTTPServer, and before the first one.
var (
	lastCapital  = regexp.MustCompile(`([A-Z])([A-Z][a-z])`)
	firstCapital = regexp.MustCompile(`([a-z0-9])([A-Z])|_`)
)

// inWords returns "after a restart" for "AfterARestart". Abbreviations stay.
func inWords(name string) string {
	words := strings.Fields(firstCapital.ReplaceAllString(lastCapital.ReplaceAllString(name, "$1 $2"), "$1 $2"))
	for i, word := range words {
		if len(word) == 1 || strings.ToUpper(word) != word {
			words[i] = strings.ToLower(word)
		}
	}
	return strings.Join(words, " ")
}
