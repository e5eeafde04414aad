package pack

// An unpacked archive. scripts/workshop sets go's environment there for the tool and what it runs.

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// marker is a file in .workshop that only an archive has. It says what the archive is for.
const marker = "packed"

func (p *packer) addMarker() error {
	text := fmt.Sprintf("platform %s\ngo %s\ncommit %s\n", p.Platform, p.goVersion, p.commit)
	if err := os.WriteFile(p.path(marker), []byte(text), 0o600); err != nil {
		return err
	}
	return p.add(".workshop/"+marker, p.path(marker))
}

func Unpacked(root string) bool { return exists(filepath.Join(root, ".workshop", marker)) }

// Brought returns the names in .workshop that came with the archive, if there was one, and that
// only it can restore.
func Brought(root string) []string {
	if !Unpacked(root) {
		return nil
	}
	return []string{marker, "go", "proxy", "bin"}
}

// Exports are shell commands after which go, gofmt and kubectl are the workshop's, or those of the
// archive. go gets the settings of the workshop's own builds, so that a first `go run` finds
// everything compiled. lookUp reads the environment that scripts/workshop has set.
func Exports(root string, lookUp func(string) (string, bool)) []string {
	state := filepath.Join(root, ".workshop")
	path := `"$PATH"`
	lines := []string{"export CGO_ENABLED=0"}
	if flags, set := lookUp("GOFLAGS"); set {
		lines = append(lines, "export GOFLAGS="+quote(strings.TrimSpace(flags)))
	}
	if exists(filepath.Join(state, "go", "bin", "go")) {
		path = quote(filepath.Join(state, "go", "bin")) + ":" + path
		lines = append(lines, "unset GOROOT")
	}
	lines = append(lines, "export PATH="+path+":"+quote(filepath.Join(state, "bin")))
	for _, setting := range []struct{ variable, from string }{{"GOTOOLCHAIN", "go/bin/go"}, {"GOPROXY", "proxy"}, {"GOSUMDB", "proxy"}} {
		if value, set := lookUp(setting.variable); set && exists(filepath.Join(state, setting.from)) {
			lines = append(lines, "export "+setting.variable+"="+quote(value))
		}
	}
	return lines
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
