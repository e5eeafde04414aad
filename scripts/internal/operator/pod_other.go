//go:build !linux

package operator

import "syscall"

func separate(*syscall.SysProcAttr) {} // CanImitatePods has said no
