package operator

import (
	"os"
	"syscall"
)

// separate gives a process mounts of its own. Only root may have them, so it becomes root in a user
// namespace, which gives it no rights outside.
func separate(attributes *syscall.SysProcAttr) {
	attributes.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS
	attributes.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
	attributes.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
}
