package kind

// What kind says: kept in a log, and its steps shown.

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"sigs.k8s.io/kind/pkg/log"
)

// logger is kind's log.Logger. All goes to the writer; what kind is doing, to progress.
type logger struct {
	w        io.Writer
	progress func(string)
}

func (l logger) Warn(message string)               { fmt.Fprintln(l.w, "warning:", message) }
func (l logger) Warnf(format string, args ...any)  { l.Warn(fmt.Sprintf(format, args...)) }
func (l logger) Error(message string)              { fmt.Fprintln(l.w, "error:", message) }
func (l logger) Errorf(format string, args ...any) { l.Error(fmt.Sprintf(format, args...)) }

func (l logger) V(level log.Level) log.InfoLogger { return info{l, level} }

type info struct {
	logger
	level log.Level
}

func (i info) Enabled() bool                    { return i.level <= 1 }
func (i info) Infof(format string, args ...any) { i.Info(fmt.Sprintf(format, args...)) }

func (i info) Info(message string) {
	if !i.Enabled() {
		return
	}
	fmt.Fprintln(i.w, strings.TrimSpace(message))
	if step, found := strings.CutPrefix(strings.TrimSpace(message), "• "); found && i.progress != nil {
		i.progress("kind: " + plain(step))
	}
}

// plain takes the pictures from what kind says.
func plain(step string) string {
	kept := strings.Map(func(r rune) rune {
		if r > unicode.MaxLatin1 {
			return -1
		}
		return unicode.ToLower(r)
	}, strings.TrimSuffix(step, "..."))
	return strings.Join(strings.Fields(kept), " ")
}
