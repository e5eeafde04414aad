package judge

// The report as JUnit XML, which CI systems show: a test case for each check.

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr"`
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
	suite := junitSuite{
		Name: "judge " + r.Operator, Tests: len(r.Results),
		Errors: r.Count(Failed) + r.Count(Unjudged), Skipped: r.Count(Skipped),
	}
	total := 0.0
	for _, result := range r.Results {
		took := result.Ended.Sub(result.Began).Seconds()
		total += took
		test := junitCase{Class: "judge", Name: result.Check + ": " + result.Promise, Time: fmt.Sprintf("%.3f", took)}
		var problems []string
		for _, finding := range result.Findings {
			if finding.Known {
				continue
			}
			lines := []string{fmt.Sprintf("%s: %s", finding.Severity, finding.What)}
			for _, evidence := range finding.Evidence {
				lines = append(lines, fmt.Sprintf("  %s  %s", evidence.At.Format("15:04:05.000"), evidence.Text))
			}
			problems = append(problems, strings.Join(lines, "\n"))
		}
		switch {
		case len(problems) > 0:
			first, _, _ := strings.Cut(problems[0], "\n")
			test.Failure = &junitProblem{first, strings.Join(problems, "\n")}
			suite.Failures++
		case result.Verdict == Failed || result.Verdict == Unjudged:
			test.Error = &junitProblem{Message: result.Why}
		case result.Verdict == Skipped:
			test.Skipped = &junitProblem{Message: result.Why}
		}
		suite.Cases = append(suite.Cases, test)
	}
	suite.Time = fmt.Sprintf("%.3f", total)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(suite); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
