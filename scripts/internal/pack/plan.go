package pack

// What goes into the archive, and under which name. Names, order, times and owners don't depend on the machine that packs.

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"example.com/operators/scripts/internal/controlplane"
)

// entry is a folder, file or link of the archive.
type entry struct {
	name string // in the archive, with slashes; a folder's ends in one
	from string // the file that has the content; "": text
	text string // the content, or where a link points to
	mode fs.FileMode
	size int64
}

// plan lists all entries, in order. The folders above them are tar's to make.
func (p *packer) plan() ([]entry, error) {
	entries := []entry{text(".workshop/"+marker, p.markerText())}
	for _, part := range []func() ([]entry, error){p.planSource, p.planPrograms, p.planGo, p.planProxy} {
		more, err := part()
		if err != nil {
			return nil, err
		}
		entries = append(entries, more...)
	}
	for i, e := range entries {
		entries[i].name = path.Join(folder, e.name)
		if e.mode.IsDir() {
			entries[i].name += "/"
		}
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return entries, nil
}

// planSource is the repository, with its .git: also the empty folders in it, without which git doesn't know it for a repository.
func (p *packer) planSource() ([]entry, error) {
	return tree(p.source, "", func(name string) string { return name })
}

// planPrograms is .workshop/bin. A stamp tells `up` that there is nothing to build: it is about the go.mod that is packed.
func (p *packer) planPrograms() ([]entry, error) {
	var entries []entry
	for _, component := range controlplane.Components() {
		for _, name := range []string{component.Name, "." + component.Name + ".stamp"} {
			e, err := file(".workshop/bin/"+name, filepath.Join(p.bin, name))
			if err != nil {
				return nil, fmt.Errorf("%s for %s: %w", component.Name, p.Platform, err)
			}
			entries = append(entries, e)
		}
		if err := checkProgram(filepath.Join(p.bin, component.Name), p.Platform); err != nil {
			return nil, err
		}
	}
	e, err := file(".workshop/bin/workshop", p.tool)
	return append(entries, e), errors.Join(err, checkProgram(p.tool, p.Platform))
}

// planGo is .workshop/go. A module can't have everything that Go has: its go.mod files have another name there, and no file may be
// run. The go command mends both when it unpacks such a module, and so is it done here.
func (p *packer) planGo() ([]entry, error) {
	entries, err := tree(p.goRoot, ".workshop/go", func(name string) string {
		if path.Base(name) == "_go.mod" {
			return path.Join(path.Dir(name), "go.mod")
		}
		return name
	})
	for i, e := range entries {
		if !e.mode.IsRegular() {
			continue
		}
		script, _ := path.Match(".workshop/go/lib/go_?*_?*_exec", e.name)
		program := strings.HasPrefix(e.name, ".workshop/go/bin/") || strings.HasPrefix(e.name, ".workshop/go/pkg/tool/")
		if script || program {
			entries[i].mode = 0o755
		}
		if program {
			err = errors.Join(err, checkProgram(e.from, p.Platform))
		}
	}
	return entries, err
}

func (p *packer) planProxy() ([]entry, error) {
	files, err := proxyFiles(p.proxy)
	var entries []entry
	for _, name := range files {
		e, fileErr := file(".workshop/proxy/"+name, filepath.Join(p.proxy, filepath.FromSlash(name)))
		if fileErr != nil {
			return nil, fileErr
		}
		entries = append(entries, e)
	}
	return entries, err
}

// proxyFiles are the files in a module cache's cache/download that a proxy is asked for: not its locks, nor what it remembers of
// checksums. A Go that the go command got for itself isn't among them.
func proxyFiles(dir string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, file)
		name = filepath.ToSlash(name)
		served := slices.Contains([]string{".info", ".mod", ".zip"}, path.Ext(name)) || path.Base(name) == "list"
		if served && path.Base(path.Dir(name)) == "@v" && !strings.HasPrefix(name, goModule+"/") {
			names = append(names, name)
		}
		return err
	})
	return names, err
}

// tree lists what is below dir, under other names.
func tree(dir, under string, rename func(string) string) ([]entry, error) {
	var entries []entry
	err := filepath.WalkDir(dir, func(from string, d fs.DirEntry, err error) error {
		if err != nil || from == dir {
			return err
		}
		relative, err := filepath.Rel(dir, from)
		if err != nil {
			return err
		}
		e, err := file(path.Join(under, rename(filepath.ToSlash(relative))), from)
		entries = append(entries, e)
		return err
	})
	return entries, err
}

// file is one entry for what is at from. Everyone may read it; who may write is the unpacking user's umask to say.
func file(name, from string) (entry, error) {
	info, err := os.Lstat(from)
	if err != nil {
		return entry{}, err
	}
	e := entry{name: name, from: from, mode: 0o644}
	switch {
	case info.IsDir():
		e.mode, e.from = fs.ModeDir|0o755, ""
	case info.Mode()&fs.ModeSymlink != 0:
		e.mode, e.from = fs.ModeSymlink|0o777, ""
		e.text, err = os.Readlink(from)
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s is neither a file nor a folder", from)
	default:
		e.size = info.Size()
		if info.Mode()&0o111 != 0 {
			e.mode = 0o755
		}
	}
	return e, err
}

func text(name, content string) entry {
	return entry{name: name, text: content, mode: 0o644, size: int64(len(content))}
}
