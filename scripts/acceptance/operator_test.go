// One running copy of a chapter's program.

package acceptance

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// operator runs a program, and starts it again when it exits, as a Pod would be: leaving is a legitimate answer to trouble.
type operator struct {
	binary string
	env    []string // beside this process's
	args   []string
	output lockedBuffer

	mutex   sync.Mutex
	process *exec.Cmd
	stopped bool
	exits   int
	done    chan struct{}
}

// start starts the operator. It is stopped at the end of the test, at the latest; if the test has failed, what it said is
// logged.
func start(t testing.TB, binary string, env []string, args ...string) *operator {
	t.Helper()
	o := &operator{binary: binary, env: env, args: args, done: make(chan struct{})}
	if err := o.launch(); err != nil {
		t.Fatal(err)
	}
	go o.supervise()
	t.Cleanup(func() {
		o.stop()
		if t.Failed() {
			t.Logf("what the operator said:\n%s", o.output.String())
		}
	})
	return o
}

func (o *operator) launch() error {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.stopped {
		return nil
	}
	o.process = exec.Command(o.binary, o.args...)
	o.process.Env = append(os.Environ(), o.env...)
	o.process.Stdout, o.process.Stderr = &o.output, &o.output
	return o.process.Start()
}

// supervise waits for the process and starts it again, a second later at the earliest, as often as need be.
func (o *operator) supervise() {
	defer close(o.done)
	for {
		began := time.Now()
		o.process.Wait()
		o.mutex.Lock()
		stopped := o.stopped
		o.exits++
		o.mutex.Unlock()
		if stopped {
			return
		}
		<-time.After(time.Until(began.Add(time.Second)))
		if err := o.launch(); err != nil {
			return
		}
	}
}

// stop ends the operator as a Pod is ended: SIGTERM, and SIGKILL if it takes too long.
func (o *operator) stop() {
	o.mutex.Lock()
	o.stopped = true
	o.process.Process.Signal(syscall.SIGTERM)
	o.mutex.Unlock()
	select {
	case <-o.done:
	case <-time.After(10 * time.Second):
		o.process.Process.Kill()
		<-o.done
	}
}

// kill kills the process, which is then started again.
func (o *operator) kill() {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.process.Process.Kill()
}

// destroy kills the process for good.
func (o *operator) destroy() {
	o.mutex.Lock()
	o.stopped = true
	o.process.Process.Kill()
	o.mutex.Unlock()
	<-o.done
}

// crashes returns how often the process has exited without being told to.
func (o *operator) crashes() int {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.stopped {
		return o.exits - 1
	}
	return o.exits
}

// says tells whether the operator has printed that text.
func (o *operator) says(text string) bool { return strings.Contains(o.output.String(), text) }

// lockedBuffer is a buffer that two may use at once.
type lockedBuffer struct {
	mutex  sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.buffer.String()
}
