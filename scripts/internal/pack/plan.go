package pack

// What goes into the archive, and under which name. Names, order, times and owners don't depend on the machine that packs.

import (
	"archive/tar"
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
	tar.Header
	from string
}

// plan lists all entries, in order. The folders above them are tar's to make.
func (p *packer) plan() ([]entry, error) {
	var entries []entry
	for _, part := range []func() ([]entry, error){p.planMarker, p.planSource, p.planPrograms, p.planGo, p.planProxy} {
		more, err := part()
		if err != nil {
			return nil, err
		}
		entries = append(entries, more...)
	}
	for i, e := range entries {
		entries[i].Name = path.Join(folder, e.Name)
		if e.Typeflag == tar.TypeDir {
			entries[i].Name += "/"
		}
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.Name, b.Name) })
	return entries, nil
}

func (p *packer) planMarker() ([]entry, error) {
	if err := os.WriteFile(p.path(marker), []byte(p.markerText()), 0o600); err != nil {
		return nil, err
	}
	e, err := file(".workshop/"+marker, p.path(marker))
	return []entry{e}, err
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
		if e.Typeflag != tar.TypeReg {
			continue
		}
		script, _ := path.Match(".workshop/go/lib/go_?*_?*_exec", e.Name)
		program := strings.HasPrefix(e.Name, ".workshop/go/bin/") || strings.HasPrefix(e.Name, ".workshop/go/pkg/tool/")
		if script || program {
			entries[i].Mode = 0o755
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
	target, _ := os.Readlink(from) // "" if it is no link
	header, err := tar.FileInfoHeader(info, target)
	if err != nil {
		return entry{}, err
	}
	mode := int64(0o644)
	if info.Mode()&0o111 != 0 {
		mode = 0o755
	}
	return entry{tar.Header{Name: name, Typeflag: header.Typeflag, Linkname: header.Linkname, Size: header.Size, Mode: mode}, from}, nil
}
