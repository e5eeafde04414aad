package kind

// Trouble that everyone has some day, known by what docker or kind says, and its mend.

import (
	kindexec "sigs.k8s.io/kind/pkg/exec"

	"example.com/operators/scripts/internal/problem"
)

// troubles are tried in order.
func troubles() []problem.Cause {
	return []problem.Cause{{
		Phrases: []string{"no space left on device"},
		What:    "the disk is full",
		Mend:    "free some space: docker system df shows what docker takes",
	}, {
		Phrases: []string{"permission denied while trying to connect", "dial unix /var/run/docker.sock: connect: permission denied"},
		What:    "you may not use docker",
		Mend:    "become a member of the group docker (sudo usermod -aG docker $USER, then log in again)",
	}, {
		Phrases: []string{"Cannot connect to the Docker daemon", "docker daemon is not running", "error during connect", "failed to connect to the docker API"},
		What:    "docker isn't running",
		Mend:    "start it (Docker Desktop, or: sudo systemctl start docker), or do without containers: ./scripts/workshop --on kwok up",
	}, {
		Phrases: []string{"too many open files", "inotify"},
		What:    "the machine lets a user watch too few files (inotify), which each node needs hundreds of",
		Mend:    "sudo sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=512",
	}, {
		Phrases: []string{"could not find a log line that matches"},
		What:    "the node didn't start",
		Mend: "the log says why; most often the machine lets a user watch too few files: sudo sysctl fs.inotify.max_user_watches=524288 " +
			"fs.inotify.max_user_instances=512",
	}, {
		Phrases: []string{"cgroup v1 support", "failCgroupV1"},
		What:    "the kubelet refuses this machine's cgroups, which are of version 1",
		Mend:    "update the machine's system, or boot it with systemd.unified_cgroup_hierarchy=1",
	}}
}

// explain gives an error the mend that is known for it; otherwise it says what, and where the log is.
func explain(err error, what, log string) error {
	p := problem.New("%s", what).SeeLog(log).Because(err)
	if log != "" {
		p.Mend = "the log says more"
	}
	said := err.Error()
	if run := kindexec.RunErrorForError(err); run != nil {
		said += string(run.Output)
	}
	if trouble, known := problem.Find(troubles(), said); known {
		p.What, p.Mend = trouble.What, trouble.Mend
	}
	return p
}
