package kind

// What is asked of docker itself, by its command line, as kind does.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"example.com/operators/scripts/internal/problem"
)

// docker runs docker and returns what it said. Trouble that everyone has some day gets its mend.
func docker(ctx context.Context, args ...string) (string, error) {
	output, err := exec.CommandContext(ctx, "docker", args...).CombinedOutput()
	said := strings.TrimSpace(string(output))
	switch {
	case err == nil:
		return said, nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return "", &problem.Problem{
			What: "there is no docker command, which kind needs",
			Mend: "install Docker (https://docs.docker.com/get-docker/), or do without containers: ./scripts/workshop up",
		}
	}
	return said, explain(fmt.Errorf("docker %s: %w: %s", args[0], err, said), "docker "+args[0]+" failed", "")
}

// engine is what there is to know about docker.
type engine struct {
	CgroupVersion string // "1" or "2"
}

// findEngine asks docker whether it runs.
func findEngine(ctx context.Context) (engine, error) {
	said, err := docker(ctx, "info", "--format", "{{json .}}")
	if err != nil {
		return engine{}, err
	}
	// Warnings may stand before it.
	var found struct {
		engine
		ServerErrors []string
	}
	if err := json.Unmarshal([]byte(said[max(strings.Index(said, "{"), 0):]), &found); err != nil {
		return engine{}, fmt.Errorf("docker info: %w", err)
	}
	if len(found.ServerErrors) > 0 { // some versions say so with exit code 0
		said := strings.Join(found.ServerErrors, "; ")
		return engine{}, explain(errors.New(said), "docker can't be used", "")
	}
	return found.engine, nil
}

// container is one of docker's.
type container struct {
	ID      string // "": there is none
	Running bool
}

// inspect looks for a container. That there is none is no error.
func inspect(ctx context.Context, name string) (container, error) {
	said, err := docker(ctx, "container", "ls", "--all", "--no-trunc", "--filter", "name=^/?"+name+"$", "--format", "{{.ID}} {{.State}}")
	if err != nil || said == "" {
		return container{}, err
	}
	id, state, _ := strings.Cut(said, " ")
	return container{id, state == "running"}, nil
}
