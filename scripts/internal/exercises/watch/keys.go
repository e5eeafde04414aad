package watch

// The keys, as a terminal in raw mode sends them.

import (
	"context"
	"io"
	"regexp"
	"unicode"
	"unicode/utf8"
)

// A key is a character, or the escape sequence of another key.
const (
	keyCtrlC     = "\x03"
	keyCtrlD     = "\x04"
	keyEscape    = "\x1b"
	keyEnter     = "\r"
	keyBackspace = "\x7f"
	keyUp        = "\x1b[A"
	keyDown      = "\x1b[B"
)

// sequence matches what a key without a character sends, such as an arrow or Home.
var sequence = regexp.MustCompile(`^\x1b(\[[0-9;]*[A-Za-z~]|O[A-Za-z])`)

// synonyms are the other sequences that some terminals send for these keys.
var synonyms = map[string]string{"\x1bOA": keyUp, "\x1bOB": keyDown, "\n": keyEnter, "\b": keyBackspace}

// readKeys sends each key to the channel, and closes it at the end of the input.
func readKeys(ctx context.Context, in io.Reader) <-chan string {
	if in == nil {
		return nil
	}
	keys := make(chan string)
	go func() {
		defer close(keys)
		buffer := make([]byte, 256)
		begun := 0 // how many bytes of an incomplete character there are
		for {
			n, err := in.Read(buffer[begun:])
			if err != nil {
				return
			}
			sent := buffer[:begun+n]
			for len(sent) > 0 && utf8.FullRune(sent) {
				var key string
				key, sent = cutKey(sent)
				select {
				case keys <- key:
				case <-ctx.Done():
					return
				}
			}
			begun = copy(buffer, sent)
		}
	}()
	return keys
}

// cutKey cuts off the first key. The bytes of a sequence arrive together, so Esc is a key of its
// own if nothing follows.
func cutKey(sent []byte) (key string, rest []byte) {
	size := len(sequence.Find(sent))
	if size == 0 {
		_, size = utf8.DecodeRune(sent)
	}
	key = string(sent[:size])
	if synonym, ok := synonyms[key]; ok {
		key = synonym
	}
	return key, sent[size:]
}

// line is text that the user types.
type line struct{ text string }

// take adds the key's character, or deletes the last one. It ignores other keys.
func (l *line) take(key string) {
	r, size := utf8.DecodeRuneInString(key)
	switch {
	case key == keyBackspace:
		_, size := utf8.DecodeLastRuneInString(l.text)
		l.text = l.text[:len(l.text)-size]
	case size == len(key) && unicode.IsPrint(r):
		l.text += key
	}
}
