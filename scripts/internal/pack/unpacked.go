package pack

// An unpacked archive. scripts/workshop sets go's environment there for the tool and what it runs.

import (
	"os"
	"path/filepath"
	"strings"
)

// marker is a file in .workshop that only an archive has.
const marker = "packed"

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
// archive, and programs act on the cluster of this kubeconfig. go gets the settings of the workshop's own builds, so that a first `go run` finds
// everything compiled. They are in this process's environment, which scripts/workshop has set.
func Exports(root, kubeconfig string) []string {
	state := filepath.Join(root, ".workshop")
	path := `"$PATH":` + quote(filepath.Join(state, "bin"))
	lines := []string{
		"export KUBECONFIG=" + quote(kubeconfig),
		"export CGO_ENABLED=0",
		"export GOFLAGS=" + quote(strings.TrimSpace(os.Getenv("GOFLAGS"))),
	}
	if Unpacked(root) {
		path = quote(filepath.Join(state, "go", "bin")) + ":" + path
		lines = append(lines, "unset GOROOT")
		for _, variable := range []string{"GOTOOLCHAIN", "GOPROXY", "GOSUMDB"} {
			lines = append(lines, "export "+variable+"="+quote(os.Getenv(variable)))
		}
	}
	return append(lines, "export PATH="+path)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
