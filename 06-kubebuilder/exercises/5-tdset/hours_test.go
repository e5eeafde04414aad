//go:build check || solution

package main

import "testing"

func TestInWords(t *testing.T) {
	for want, hours := range map[string][]int{
		"9 to 10":                            {9},
		"0 to 2 and 7 to 8":                  {0, 1, 7},
		"0 to 1, 7 to 9 and 23 to 24":        {23, 7, 8, 0},
		"22 to 24":                           {22, 23, 23},
		"0 to 3, 4 to 5, 6 to 7 and 9 to 10": {0, 1, 2, 4, 6, 9},
	} {
		if got := inWords(hours); got != want {
			t.Errorf("inWords(%d) is %q, want %q", hours, got, want)
		}
	}
}
