package watch

import (
	"io"
	"slices"
	"testing"
)

func TestReadKeys(t *testing.T) {
	for sentence, test := range map[string]struct{ sent, want []string }{
		"letters":                               {[]string{"jk"}, []string{"j", "k"}},
		"arrows, in both modes":                 {[]string{"\x1b[A\x1b[B", "\x1bOA\x1bOB"}, []string{keyUp, keyDown, keyUp, keyDown}},
		"Esc, and a letter later":               {[]string{"\x1b", "j"}, []string{keyEscape, "j"}},
		"keys that do nothing are one key":      {[]string{"\x1b[1;5Cj", "\x1b[3~j"}, []string{"\x1b[1;5C", "j", "\x1b[3~", "j"}},
		"Enter and Backspace, in two ways":      {[]string{"\r\n\x7f\b"}, []string{keyEnter, keyEnter, keyBackspace, keyBackspace}},
		"a character that is sent in two parts": {[]string{"a\xc3", "\xa4b"}, []string{"a", "ä", "b"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			out, in := io.Pipe()
			go func() {
				for _, part := range test.sent {
					_, _ = in.Write([]byte(part))
				}
				in.Close()
			}()
			var got []string
			for key := range readKeys(t.Context(), out) {
				got = append(got, key)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestALineIsTyped(t *testing.T) {
	var l line
	for _, key := range []string{"a", "ä", keyUp, "b", keyBackspace, keyBackspace, keyEscape, "c", " "} {
		l.take(key)
	}
	if l.text != "ac " {
		t.Errorf("got %q", l.text)
	}
	for range 4 {
		l.take(keyBackspace)
	}
	if l.text != "" {
		t.Errorf("without the text: got %q", l.text)
	}
}
