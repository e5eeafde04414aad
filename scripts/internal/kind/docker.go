package kind

// What this package asks docker and kind, through their command lines.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"example.com/operators/scripts/internal/gobuild"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/process"
)

// kind returns a command of kind about this cluster, and builds kind before if necessary.
func (c *Cluster) kind(ctx context.Context, progress func(string), args ...string) (*process.Command, error) {
	report := func(p gobuild.Progress) { progress("building kind: " + p.String()) }
	binary, err := gobuild.Tool(ctx, filepath.Dir(c.state), "sigs.k8s.io/kind", report)
	if err != nil {
		return nil, err
	}
	command := process.NewCommand(ctx, 10*time.Second, binary, append(args, "--name", c.KindName())...)
	command.Env = append(os.Environ(), "KIND_EXPERIMENTAL_PROVIDER=docker") // even if podman is preferred
	return command, nil
}

// docker runs docker and returns its output, without warnings. Its error explains common causes.
func docker(ctx context.Context, args ...string) (string, error) {
	var warnings strings.Builder
	command := exec.CommandContext(ctx, "docker", args...)
	command.Stderr = &warnings
	output, err := command.Output()
	answer := strings.TrimSpace(string(output))
	switch {
	case err == nil:
		return answer, nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return "", problem.New("there is no docker command, which kind needs").
			ToDo("install Docker (https://docs.docker.com/get-docker/), %s", doWithout)
	}
	err = fmt.Errorf("docker %s: %w: %s", args[0], err, strings.TrimSpace(answer+"\n"+warnings.String()))
	return "", explain("docker failed", err, err.Error())
}

// inspect looks for a container. A missing one is no error.
func inspect(ctx context.Context, name string) (found, running bool, err error) {
	answer, err := docker(ctx, "container", "inspect", "--format", "{{.State.Running}}", name)
	if err != nil && strings.Contains(strings.ToLower(err.Error()), "no such container") {
		return false, false, nil
	}
	return err == nil, answer == "true", err
}

const doWithout = "or do without containers: ./scripts/workshop --on kwok up"

func causes() []problem.Cause {
	return []problem.Cause{{
		Phrases: []string{"no space left on device"},
		What:    "the disk is full",
		Fix:     "free some space: docker system df shows what docker takes",
	}, {
		Phrases: []string{"permission denied while trying to connect", "docker.sock: connect: permission denied"},
		What:    "you may not use docker",
		Fix:     "become a member of the group docker (sudo usermod -aG docker $USER, then log in again)",
	}, {
		Phrases: []string{"Cannot connect to the Docker daemon", "failed to connect to the docker API"},
		What:    "docker isn't running",
		Fix:     "start it (Docker Desktop, or: sudo systemctl start docker), " + doWithout,
	}, {
		Phrases: []string{"failed to pull image"},
		What:    "the node image can't be pulled",
		Fix:     "check the network, or name an image that docker has: --image NAME (docker image ls shows them)",
	}, {
		Phrases: []string{"too many open files", "inotify", "could not find a log line that matches"},
		What:    "the node didn't start, most likely because this machine's limit of watched files (inotify) is too low",
		Fix:     "sudo sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=512",
	}}
}

// explain returns a problem with the known cause and fix of a command that printed that.
func explain(what string, err error, printed string) *problem.Problem {
	p := problem.New("%s", what).Because(err)
	p.Explain(causes(), printed)
	return p
}
