package process

// Keeping a program running: one that exits is started again, as a Pod's container would be, since leaving is a legitimate
// answer to trouble. It can be stopped as a Pod is, and killed as by a crash.

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

const (
	// pause is the shortest time from one start to the next.
	pause = time.Second
	// grace is how long a program has to end by itself, once it has been told to: a Pod's.
	grace = 30 * time.Second
)

// Options say what is run.
type Options struct {
	Binary string
	Args   []string
	Env    []string  // beyond this process's environment
	Output io.Writer // gets all that the program prints
	// OwnGroup gives the program a process group of its own: a terminal's Ctrl-C doesn't reach it.
	OwnGroup bool
	// Exited is called when the program has exited without being told to, before it is started again, and with again false when
	// it couldn't be started again, which ends it; may be nil.
	Exited func(why error, again bool)
}

// Program is a program that is kept running.
type Program struct {
	options Options
	stop    chan struct{} // closed when it is not to be started again
	done    chan struct{} // closed when it is gone for good

	mutex   sync.Mutex
	process *exec.Cmd // the present one, or the last
	stopped bool
	crashes int
}

// Supervise starts the program. If you start it, stop or destroy it.
func Supervise(options Options) (*Program, error) {
	p := &Program{options: options, stop: make(chan struct{}), done: make(chan struct{})}
	if err := p.launch(); err != nil {
		return nil, err
	}
	go p.supervise()
	return p, nil
}

// errStopped says that there is nothing to start any more.
var errStopped = errors.New("it was stopped")

func (p *Program) launch() error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.stopped {
		return errStopped
	}
	process := exec.Command(p.options.Binary, p.options.Args...)
	process.Env = append(os.Environ(), p.options.Env...)
	process.Stdout, process.Stderr = p.options.Output, p.options.Output
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: p.options.OwnGroup}
	if err := process.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.options.Binary, err)
	}
	p.process = process
	return nil
}

// supervise waits for the process and starts it again, as often as need be.
func (p *Program) supervise() {
	defer close(p.done)
	for {
		again := time.After(pause)
		err := p.process.Wait() // only launch changes it, which from now on is called from here alone
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

// crashed takes note that the process has exited, or couldn't be started again. It returns false if that was to be.
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

// Stop ends the program for good, as a Pod is ended: SIGTERM, and SIGKILL if it takes too long. It may be called twice.
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

// Kill kills the program, which is then started again.
func (p *Program) Kill() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	_ = p.process.Process.Kill() // it may have exited just now, and is then started again all the same
}

// Crashes returns how often the program has exited without being told to.
func (p *Program) Crashes() int {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.crashes
}
