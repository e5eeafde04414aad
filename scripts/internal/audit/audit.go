// Package audit reads the API server's audit log: who sent which request, and with which response
// code. It shows what a program really did, whatever its own log claims.
package audit

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/kubernetes/scheme"
)

// Request is one request that the API server has answered, or a watch that has begun.
type Request struct {
	Verb      string // get, list, watch, create, update, patch, delete, deletecollection
	URI       string
	Namespace string
	Group     string // the API group: "" is the core's
	Resource  string // with its subresource, as in foos/status; "" if it isn't about one
	Name      string
	UserAgent string
	User      string // only in the audit log
	Code      int32
	// When the API server, or the fault proxy, received and answered it.
	Received, Answered time.Time
	// What only the fault proxy knows: the body of a write, and the resourceVersion of the object in
	// the answer.
	Body, ResourceVersion string
}

// IsWrite reports whether the request isn't a read.
func (r Request) IsWrite() bool {
	return r.Verb != "get" && r.Verb != "list" && r.Verb != "watch"
}

// ChangesObjects reports whether the request is a write that counts as an operator's work. A review
// stores nothing.
func (r Request) ChangesObjects() bool {
	isReview := r.Group == "authentication.k8s.io" || r.Group == "authorization.k8s.io"
	return r.IsWrite() && r.Resource != "" && !isReview && !r.IsHousekeeping()
}

// IsHousekeeping reports whether the request is about a Lease or an Event, which operators write
// about themselves.
func (r Request) IsHousekeeping() bool {
	return r.Group == "coordination.k8s.io" || r.Group == "events.k8s.io" || r.Group == "" && r.Resource == "events"
}

// IsElection reports whether the request is about a Lease, which a leader renews forever.
func (r Request) IsElection() bool { return r.Resource == "leases" }

// GroupResource is what the request is about, without a subresource, as errors name it.
func (r Request) GroupResource() schema.GroupResource {
	resource, _, _ := strings.Cut(r.Resource, "/")
	return schema.GroupResource{Group: r.Group, Resource: resource}
}

// Client is the name at the beginning of the User-Agent, with the controller if the program runs
// several, as in kube-controller-manager/replicaset-controller.
func (r Request) Client() string {
	name, rest, _ := strings.Cut(r.UserAgent, "/")
	if _, build, ok := strings.Cut(rest, " kubernetes/"); ok {
		if _, part, ok := strings.Cut(build, "/"); ok && !strings.HasSuffix(name, part) {
			return name + "/" + part
		}
	}
	return name
}

// String shows the HTTP method behind the verb.
func (r Request) String() string {
	methods := map[string]string{
		"create": "POST", "update": "PUT", "patch": "PATCH", "delete": "DELETE", "deletecollection": "DELETE",
	}
	return fmt.Sprintf("%-6s %s  %d", cmp.Or(methods[r.Verb], "GET"), r.URI, r.Code)
}

// Query returns the parameters in the request's URI.
func (r Request) Query() url.Values {
	_, query, _ := strings.Cut(r.URI, "?")
	values, _ := url.ParseQuery(query) // leaves out what it can't parse
	return values
}

// IsApply reports whether the request is a server-side apply, which may create the object.
func (r Request) IsApply() bool { return r.Verb == "patch" && r.Query().Has("fieldManager") }

// Log is an audit log file, which only grows. A new Log begins at its start.
type Log struct {
	Path   string
	offset int64
}

// SkipToEnd skips all complete lines.
func (l *Log) SkipToEnd() error {
	info, err := os.Stat(l.Path)
	if err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	l.offset = max(0, info.Size()-longestLine)
	return l.read(func([]byte) error { return nil })
}

// longestLine is more than a request's line has at level Metadata.
const longestLine = 1 << 20

// Requests returns what user has sent since the last call, or all requests if user is "".
func (l *Log) Requests(user string) (requests []Request, err error) {
	err = l.events(user, func(_ auditv1.Event, request Request, counts bool) {
		if counts && (user == "" || request.User == user) {
			requests = append(requests, request)
		}
	})
	return requests, err
}

// Watching returns the open watches of a resource, such as foos, that began after that time.
// Nothing else may have been read from the Log.
func (l *Log) Watching(resource string, after time.Time) ([]Request, error) {
	open := map[types.UID]Request{}
	err := l.events(`"`+resource+`"`, func(event auditv1.Event, request Request, counts bool) {
		begun := counts && request.Verb == "watch" && request.Code < 400
		if begun && request.Resource == resource && event.StageTimestamp.After(after) {
			open[event.AuditID] = request
		} else {
			delete(open, event.AuditID)
		}
	})
	return slices.Collect(maps.Values(open)), err
}

// events calls do for each new event whose line contains that text. It doesn't decode the other
// lines, because decoding is slow and most of a log is about something else.
func (l *Log) events(text string, do func(event auditv1.Event, request Request, counts bool)) error {
	return l.read(func(line []byte) error {
		if !bytes.Contains(line, []byte(text)) {
			return nil
		}
		var event auditv1.Event
		if err := json.Unmarshal(line, &event); err != nil {
			return err
		}
		request, counts := requestOf(&event)
		do(event, request, counts)
		return nil
	})
}

// read calls do for each complete line after the last one.
func (l *Log) read(do func(line []byte) error) error {
	file, err := os.Open(l.Path)
	if err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	defer file.Close()
	reader := bufio.NewReaderSize(io.NewSectionReader(file, l.offset, math.MaxInt64-l.offset), 1<<16)
	for {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil // an unfinished line is read next time
		}
		if err == nil {
			l.offset += int64(len(line))
			err = do(line)
		}
		if err != nil {
			return fmt.Errorf("audit log %s: %w", l.Path, err)
		}
	}
}

// requestOf counts a watch when it begins or is rejected, and other requests when they are done.
func requestOf(event *auditv1.Event) (Request, bool) {
	request := Request{Verb: event.Verb, URI: event.RequestURI, UserAgent: event.UserAgent, User: event.User.Username}
	request.Received, request.Answered = event.RequestReceivedTimestamp.Time, event.StageTimestamp.Time
	if event.ResponseStatus != nil {
		request.Code = event.ResponseStatus.Code
	}
	counts := event.Stage == auditv1.StageResponseComplete
	if event.Verb == "watch" && request.Code < 400 {
		counts = event.Stage == auditv1.StageResponseStarted
	}
	if !counts {
		return Request{}, false
	}
	if ref := event.ObjectRef; ref != nil {
		request.Namespace, request.Name = ref.Namespace, ref.Name
		request.Group, request.Resource = ref.APIGroup, ref.Resource
		if ref.Subresource != "" {
			request.Resource += "/" + ref.Subresource
		}
	}
	return request, true
}

// ServiceAccount is the user name of a ServiceAccount, as the log has it.
func ServiceAccount(namespace, name string) string {
	return strings.Join([]string{"system:serviceaccount", namespace, name}, ":")
}

// Readable is a request's body as JSON, or as YAML, which is how a server-side apply may look.
func Readable(body string) string {
	if !strings.HasPrefix(body, "k8s\x00") { // the prefix of protobuf
		return body
	}
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode([]byte(body), nil, nil)
	if err != nil {
		return "(protobuf)"
	}
	content, _ := json.Marshal(object) // what was decoded can be encoded
	return string(content)
}
