package process

import (
	"fmt"
	"slices"
	"sync"
	"testing"
)

func TestLinesAreComplete(t *testing.T) {
	var got []string
	lines := &Lines{Do: func(line string) { got = append(got, line) }}
	for _, piece := range []string{"one\ntw", "o", "\n\nthree\n", "unfinished"} {
		if n, err := lines.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Errorf("%q: wrote %d, error %v", piece, n, err)
		}
	}
	if want := []string{"one", "two", "", "three"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestABufferIsSafeForConcurrentUse(t *testing.T) {
	var buffer Buffer
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			fmt.Fprint(&buffer, "x")
			_ = buffer.String()
		})
	}
	all.Wait()
	if buffer.String() != "xxxxxxxxxx" {
		t.Errorf("got %q", buffer.String())
	}
	buffer.Reset()
	if buffer.String() != "" {
		t.Errorf("after a reset: %q", buffer.String())
	}
}
