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
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.com/operators/scripts/internal/ui"
)

// write writes the archive: under another name until it is whole.
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
