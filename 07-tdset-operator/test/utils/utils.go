package utils

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Run runs a command in the project's folder and returns what it said, on both outputs. A failure's error has that too.
func Run(name string, args ...string) (string, error) { return RunWith("", name, args...) }

// RunWith is Run with a text for the command to read.
func RunWith(input, name string, args ...string) (string, error) {
	root, err := ProjectDir()
	if err != nil {
		return "", err
	}
	command := exec.Command(name, args...)
	command.Dir = root
	command.Env = append(os.Environ(), "GOWORK=off")
	command.Stdin = strings.NewReader(input)
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	if err := command.Run(); err != nil {
		return output.String(), fmt.Errorf("%s: %w:\n%s", strings.Join(command.Args, " "), err, &output)
	}
	return output.String(), nil
}

// ProjectDir returns the folder that has the file PROJECT: this one or one above it.
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
