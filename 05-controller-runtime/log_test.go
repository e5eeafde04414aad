// What the program says, for tests about that. klog's output is set once, for all tests: managers of earlier ones may still have
// something to say.

package main

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"sync"
	"testing"

	"k8s.io/klog/v2"
)

// saidLog is what has been said.
type saidLog struct {
	lock sync.Mutex
	text bytes.Buffer
}

func (l *saidLog) Write(text []byte) (int, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.text.Write(text)
}

func (l *saidLog) String() string {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.text.String()
}

// mustHave fails the test if one of these words hasn't been said.
func (l *saidLog) mustHave(t *testing.T, words ...string) {
	t.Helper()
	for _, want := range words {
		if said := l.String(); !strings.Contains(said, want) {
			t.Errorf("%q is not in the log:\n%s", want, said)
		}
	}
}

// captureLog returns what is logged from now on.
func captureLog(t *testing.T) *saidLog {
	log := &saidLog{}
	shared.listen(log)
	t.Cleanup(func() { shared.listen(nil) })
	return log
}

// shared is where klog writes to: on to where it would have written, and to the test that listens.
var shared sharedLog

type sharedLog struct {
	lock     sync.Mutex
	listener *saidLog
}

func (s *sharedLog) listen(listener *saidLog) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.listener = listener
}

func (s *sharedLog) Write(text []byte) (int, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.listener != nil {
		s.listener.Write(text)
	}
	return os.Stderr.Write(text)
}

// shareLog makes klog write to shared alone, and each line once.
func shareLog() {
	flags := flag.NewFlagSet("", flag.PanicOnError)
	klog.InitFlags(flags)
	flags.Set("logtostderr", "false")
	flags.Set("stderrthreshold", "FATAL")
	flags.Set("one_output", "true")
	klog.SetOutput(&shared)
}
