package kind

// What kind says: kept in a log, and its steps shown.

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"sigs.k8s.io/kind/pkg/log"
)

// logger is kind's log.Logger, and its log.InfoLogger. All goes to the writer; what kind is doing, to progress.
type logger struct {
	w        io.Writer
	progress func(string)
	level    log.Level
}

func (l logger) Warn(message string)               { fmt.Fprintln(l.w, "warning:", message) }
func (l logger) Warnf(format string, args ...any)  { l.Warn(fmt.Sprintf(format, args...)) }
func (l logger) Error(message string)              { fmt.Fprintln(l.w, "error:", message) }
func (l logger) Errorf(format string, args ...any) { l.Error(fmt.Sprintf(format, args...)) }
func (l logger) Infof(format string, args ...any)  { l.Info(fmt.Sprintf(format, args...)) }
func (l logger) Enabled() bool                     { return l.level <= 1 }

func (l logger) V(level log.Level) log.InfoLogger {
	l.level = level
	return l
}

func (l logger) Info(message string) {
	if !l.Enabled() {
		return
	}
	message = strings.TrimSpace(message)
	fmt.Fprintln(l.w, message)
	if step, found := strings.CutPrefix(message, "• "); found && l.progress != nil {
		isPicture := func(r rune) bool { return r > unicode.MaxLatin1 || r == ' ' || r == '.' }
		l.progress("kind: " + strings.ToLower(strings.TrimRightFunc(step, isPicture)))
	}
}
