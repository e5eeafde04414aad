package pack

// Writing the archive.

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
	"path/filepath"
	"strings"
	"time"

	"example.com/operators/scripts/internal/ui"
)

// write writes the archive: under another name until it is whole.
func (p *packer) write(ctx context.Context, entries []entry, output string) (Result, error) {
	result := Result{Path: output}
	for _, e := range entries {
		result.Unpacked += e.size
	}
	file, err := os.CreateTemp(filepath.Dir(output), ".*.partial")
	if err != nil {
		return result, err
	}
	err = p.step(ctx, "writing "+filepath.Base(output), func(ctx context.Context, step *ui.Step) (string, error) {
		sum := sha256.New()
		read := int64(0)
		err := writeArchive(ctx, io.MultiWriter(file, sum), entries, p.commit.date, func(n int64) {
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
		_ = file.Close() // it may be closed
		err = errors.Join(err, os.Remove(file.Name()))
	}
	return result, err
}

// writeArchive writes the entries as tar.gz, and tells how many bytes it has read of them.
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
	header := &tar.Header{Name: e.name, Mode: int64(e.mode.Perm()), ModTime: date, Typeflag: tar.TypeReg, Size: e.size}
	switch {
	case e.mode.IsDir():
		header.Typeflag = tar.TypeDir
	case e.mode&fs.ModeSymlink != 0:
		header.Typeflag, header.Linkname = tar.TypeSymlink, e.text
	}
	if err := archive.WriteHeader(header); err != nil {
		return fmt.Errorf("%s: %w", e.name, err)
	}
	if header.Typeflag != tar.TypeReg {
		return ctx.Err()
	}
	var content io.Reader = strings.NewReader(e.text)
	if e.from != "" {
		file, err := os.Open(e.from)
		if err != nil {
			return err
		}
		defer file.Close()
		content = file
	}
	if _, err := io.Copy(archive, &watched{ctx, content, progress}); err != nil {
		return fmt.Errorf("%s: %w", e.name, err)
	}
	return nil
}

// watched is a reader that can be broken off, and tells how far it is.
type watched struct {
	ctx      context.Context
	from     io.Reader
	progress func(int64)
}

func (w *watched) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := w.from.Read(p)
	w.progress(int64(n))
	return n, err
}
