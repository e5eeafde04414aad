package kind

// Trouble that everyone has some day, known by what docker or kind says, and its mend.

import (
	"slices"
	"strings"

	kindexec "sigs.k8s.io/kind/pkg/exec"

	"example.com/operators/scripts/internal/problem"
)

type trouble struct {
	phrases    []string
	what, mend string
}

// troubles are tried in order.
func troubles() []trouble {
	return []trouble{{
		phrases: []string{"no space left on device"},
		what:    "the disk is full",
		mend:    "free some space: docker system df shows what docker takes",
	}, {
		phrases: []string{"permission denied while trying to connect", "dial unix /var/run/docker.sock: connect: permission denied"},
		what:    "you may not use docker",
		mend:    "become a member of the group docker (sudo usermod -aG docker $USER, then log in again)",
	}, {
		phrases: []string{"Cannot connect to the Docker daemon", "docker daemon is not running", "error during connect", "failed to connect to the docker API"},
		what:    "docker isn't running",
		mend:    "start it (Docker Desktop, or: sudo systemctl start docker), or do without containers: ./scripts/workshop --on kwok up",
	}, {
		phrases: []string{"too many open files", "inotify"},
		what:    "the machine lets a user watch too few files (inotify), which each node needs hundreds of",
		mend:    "sudo sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=512",
	}, {
		phrases: []string{"could not find a log line that matches"},
		what:    "the node didn't start",
		mend: "the log says why; most often the machine lets a user watch too few files: sudo sysctl fs.inotify.max_user_watches=524288 " +
			"fs.inotify.max_user_instances=512",
	}, {
		phrases: []string{"cgroup v1 support", "failCgroupV1"},
		what:    "the kubelet refuses this machine's cgroups, which are of version 1",
		mend:    "update the machine's system, or boot it with systemd.unified_cgroup_hierarchy=1",
	}}
}

// explain gives an error the mend that is known for it; otherwise it says what, and where the log is.
func explain(err error, what, log string) error {
	p := &problem.Problem{What: what, Log: log, Err: err}
	if log != "" {
		p.Mend = "the log says more"
	}
	said := err.Error()
	if run := kindexec.RunErrorForError(err); run != nil {
		said += string(run.Output)
	}
	for _, t := range troubles() {
		if slices.ContainsFunc(t.phrases, func(phrase string) bool { return strings.Contains(said, phrase) }) {
			p.What, p.Mend = t.what, t.mend
			return p
		}
	}
	return p
}
