package process

// Keeping a program running. When it exits, it is started again, as a Pod's container would be. It
// can be stopped like a Pod, and killed like one that crashes.

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
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

type Options struct {
	Binary string
	Args   []string
	Env    []string  // besides this process's environment: see Environment
	Output io.Writer // gets all that the program prints
	// OwnGroup gives the program its own process group, which a terminal's Ctrl-C doesn't reach.
	OwnGroup bool
	// Exited is called when the program has exited unasked, before it is started again. If it can't
	// be started again, Exited is called once more, with again false. It may be nil.
	Exited func(why error, again bool)
}

type Program struct {
	options Options
	stop    chan struct{} // closed when it must not be started again
	done    chan struct{} // closed when it has ended for good

	mutex   sync.Mutex
	process *exec.Cmd // the current one, or the last
	stopped bool
	crashes int
}

// Supervise starts the program. The caller must stop or destroy it.
func Supervise(options Options) (*Program, error) {
	p := &Program{options: options, stop: make(chan struct{}), done: make(chan struct{})}
	if err := p.launch(); err != nil {
		return nil, err
	}
	go p.supervise()
	return p, nil
}

// errStopped means that the program was stopped before it could be started again.
var errStopped = errors.New("it was stopped")

func (p *Program) launch() error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.stopped {
		return errStopped
	}
	process := exec.Command(p.options.Binary, p.options.Args...)
	process.Env = Environment(p.options.Args, p.options.Env)
	process.Stdout, process.Stderr = p.options.Output, p.options.Output
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: p.options.OwnGroup}
	if err := process.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.options.Binary, err)
	}
	p.process = process
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
func (p *Program) supervise() {
	defer close(p.done)
	for {
		again := time.After(pause)
		err := p.process.Wait() // from now on, only this goroutine calls launch, which changes it
		if err == nil {
			err = errors.New("exit status 0")
		}
		if !p.crashed(err, true) {
			return
		}
		select {
		case <-p.stop:
			return
		case <-again:
		}
		if err := p.launch(); err != nil {
			p.crashed(err, false)
			return
		}
	}
}

// crashed records that the process has exited, or couldn't be started again. It returns false if it
// was stopped.
func (p *Program) crashed(why error, again bool) bool {
	p.mutex.Lock()
	stopped := p.stopped
	if !stopped {
		p.crashes++
	}
	p.mutex.Unlock()
	if !stopped && p.options.Exited != nil {
		p.options.Exited(why, again)
	}
	return !stopped
}

// Stop ends the program like a Pod: SIGTERM, and SIGKILL after a grace period. It may be called
// twice.
func (p *Program) Stop() {
	p.end(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(grace):
		p.end(syscall.SIGKILL)
		<-p.done
	}
}

// Destroy kills the program for good.
func (p *Program) Destroy() {
	p.end(syscall.SIGKILL)
	<-p.done
}

func (p *Program) end(signal syscall.Signal) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if !p.stopped {
		p.stopped = true
		close(p.stop)
	}
	_ = p.process.Process.Signal(signal) // it may have exited just now
}

func (p *Program) Kill() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	_ = p.process.Process.Kill() // it may have exited just now, and is started again anyway
}

// PID returns the ID of the current process, or of the last one.
func (p *Program) PID() int {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.process.Process.Pid
}

// State says how the last process has ended, as in exit status 0. Call it after Stop or Destroy.
func (p *Program) State() string { return p.process.ProcessState.String() }

// Crashes returns how often the program has exited unasked.
func (p *Program) Crashes() int {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.crashes
}
