package operator

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

	"example.com/operators/scripts/internal/process"
)

const (
	// pause is the shortest time between two starts.
	pause = time.Second
	// Grace is how long a program has to exit after SIGTERM, as in a Pod.
	Grace = 30 * time.Second
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
	// InPod is the namespace of the Pod that a Replica seems to run in, or "": see CanImitatePods.
	InPod string
}

// Process is an operator's process. It keeps what the process prints, and when and why it has exited.
type Process struct {
	// Began is when it was started first.
	Began time.Time

	options Options
	log     process.Buffer
	ctx     context.Context // ends when it must not be started again
	cancel  context.CancelFunc
	done    chan struct{} // closed when it has ended for good

	mutex   sync.Mutex
	command *exec.Cmd // the current one, or the last
	exits   []Exit
}

// Exit is an exit that nobody has asked for.
type Exit struct {
	At  time.Time
	Why error
	// Log is the end of what the process has printed.
	Log string
}

// StartProcess starts a process. The caller must stop or destroy it.
func StartProcess(options Options) (*Process, error) {
	p := &Process{Began: time.Now(), options: options, done: make(chan struct{})}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	if err := p.launch(); err != nil {
		return nil, err
	}
	go p.supervise()
	return p, nil
}

func (p *Process) launch() error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if err := p.ctx.Err(); err != nil {
		return err
	}
	command := exec.Command(p.options.Binary, p.options.Args...)
	command.Env = Environment(p.options.Args, p.options.Env)
	command.Stdout = &p.log
	if p.options.Output != nil {
		command.Stdout = io.MultiWriter(&p.log, p.options.Output)
	}
	command.Stderr = command.Stdout
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: p.options.OwnGroup}
	if p.options.InPod != "" {
		separate(command.SysProcAttr)
	}
	if err := command.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.options.Binary, err)
	}
	p.command = command
	return nil
}

// Environment returns the environment of any operator with those arguments: this process's, and then
// the given variables. A kubebuilder project serves its webhooks unless ENABLE_WEBHOOKS is false.
// Without a certificate it can't, so that is the default then.
func Environment(args, variables []string) []string {
	env := slices.Concat(os.Environ(), variables)
	hasCertificate := func(arg string) bool { return strings.HasPrefix(arg, "--webhook-cert-path") }
	if !slices.ContainsFunc(args, hasCertificate) {
		env = slices.Insert(env, 0, "ENABLE_WEBHOOKS=false")
	}
	return env
}

// supervise waits for the process and starts it again, as often as necessary.
func (p *Process) supervise() {
	defer close(p.done)
	for {
		again := time.After(pause)
		err := p.command.Wait() // from now on, only this goroutine calls launch, which changes it
		if err == nil {
			err = errors.New("exit status 0")
		}
		if !p.exited(err) {
			return
		}
		select {
		case <-p.ctx.Done():
			return
		case <-again:
		}
		if err := p.launch(); err != nil {
			p.exited(err)
			return
		}
	}
}

// exited records an exit. It returns false if the process was stopped.
func (p *Process) exited(why error) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	stopped := p.ctx.Err() != nil
	if !stopped {
		p.exits = append(p.exits, Exit{time.Now(), why, process.Tail(p.Log(), 50)})
	}
	return !stopped
}

// Stop ends the process like a Pod: SIGTERM, and SIGKILL after a grace period. It may be called
// twice.
func (p *Process) Stop() {
	p.end(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(Grace):
		p.Destroy()
	}
}

// Destroy kills the process for good.
func (p *Process) Destroy() {
	p.end(syscall.SIGKILL)
	<-p.done
}

func (p *Process) end(signal syscall.Signal) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.cancel()
	_ = p.command.Process.Signal(signal) // it may have exited just now
}

// Kill kills the process, which is then started again.
func (p *Process) Kill() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	_ = p.command.Process.Kill() // it may have exited just now
}

// PID returns the ID of the current process, or of the last one.
func (p *Process) PID() int {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.command.Process.Pid
}

// State says how the last process has ended, as in exit status 0. Call it after Stop or Destroy.
func (p *Process) State() string { return p.command.ProcessState.String() }

// Log returns all that the processes have printed.
func (p *Process) Log() string { return p.log.String() }

// Exits returns the exits so far that nobody has asked for.
func (p *Process) Exits() []Exit {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return slices.Clone(p.exits)
}

// panics matches the output of Go's runtime for a panic, of libraries that recover from one, and of
// the race detector.
var panics = regexp.MustCompile(
	`(?m)^(panic|fatal error): .*|^WARNING: DATA RACE|.*(Observed a panic|panic: .*\[recovered\]).*`)

// Panic returns the first line of a log that reports a panic or a data race, or "".
func Panic(log string) string { return panics.FindString(log) }
