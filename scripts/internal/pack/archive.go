package pack

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.com/operators/scripts/internal/ui"
)

// write writes the archive, under a temporary name until it is complete.
func (p *packer) write(ctx context.Context, output string) (Result, error) {
	slices.SortFunc(p.entries, func(a, b entry) int { return strings.Compare(a.Name, b.Name) })
	result := Result{Path: output}
	for _, e := range p.entries {
		result.Unpacked += e.Size
	}
	file, err := os.CreateTemp(filepath.Dir(output), ".*.partial")
	if err != nil {
		return result, err
	}
	err = p.step(ctx, "writing "+filepath.Base(output), func(ctx context.Context, step *ui.Step) (string, error) {
		sum := sha256.New()
		read := int64(0)
		err := writeArchive(ctx, io.MultiWriter(file, sum), p.entries, p.date.UTC(), func(n int64) {
			read += n
			step.Update("%s of %s read", size(read), size(result.Unpacked))
		})
		result.SHA256 = hex.EncodeToString(sum.Sum(nil))
		info, statErr := file.Stat()
		if statErr == nil {
			result.Size = info.Size()
		}
		summary := fmt.Sprintf("%s, and %s unpacked", size(result.Size), size(result.Unpacked))
		return summary, errors.Join(err, statErr, file.Chmod(0o644), file.Close())
	})
	if err == nil {
		err = os.Rename(file.Name(), output)
	}
	if err != nil {
		_ = file.Close() // it may be closed already
		err = errors.Join(err, os.Remove(file.Name()))
	}
	return result, err
}

// writeArchive writes the entries as tar.gz. It calls progress with the number of bytes that it has
// read of each.
func writeArchive(ctx context.Context, to io.Writer, entries []entry, date time.Time, progress func(int64)) error {
	zipped := gzip.NewWriter(to)
	archive := tar.NewWriter(zipped)
	for _, e := range entries {
		if err := writeEntry(ctx, archive, e, date, progress); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), zipped.Close())
}

func writeEntry(ctx context.Context, archive *tar.Writer, e entry, date time.Time, progress func(int64)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e.ModTime = date
	err := archive.WriteHeader(&e.Header)
	if err != nil || e.Typeflag != tar.TypeReg {
		return err
	}
	file, err := os.Open(e.from)
	if err != nil {
		return err
	}
	defer file.Close()
	n, err := io.Copy(archive, file)
	progress(n)
	return err
}

type entry struct {
	tar.Header
	from string
}

// add adds a file or a folder to the archive under that name. It includes empty folders, because
// git needs those in .git. tar creates the parent folders.
func (p *packer) add(name, from string) error {
	return filepath.WalkDir(from, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && at == from {
			return err
		}
		below, err := filepath.Rel(from, at)
		if err != nil {
			return err
		}
		name := path.Join(name, filepath.ToSlash(below))
		if asked, inProxy := strings.CutPrefix(name, ".workshop/proxy/"); inProxy && !served(asked) {
			return nil
		}
		e, err := newEntry(name, at)
		if err == nil && isProgram(name) && e.Typeflag == tar.TypeReg {
			err = checkProgram(at, p.Platform)
		}
		p.entries = append(p.entries, e)
		return err
	})
}

// newEntry returns the entry for the file or folder at from, readable by all. The umask of the user
// who unpacks it decides who may write.
//
// Go can't publish itself as a module unchanged: its go.mod files have another name there, and no
// file is executable. The go command undoes both when it unpacks such a module, and so does
// newEntry.
func newEntry(name, from string) (entry, error) {
	info, err := os.Lstat(from)
	if err != nil {
		return entry{}, err
	}
	target, _ := os.Readlink(from) // "" unless it is a link
	header, err := tar.FileInfoHeader(info, target)
	if err != nil {
		return entry{}, err
	}
	mode := int64(0o644)
	goScript, _ := path.Match(".workshop/go/lib/go_?*_?*_exec", name)
	if info.Mode()&0o111 != 0 || goScript || isProgram(name) {
		mode = 0o755
	}
	if strings.HasPrefix(name, ".workshop/go/") && path.Base(name) == "_go.mod" {
		name = path.Join(path.Dir(name), "go.mod")
	}
	name = path.Join(folder, name)
	if info.IsDir() {
		name += "/"
	}
	return entry{tar.Header{Name: name, Typeflag: header.Typeflag, Linkname: header.Linkname, Size: header.Size, Mode: mode}, from}, nil
}

func isProgram(name string) bool {
	return strings.HasPrefix(name, ".workshop/bin/") && path.Ext(name) != ".stamp" ||
		strings.HasPrefix(name, ".workshop/go/bin/") || strings.HasPrefix(name, ".workshop/go/pkg/tool/")
}

// served reports whether the go command asks a proxy for this file of a module cache's
// cache/download. It doesn't ask for locks, checksums, or the Go toolchains that it downloaded for
// itself.
func served(name string) bool {
	kind := slices.Contains([]string{".info", ".mod", ".zip"}, path.Ext(name)) || path.Base(name) == "list"
	return kind && path.Base(path.Dir(name)) == "@v" && !strings.HasPrefix(name, goModule+"/")
}
