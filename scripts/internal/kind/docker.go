package kind

// What this package asks docker and kind, through their command lines.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.com/operators/scripts/internal/gobuild"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/process"
)

// kind returns a command of kind about this cluster, and builds kind before if necessary.
func (c *Cluster) kind(ctx context.Context, progress func(string), args ...string) (*process.Command, error) {
	root := filepath.Dir(c.state)
	binary, err := gobuild.Tool(ctx, root, "sigs.k8s.io/kind", func(p gobuild.Progress) { progress("building kind: " + p.String()) })
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
			ToDo("install Docker (https://docs.docker.com/get-docker/), or do without containers: ./scripts/workshop --on kwok up")
	}
	err = fmt.Errorf("docker %s: %w: %s", args[0], err, strings.TrimSpace(answer+"\n"+warnings.String()))
	return answer, explain(err, err.Error(), "docker failed", "")
}

func query(ctx context.Context, answer any, args ...string) error {
	output, err := docker(ctx, append(args, "--format", "{{json .}}")...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(output), answer); err != nil {
		return fmt.Errorf("docker %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// checkEngine returns an error unless docker runs.
func checkEngine(ctx context.Context) error {
	var engine struct{ ServerErrors []string }
	err := query(ctx, &engine, "info")
	if err == nil && len(engine.ServerErrors) > 0 { // some versions exit with 0 all the same
		reported := strings.Join(engine.ServerErrors, "; ")
		err = explain(errors.New(reported), reported, "docker can't be used", "")
	}
	return err
}

type container struct {
	ID         string // "": no container
	State      struct{ Running bool }
	Config     struct{ Image string }   // the name it was created with
	HostConfig struct{ Binds []string } // mounts: "folder:folder in the container", and options
}

func (c container) mounts(folder string) bool {
	return slices.ContainsFunc(c.HostConfig.Binds, func(bind string) bool { return strings.HasPrefix(bind, folder+":") })
}

// inspect looks for a container. A missing one is no error.
func inspect(ctx context.Context, name string) (found container, err error) {
	err = query(ctx, &found, "container", "inspect", name)
	if isGone(err) {
		err = nil
	}
	return found, err
}

func isGone(err error) bool {
	return err != nil && strings.Contains(strings.ToLower(err.Error()), "no such container")
}

// pull makes docker pull an image, unless it has it. kind would pull it too, but tries five times
// before it reports why it can't.
func pull(ctx context.Context, image string) error {
	if _, err := docker(ctx, "image", "inspect", "--format", "{{.ID}}", image); err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	_, err := docker(ctx, "pull", "--quiet", image)
	if err == nil || ctx.Err() != nil {
		return err
	}
	return problem.New("the node image %s can't be pulled", image).
		ToDo("check the network and the image's name, or name one that docker has: --image NAME (docker image ls shows them)").
		Because(err)
}

func causes() []problem.Cause {
	return []problem.Cause{{
		Phrases: []string{"no space left on device"},
		What:    "the disk is full",
		Fix:     "free some space: docker system df shows what docker takes",
	}, {
		Phrases: []string{"permission denied while trying to connect", "dial unix /var/run/docker.sock: connect: permission denied"},
		What:    "you may not use docker",
		Fix:     "become a member of the group docker (sudo usermod -aG docker $USER, then log in again)",
	}, {
		Phrases: []string{"Cannot connect to the Docker daemon", "docker daemon is not running", "error during connect", "failed to connect to the docker API"},
		What:    "docker isn't running",
		Fix:     "start it (Docker Desktop, or: sudo systemctl start docker), or do without containers: ./scripts/workshop --on kwok up",
	}, {
		Phrases: []string{"too many open files", "inotify"},
		What:    "this machine's limit of watched files (inotify) is too low, because each node needs hundreds",
		Fix:     "sudo sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=512",
	}, {
		Phrases: []string{"could not find a log line that matches"},
		What:    "the node didn't start",
		Fix: "the log says why; most often the limit of watched files is too low: sudo sysctl fs.inotify.max_user_watches=524288 " +
			"fs.inotify.max_user_instances=512",
	}, {
		Phrases: []string{"cgroup v1 support", "failCgroupV1"},
		What:    "the kubelet doesn't support this machine's cgroups, which have version 1",
		Fix:     "update the machine's system, or boot it with systemd.unified_cgroup_hierarchy=1",
	}, {
		Phrases: []string{"no nodes found for cluster"},
		What:    "the cluster has no node",
		Fix:     "./scripts/workshop up --kind",
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
