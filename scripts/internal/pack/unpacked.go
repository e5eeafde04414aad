package pack

// The other end: a repository that was unpacked from an archive. scripts/workshop sets what go needs there, so that the tool, and
// whatever it starts, has it.

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// marker is a file in .workshop that only an archive has. scripts/workshop reads its line "platform".
const marker = "packed"

func (p *packer) addMarker() error {
	text := fmt.Sprintf("platform %s\ngo %s\ncommit %s\n", p.Platform, p.goIs, p.commit)
	if err := os.WriteFile(p.path(marker), []byte(text), 0o600); err != nil {
		return err
	}
	return p.add(".workshop/"+marker, p.path(marker))
}

// Unpacked reports whether the repository at root came from an archive.
func Unpacked(root string) bool { return isThere(filepath.Join(root, ".workshop", marker)) }

// Brought are the names in .workshop that only an archive can bring again, if one has.
func Brought(root string) []string {
	if !Unpacked(root) {
		return nil
	}
	return []string{marker, "go", "proxy", "bin"}
}

// Exports are lines for a shell, after which go, gofmt and kubectl are the workshop's: those of an archive, where it came from one.
// go builds without cgo then, as the workshop does (see package gobuild), so that a first `go run` finds everything compiled.
// lookUp finds variables in the environment that scripts/workshop has set.
func Exports(root string, lookUp func(string) (string, bool)) []string {
	state := filepath.Join(root, ".workshop")
	path := `"$PATH"`
	lines := []string{"export CGO_ENABLED=0"}
	if isThere(filepath.Join(state, "go", "bin", "go")) {
		path = quote(filepath.Join(state, "go", "bin")) + ":" + path
		lines = append(lines, "unset GOROOT")
	}
	lines = append(lines, "export PATH="+path+":"+quote(filepath.Join(state, "bin")))
	for _, setting := range []struct{ variable, from string }{{"GOTOOLCHAIN", "go/bin/go"}, {"GOPROXY", "proxy"}, {"GOSUMDB", "proxy"}} {
		if value, set := lookUp(setting.variable); set && isThere(filepath.Join(state, setting.from)) {
			lines = append(lines, "export "+setting.variable+"="+quote(value))
		}
	}
	return lines
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// quote makes one word of a text, for any POSIX shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
