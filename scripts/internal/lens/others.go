package lens

// What other clients do, from the API server's audit log.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/operator"
)

// userAgent identifies lens's own requests, which the lane of other clients leaves out.
const userAgent = "lens"

// followOthers shows the requests of other clients in a program's namespace until ctx ends.
func (s *Session) followOthers(ctx context.Context, r *running) error {
	log := audit.Log{Path: s.AuditLog}
	if err := log.SkipToEnd(); errors.Is(err, os.ErrNotExist) {
		return nil // this cluster keeps its log elsewhere, so the lane stays empty
	} else if err != nil {
		return err
	}
	files, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch the audit log: %w", err)
	}
	if err := files.Add(filepath.Dir(s.AuditLog)); err != nil {
		return errors.Join(fmt.Errorf("watch the audit log: %w", err), files.Close())
	}
	go func() {
		defer files.Close()
		// The API server writes many lines, also about other namespaces, so lens reads them in
		// batches, a few times a second.
		due := time.NewTimer(0)
		defer due.Stop()
		waiting := true
		for {
			select {
			case <-ctx.Done():
				return
			case _, open := <-files.Events:
				if !open {
					return
				}
				if !waiting {
					waiting = true
					due.Reset(200 * time.Millisecond)
				}
			case <-due.C:
				waiting = false
				requests, err := log.Others(r.namespace, audit.ServiceAccount(r.namespace, operator.ServiceAccount))
				if err != nil {
					s.Recorder.Add(Item{Lane: Others, At: milliseconds(time.Now()), Label: "the audit log can't be read", Explain: err.Error(), Failed: true})
					return
				}
				for _, request := range requests {
					if !strings.HasPrefix(request.UserAgent, userAgent) && !strings.HasPrefix(request.UserAgent, "kube-apiserver/") { // the API server's own reads
						s.observer.otherRequested(request)
					}
				}
			}
		}
	}()
	return nil
}
