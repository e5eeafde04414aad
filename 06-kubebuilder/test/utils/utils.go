package utils

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Exec runs a program in the project's folder and returns its output, stdout and stderr. If it
// fails, the error contains the output, too.
func Exec(name string, args ...string) (string, error) { return Run(exec.Command(name, args...)) }

// RunWith is Exec with a text for the program's standard input.
func RunWith(input, name string, args ...string) (string, error) {
	command := exec.Command(name, args...)
	command.Stdin = strings.NewReader(input)
	return Run(command)
}

// Run is Exec for a prepared command. The kubebuilder CLI's specs call it.
func Run(command *exec.Cmd) (string, error) {
	root, err := ProjectDir()
	if err != nil {
		return "", err
	}
	command.Dir = root
	command.Env = append(os.Environ(), "GOWORK=off")
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	if err := command.Run(); err != nil {
		return output.String(), fmt.Errorf("%s: %w:\n%s", strings.Join(command.Args, " "), err, &output)
	}
	return output.String(), nil
}

// ProjectDir returns the folder with the file PROJECT: the current one or one above it.
func ProjectDir() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "PROJECT")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no folder from %s upwards has a file PROJECT", start)
		}
	}
}
