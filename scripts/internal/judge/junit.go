package judge

// The report as JUnit XML, which CI systems show: a test case for each check.

import (
	"fmt"
	"io"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"example.com/operators/scripts/internal/ui"
)

// WriteJUnit writes the report as JUnit XML. Known findings aren't failures.
func (r Report) WriteJUnit(w io.Writer) error {
	suite := junit.Testsuite{Name: "judge " + r.Operator}
	for _, result := range r.Results {
		test := junit.Testcase{
			Classname: "judge", Name: result.name() + ": " + result.Promise,
			Time: fmt.Sprintf("%.1f", result.took().Seconds()),
		}
		findings := result.newFindings()
		switch {
		case len(findings) > 0:
			var text strings.Builder
			for _, finding := range findings {
				writeFinding(&text, ui.NewPalette(false), result, finding)
			}
			test.Failure = &junit.Result{Message: findings[0].String(), Data: text.String()}
		case result.Verdict == Failed || result.Verdict == Unjudged:
			test.Error = &junit.Result{Message: result.Why}
		case result.Verdict == Skipped:
			test.Skipped = &junit.Result{Message: result.Why}
		}
		suite.AddTestcase(test)
	}
	var suites junit.Testsuites
	suites.AddSuite(suite)
	return suites.WriteXML(w)
}
