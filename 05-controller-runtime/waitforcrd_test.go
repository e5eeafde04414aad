// The wait for the CRD, and what it logs.

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
		known    time.Duration // after which the server knows Foos; negative: never
		told     time.Duration // after which the program is told to stop; 0: it isn't
		want     time.Duration // after which it has returned
		wantErr  error
		wantSaid int
	}{
		"the CRD is there":                 {known: 0, want: 0, wantSaid: 0},
		"it is applied after a minute":     {known: time.Minute, want: time.Minute, wantSaid: 12},
		"it isn't applied before the end":  {known: -1, told: time.Minute + 1, want: time.Minute + 1, wantErr: context.Canceled, wantSaid: 13},
		"the end has come before it began": {known: -1, told: 1, want: 1, wantErr: context.Canceled, wantSaid: 1},
	} {
		t.Run(sentence, func(t *testing.T) {
			log := captureLog(t)
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				if test.told > 0 {
					time.AfterFunc(test.told, stop)
				}
				began := time.Now()

				err := waitForCRD(ctx, laterMapper{known: test.known, began: began}, fooKind)

				if took := time.Since(began); took != test.want || !errors.Is(err, test.wantErr) {
					t.Errorf("it returned %v after %v, want %v after %v", err, took, test.wantErr, test.want)
				}
			})
			if said := strings.Count(log.String(), "is the CRD applied?"); said != test.wantSaid {
				t.Errorf("it said %d times what it waits for, want %d:\n%s", said, test.wantSaid, log)
			}
		})
	}
}

// laterMapper is a RESTMapper that knows Foos after a while.
type laterMapper struct {
	meta.RESTMapper
	known time.Duration
	began time.Time
}

func (m laterMapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if m.known < 0 || time.Since(m.began) < m.known {
		return nil, &meta.NoKindMatchError{GroupKind: kind, SearchedVersions: versions}
	}
	return &meta.RESTMapping{GroupVersionKind: fooKind}, nil
}
