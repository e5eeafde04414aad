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
	return dockerWithInput(ctx, "", args...)
}

func dockerWithInput(ctx context.Context, input string, args ...string) (string, error) {
	var warnings strings.Builder
	command := exec.CommandContext(ctx, "docker", args...)
	command.Stdin, command.Stderr = strings.NewReader(input), &warnings
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
	return "", explain(err, err.Error(), "docker failed", "")
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
		Phrases: []string{"Delegate=yes"},
		What:    "rootless docker needs the system's permission to limit resources",
		Fix:     "set Delegate=yes as in https://kind.sigs.k8s.io/docs/user/rootless/, and log in again",
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

// explain adds the known cause and fix to the error of a command that printed that. Without one, it
// names what failed and the log.
func explain(err error, printed, what, log string) error {
	p := problem.New("%s", what).SeeLog(log).Because(err)
	if log != "" {
		p.Fix = "the log says more"
	}
	if cause, known := problem.Find(causes(), printed); known {
		p.What, p.Fix = cause.What, cause.Fix
	}
	return p
}
