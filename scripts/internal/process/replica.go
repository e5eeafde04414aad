package process

// Running an operator as a Pod would: when the process exits, it is started again. It can be stopped
// like a Pod, and killed like a container that crashes.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// pause is the shortest time between two starts.
	pause = time.Second
	// grace is how long a program has to exit after SIGTERM, as in a Pod.
	grace = 30 * time.Second
)

// Pings are variables with which client-go notices a frozen connection within two seconds, instead
// of 45.
var Pings = []string{"HTTP2_READ_IDLE_TIMEOUT_SECONDS=1", "HTTP2_PING_TIMEOUT_SECONDS=1"}

type Options struct {
	Binary string
	Args   []string
	Env    []string  // besides this process's environment: see Environment
	Output io.Writer // also gets all that the process prints; may be nil
	// OwnGroup gives the process its own group, which a terminal's Ctrl-C doesn't reach.
	OwnGroup bool
	// Exited is called when the process has exited unasked, before it is started again. It may be nil.
	Exited func(why error)
}

// Replica is one replica of an operator. It keeps what the process prints, and when and why it has
// exited.
type Replica struct {
	// Began is when it was started first.
	Began time.Time

	options Options
	log     Buffer
	ctx     context.Context // ends when it must not be started again
	cancel  context.CancelFunc
	done    chan struct{} // closed when it has ended for good

	mutex   sync.Mutex
	process *exec.Cmd // the current one, or the last
	exits   []Exit
}

// Exit is an exit that nobody has asked for.
type Exit struct {
	At  time.Time
	Why error
	// Log is the end of what the process has printed.
	Log string
}

// StartReplica starts a replica. The caller must stop or destroy it.
func StartReplica(options Options) (*Replica, error) {
	r := &Replica{Began: time.Now(), options: options, done: make(chan struct{})}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	if err := r.launch(); err != nil {
		return nil, err
	}
	go r.supervise()
	return r, nil
}

func (r *Replica) launch() error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if err := r.ctx.Err(); err != nil {
		return err
	}
	process := exec.Command(r.options.Binary, r.options.Args...)
	process.Env = Environment(r.options.Args, r.options.Env)
	process.Stdout = &r.log
	if r.options.Output != nil {
		process.Stdout = io.MultiWriter(&r.log, r.options.Output)
	}
	process.Stderr = process.Stdout
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: r.options.OwnGroup}
	if err := process.Start(); err != nil {
		return fmt.Errorf("start %s: %w", r.options.Binary, err)
	}
	r.process = process
	return nil
}

// Environment returns the environment of a chapter's program with those arguments: this process's,
// and then the given variables. A kubebuilder project serves its webhooks unless ENABLE_WEBHOOKS is
// false. Without a certificate it can't, so that is the default then.
func Environment(args, variables []string) []string {
	env := slices.Concat(os.Environ(), variables)
	if !slices.Contains(args, "--webhook-cert-path") {
		env = slices.Insert(env, 0, "ENABLE_WEBHOOKS=false")
	}
	return env
}

// supervise waits for the process and starts it again, as often as necessary.
func (r *Replica) supervise() {
	defer close(r.done)
	for {
		again := time.After(pause)
		err := r.process.Wait() // from now on, only this goroutine calls launch, which changes it
		if err == nil {
			err = errors.New("exit status 0")
		}
		if !r.exited(err) {
			return
		}
		select {
		case <-r.ctx.Done():
			return
		case <-again:
		}
		if err := r.launch(); err != nil {
			r.exited(err)
			return
		}
	}
}

// exited records an exit. It returns false if the replica was stopped.
func (r *Replica) exited(why error) bool {
	r.mutex.Lock()
	stopped := r.ctx.Err() != nil
	if !stopped {
		r.exits = append(r.exits, Exit{time.Now(), why, Tail(r.Log(), 10)})
	}
	r.mutex.Unlock()
	if !stopped && r.options.Exited != nil {
		r.options.Exited(why)
	}
	return !stopped
}

// Stop ends the replica like a Pod: SIGTERM, and SIGKILL after a grace period. It may be called
// twice.
func (r *Replica) Stop() {
	r.end(syscall.SIGTERM)
	select {
	case <-r.done:
	case <-time.After(grace):
		r.Destroy()
	}
}

// Destroy kills the replica for good.
func (r *Replica) Destroy() {
	r.end(syscall.SIGKILL)
	<-r.done
}

func (r *Replica) end(signal syscall.Signal) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.cancel()
	_ = r.process.Process.Signal(signal) // it may have exited just now
}

// Kill kills the process, which is then started again.
func (r *Replica) Kill() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	_ = r.process.Process.Kill() // it may have exited just now
}

// PID returns the ID of the current process, or of the last one.
func (r *Replica) PID() int {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.process.Process.Pid
}

// State says how the last process has ended, as in exit status 0. Call it after Stop or Destroy.
func (r *Replica) State() string { return r.process.ProcessState.String() }

// Log returns all that the processes have printed.
func (r *Replica) Log() string { return r.log.String() }

// Exits returns the exits so far that nobody has asked for.
func (r *Replica) Exits() []Exit {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return slices.Clone(r.exits)
}

// panics matches the output of Go's runtime for a panic, of libraries that recover from one, and of
// the race detector.
var panics = regexp.MustCompile(
	`(?m)^(panic|fatal error): .*|^WARNING: DATA RACE|.*(Observed a panic|panic: .*\[recovered\]).*`)

// Panic returns the first line of a log that reports a panic or a data race, or "".
func Panic(log string) string { return panics.FindString(log) }

// Tail returns the last lines of a text.
func Tail(text string, lines int) string {
	all := slices.Collect(strings.Lines(text))
	return strings.Join(all[max(0, len(all)-lines):], "")
}
