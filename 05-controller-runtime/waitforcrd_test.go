// The wait for the CRD, and its log messages.

package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestWaitForCRD(t *testing.T) {
	for sentence, test := range map[string]struct {
		created  time.Duration // when the CRD is created; negative: never
		shutdown time.Duration // when the program is stopped; 0: never
		want     time.Duration // when waitForCRD returns
		wantErr  error
		wantLogs int
	}{
		"the CRD exists":                     {created: 0, want: 0, wantLogs: 0},
		"the CRD is created after a minute":  {created: time.Minute, want: time.Minute, wantLogs: 12},
		"shutdown before the CRD is created": {created: -1, shutdown: time.Minute + 1, want: time.Minute + 1, wantErr: context.Canceled, wantLogs: 13},
		"shutdown right after the start":     {created: -1, shutdown: 1, want: 1, wantErr: context.Canceled, wantLogs: 1},
	} {
		t.Run(sentence, func(t *testing.T) {
			log := captureLog(t)
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				if test.shutdown > 0 {
					time.AfterFunc(test.shutdown, stop)
				}
				started := time.Now()

				err := waitForCRD(ctx, laterMapper{created: test.created, started: started}, fooKind)

				if took := time.Since(started); took != test.want || !errors.Is(err, test.wantErr) {
					t.Errorf("waitForCRD returned %v after %v, want %v after %v", err, took, test.wantErr, test.want)
				}
			})
			if got := strings.Count(log.String(), "is the CRD applied?"); got != test.wantLogs {
				t.Errorf("%d log messages say what the program waits for, want %d:\n%s", got, test.wantLogs, log)
			}
		})
	}
}

// laterMapper is a RESTMapper that knows Foos once their CRD is created.
type laterMapper struct {
	meta.RESTMapper
	created time.Duration
	started time.Time
}

func (m laterMapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if m.created < 0 || time.Since(m.started) < m.created {
		return nil, &meta.NoKindMatchError{GroupKind: kind, SearchedVersions: versions}
	}
	return &meta.RESTMapping{GroupVersionKind: fooKind}, nil
}
