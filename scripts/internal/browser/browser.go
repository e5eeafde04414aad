// Package browser finds a browser for the tests and the pictures of the page of `workshop lens`.
package browser

import (
	"os/exec"
	"strings"

	"example.com/operators/scripts/internal/problem"
)

// names are the names and paths under which Chromium and Chrome are usually installed.
var names = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"}

// ErrNone is the error of Find if there is no browser.
var ErrNone error = problem.New("there is neither Chromium nor Chrome on this machine").
	ToDo("install one, so that one of these is in your PATH: %s", strings.Join(names[:4], ", "))

// Find returns the path of a browser, or ErrNone.
func Find() (path string, err error) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrNone
}
