package judge

// The report as JUnit XML, which CI systems show: a test case for each check.

import (
	"encoding/xml"
	"io"
	"strings"

	"example.com/operators/scripts/internal/ui"
)

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    float64       `xml:"time,attr"` // in seconds
	Failure *junitProblem `xml:"failure"`
	Error   *junitProblem `xml:"error"`
	Skipped *junitProblem `xml:"skipped"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes the report as JUnit XML. Known findings aren't failures.
func (r Report) WriteJUnit(w io.Writer) error {
	suite := junitSuite{Name: "judge " + r.Operator, Tests: len(r.Results)}
	for _, result := range r.Results {
		test := junitCase{
			Class: "judge", Name: result.Check.Name + ": " + result.Promise, Time: result.took().Seconds(),
		}
		findings := result.newFindings()
		switch {
		case len(findings) > 0:
			var text strings.Builder
			for _, finding := range findings {
				writeFinding(&text, ui.NewPalette(false), result, finding)
			}
			test.Failure = &junitProblem{findings[0].What, text.String()}
			suite.Failures++
		case result.Verdict == Failed || result.Verdict == Unjudged:
			test.Error = &junitProblem{Message: result.Why}
			suite.Errors++
		case result.Verdict == Skipped:
			test.Skipped = &junitProblem{Message: result.Why}
			suite.Skipped++
		}
		suite.Cases = append(suite.Cases, test)
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	return encoder.Encode(suite)
}
