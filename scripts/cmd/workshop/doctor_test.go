package main

import (
	"errors"
	"strings"
	"testing"
)

const ourKubeconfig = "/home/me/operators/.workshop/clusters/workshop/kubeconfig"

// healthy is a machine without any problem.
func healthy() machine {
	return machine{
		ours: ourKubeconfig,
		env: func(name string) string {
			if name == "KUBECONFIG" {
				return ourKubeconfig
			}
			return ""
		},
		goEnv:    map[string]string{"GOVERSION": "go1.26.8"},
		goNeeded: "1.26.0",
		has:      func(string) bool { return true },
		memory:   8 * gib,
	}
}

func TestDoctorOnAHealthyMachine(t *testing.T) {
	for _, check := range machineChecks() {
		if f := check(healthy()); f.mark != markOK || f.fix != "" {
			t.Errorf("%+v", f)
		}
	}
}

func TestDoctor(t *testing.T) {
	env := func(variables map[string]string) func(string) string {
		return func(name string) string { return variables[name] }
	}
	for sentence, test := range map[string]struct {
		change func(*machine)
		check  func(machine) finding
		want   string // the mark, and a part of the sentence
	}{
		"no Go":                    {func(m *machine) { m.goEnv = nil }, checkGo, "✗ the go command isn't in PATH"},
		"an old Go that downloads": {func(m *machine) { m.goEnv["GOVERSION"] = "go1.24.1" }, checkGo, "! go1.24.1"},
		"an old Go that may not download": {
			func(m *machine) {
				m.goEnv["GOVERSION"], m.env = "go1.24.1", env(map[string]string{"GOTOOLCHAIN": "local"})
			}, checkGo, "✗ 1.26.0",
		},
		"no make": {
			func(m *machine) { m.has = func(p string) bool { return p != "make" } }, needsTool("make", "06"), "! make",
		},
		"no KUBECONFIG": {func(m *machine) { m.env = env(nil) }, checkKubeconfig, "! ~/.kube/config"},
		"another KUBECONFIG": {
			func(m *machine) { m.env = env(map[string]string{"KUBECONFIG": "/etc/other"}) },
			checkKubeconfig, "! /etc/other",
		},
		"a disk that is full": {
			func(m *machine) { m.fullDisk = errors.New("1.0 GiB left") }, checkDisk, "✗ 1.0 GiB left",
		},
		"little memory": {func(m *machine) { m.memory = 3 * gib / 2 }, checkMemory, "! 1.5 GiB"},
	} {
		t.Run(sentence, func(t *testing.T) {
			m := healthy()
			test.change(&m)
			f := test.check(m)
			mark, what, _ := strings.Cut(test.want, " ")
			if f.mark != mark || !strings.Contains(f.what, what) || (f.fix == "") != (mark == markOK) {
				t.Errorf("got %+v, want %s", f, test.want)
			}
		})
	}
}
