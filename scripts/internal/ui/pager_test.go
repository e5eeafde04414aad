package ui

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestThePagerIsGits(t *testing.T) {
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "core.pager")
	for sentence, test := range map[string]struct{ gitPager, corePager, pager, want string }{
		"GIT_PAGER comes first":            {"one", "two", "three", "one"},
		"then core.pager":                  {"", "two -x", "three", "two -x"},
		"PAGER=cat means none":             {"", "", "cat", ""},
		"GIT_PAGER=cat means none as well": {"cat", "two", "three", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			for variable, value := range map[string]string{"GIT_PAGER": test.gitPager, "PAGER": test.pager, "GIT_CONFIG_VALUE_0": test.corePager} {
				t.Setenv(variable, value)
				if value == "" {
					os.Unsetenv(variable) // set to nothing, it means: no pager
				}
			}
			if test.corePager == "" {
				t.Setenv("GIT_CONFIG_COUNT", "0")
				t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
			}
			if got := gitPager(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestOnlyATerminalGetsAPager(t *testing.T) {
	t.Setenv("GIT_PAGER", "sed s/^/paged:/")
	hello := func(w io.Writer) error { _, err := fmt.Fprintln(w, "hello"); return err }
	for want, show := range map[string]func(*os.File, func(io.Writer) error) error{
		"hello\n": Paged,
		"paged:hello\n": func(out *os.File, print func(io.Writer) error) error {
			return through(gitPager(), out, print)
		},
	} {
		if got := printed(t, func(out *os.File) error { return show(out, hello) }); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAPagerMayBeLeftEarly(t *testing.T) {
	got := printed(t, func(out *os.File) error {
		return through("head -n 1", out, func(w io.Writer) error {
			for {
				if _, err := io.WriteString(w, strings.Repeat("a line\n", 1000)); err != nil {
					return err
				}
			}
		})
	})
	if got != "a line\n" {
		t.Errorf("got %q", got)
	}
}

func TestAPagerKeepsErrors(t *testing.T) {
	wrong := errors.New("what is shown is wrong")
	if err := through("cat", os.Stdout, func(io.Writer) error { return wrong }); !errors.Is(err, wrong) {
		t.Errorf("got %v", err)
	}
	if err := through("no-such-pager", os.Stdout, func(io.Writer) error { return nil }); err == nil {
		t.Error("a missing pager has no error")
	}
	if err := through("exit 3", os.Stdout, func(io.Writer) error { return nil }); err != nil {
		t.Errorf("got %v after the user left the pager, want no error", err)
	}
}

// printed is what show prints to a file.
func printed(t *testing.T, show func(*os.File) error) string {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := show(out); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
