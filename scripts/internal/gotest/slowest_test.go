package gotest

import (
	"fmt"
	"strings"
	"testing"
)

func TestSlowest(t *testing.T) {
	lines := func(p string, tests ...string) string {
		var text strings.Builder
		for _, test := range tests {
			fmt.Fprintf(&text, "{\"Action\":\"run\",\"Package\":%q,\"Test\":%q}\n", p, test)
		}
		for i, test := range tests {
			fmt.Fprintf(&text, "{\"Action\":\"pass\",\"Package\":%q,\"Test\":%q,\"Elapsed\":%d.5}\n", p, test, i)
			fmt.Fprintf(&text, "{\"Action\":\"output\",\"Package\":%q,\"Test\":%q,\"Output\":\"late\"}\n", p, test)
		}
		return text.String()
	}
	results, err := parse(strings.NewReader(lines("a", "TestA", "TestB", "TestB/sub", "TestBe")+lines("b", "TestC", "TestD")), nil)
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]string{
		0:  "",
		2:  "a TestBe 3.5s, a TestB/sub 2.5s",
		99: "a TestBe 3.5s, a TestB/sub 2.5s, b TestD 1.5s, a TestA 500ms, b TestC 500ms",
	} {
		var got []string
		for _, test := range results.Slowest(n) {
			got = append(got, fmt.Sprintf("%s %s %v", test.Package, test.Test, test.Took))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("the slowest %d are %v, want %s", n, got, want)
		}
	}
}
