// What people look at when something is wrong: the alerts, the dashboard and the runbook. They have
// to agree with the code. `make test-alerts` tests when the alerts fire.

package controller

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/yaml"
)

// alert is a rule of config/prometheus/rules.yaml.
type alert struct {
	Alert, Expr string
	Labels      map[string]string
	Annotations struct {
		Summary    string
		RunbookURL string `json:"runbook_url"`
	}
}

// The runbook has an entry for each reason of a condition and for each alert, and no others. An
// entry is a heading, or a row of a table.
func TestTheRunbookIsComplete(t *testing.T) {
	want := declaredReasons(t)
	for _, alert := range readAlerts(t) {
		want = append(want, alert.Alert)
		if alert.Labels["severity"] == "" || alert.Annotations.Summary == "" ||
			!strings.HasSuffix(alert.Annotations.RunbookURL, "/more/runbook.md#"+strings.ToLower(alert.Alert)) {
			t.Errorf("%s needs a severity, a summary and the address of its entry in the runbook", alert.Alert)
		}
	}
	runbook, err := os.ReadFile("../../more/runbook.md")
	must(t, err)
	var got []string
	for _, entry := range regexp.MustCompile(`(?m)^(?:###|\|) ([A-Z]\w+)`).FindAllSubmatch(runbook, -1) {
		got = append(got, string(entry[1]))
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the entries of more/runbook.md (-want +got):\n%s", diff)
	}
}

// declaredReasons returns the values of the constants whose names begin with reason.
func declaredReasons(t *testing.T) (reasons []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "conditions.go", nil, 0)
	must(t, err)
	ast.Inspect(file, func(node ast.Node) bool {
		if spec, ok := node.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "reason") {
			reason, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			must(t, err)
			reasons = append(reasons, reason)
		}
		return true
	})
	return reasons
}

// checkQueries fails the test if an alert or a panel of the dashboard asks for a metric that isn't
// served. Prometheus itself wouldn't complain: such an alert never fires, and such a panel is empty.
func checkQueries(t *testing.T) {
	t.Helper()
	families, err := metrics.Registry.Gather()
	must(t, err)
	served := map[string]bool{}
	for _, family := range families {
		served[family.GetName()] = true
	}
	var dashboard struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	text, err := os.ReadFile("../../grafana/tdset-operator.json")
	must(t, err)
	must(t, json.Unmarshal(text, &dashboard))
	var queries []string
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			queries = append(queries, target.Expr)
		}
	}
	for _, alert := range readAlerts(t) {
		queries = append(queries, alert.Expr)
	}
	for _, query := range queries {
		// A word with an underscore is a metric, unless it is a function or a variable of Grafana.
		for _, word := range regexp.MustCompile(`\$?\w*_\w+\(?`).FindAllString(query, -1) {
			if name := strings.TrimSuffix(word, "_bucket"); !strings.ContainsAny(name, "$(") && !served[name] {
				t.Errorf("nobody serves %s, which is in the query %s", name, query)
			}
		}
	}
}

func readAlerts(t *testing.T) (alerts []alert) {
	t.Helper()
	var rule struct {
		Spec struct{ Groups []struct{ Rules []alert } }
	}
	text, err := os.ReadFile("../../config/prometheus/rules.yaml")
	must(t, err)
	must(t, yaml.Unmarshal(text, &rule))
	for _, group := range rule.Spec.Groups {
		alerts = append(alerts, group.Rules...)
	}
	return alerts
}
