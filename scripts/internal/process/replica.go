package process

import (
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Pings are variables with which client-go notices a frozen connection within two seconds, instead
// of 45.
var Pings = []string{"HTTP2_READ_IDLE_TIMEOUT_SECONDS=1", "HTTP2_PING_TIMEOUT_SECONDS=1"}

// Replica is one replica of an operator, run as a Pod would: a process that is started again when it
// exits. It keeps what the process prints, and when and why it has exited.
type Replica struct {
	*Program
	// Began is when it was started first.
	Began time.Time

	log   Buffer
	mutex sync.Mutex
	exits []Exit
}

// Exit is an exit that nobody has asked for.
type Exit struct {
	At  time.Time
	Why error
	// Log is the end of what the process has printed.
	Log string
}

// StartReplica starts a replica. The caller must stop or destroy it. options.Output may be nil.
func StartReplica(options Options) (r *Replica, err error) {
	r = &Replica{Began: time.Now()}
	if options.Output == nil {
		options.Output = &r.log
	} else {
		options.Output = io.MultiWriter(&r.log, options.Output)
	}
	exited := options.Exited
	options.Exited = func(why error, again bool) {
		r.mutex.Lock()
		r.exits = append(r.exits, Exit{time.Now(), why, Tail(r.Log(), 10)})
		r.mutex.Unlock()
		if exited != nil {
			exited(why, again)
		}
	}
	r.Program, err = Supervise(options)
	return r, err
}

// Log returns all that the processes have printed.
func (r *Replica) Log() string { return r.log.String() }

// Exits returns the exits so far that nobody has asked for.
func (r *Replica) Exits() []Exit {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return append([]Exit(nil), r.exits...)
}

// panics matches the output of Go's runtime for a panic, of libraries that recover from one, and of
// the race detector.
var panics = regexp.MustCompile(`(?m)^(panic|fatal error): .*|^WARNING: DATA RACE|.*(Observed a panic|panic: .*\[recovered\]).*`)

// Panic returns the first line of a log that reports a panic or a data race, or "".
func Panic(log string) string { return panics.FindString(log) }

// Tail returns the last lines of a text.
func Tail(text string, lines int) string {
	all := slices.Collect(strings.Lines(text))
	return strings.Join(all[max(0, len(all)-lines):], "")
}
