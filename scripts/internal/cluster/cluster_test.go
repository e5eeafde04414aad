package cluster

import "testing"

func TestCheckPath(t *testing.T) {
	for path, good := range map[string]bool{"/home/é b/x'y": true, "/50%/c#/d,e": true, "/a:b": false} {
		if err := CheckPath(path); (err == nil) != good {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestCheckName(t *testing.T) {
	for name, good := range map[string]bool{"workshop": true, "test-2": true, "": false, "..": false, "a/b": false, "Test": false} {
		if err := CheckName(name); (err == nil) != good {
			t.Errorf("%q: %v", name, err)
		}
	}
}
