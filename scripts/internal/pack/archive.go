package pack

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// write writes the archive, under a temporary name until it is complete.
func (p *packer) write(ctx context.Context, archive string) error {
	file, err := os.Create(filepath.Join(p.new(), "archive"))
	if err != nil {
		return err
	}
	defer file.Close()
	zipped := gzip.NewWriter(file)
	entries := tar.NewWriter(zipped)
	err = filepath.WalkDir(p.source, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return cmp.Or(err, ctx.Err())
		}
		name, err := filepath.Rel(p.new(), path)
		if err != nil {
			return err
		}
		return writeEntry(entries, name, path)
	})
	if err := errors.Join(err, entries.Close(), zipped.Close(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), archive)
}

// writeEntry writes a file, a folder or a link. Its owner is root, because git refuses to work in a
// folder of an unknown user, which root would get when unpacking. Other users get their own files.
func writeEntry(to *tar.Writer, name, path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	target, _ := os.Readlink(path) // "" unless it is a link
	header, err := tar.FileInfoHeader(info, target)
	if err != nil {
		return err
	}
	header.Name = filepath.ToSlash(name)
	if info.IsDir() {
		header.Name += "/"
	}
	header.Uid, header.Gid, header.Uname, header.Gname = 0, 0, "", ""
	if err := to.WriteHeader(header); err != nil || !info.Mode().IsRegular() {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(to, file)
	return err
}
