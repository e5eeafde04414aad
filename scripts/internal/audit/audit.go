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
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

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
	Code      int32
	// When the API server, or the fault proxy, received and answered it.
	Received, Answered time.Time
	// What only the fault proxy knows: the body of a write, and the resourceVersion of the object in
	// the answer.
	Body, ResourceVersion string
}

// IsWrite reports whether the request could change something.
func (r Request) IsWrite() bool {
	return r.Verb != "get" && r.Verb != "list" && r.Verb != "watch"
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

// Method is the HTTP method behind the verb.
func (r Request) Method() string {
	methods := map[string]string{"create": "POST", "update": "PUT", "patch": "PATCH", "delete": "DELETE", "deletecollection": "DELETE"}
	return cmp.Or(methods[r.Verb], "GET")
}

func (r Request) String() string {
	return fmt.Sprintf("%-6s %s  %d", r.Method(), r.URI, r.Code)
}

// Query returns the parameters in the request's URI.
func (r Request) Query() url.Values {
	_, query, _ := strings.Cut(r.URI, "?")
	values, _ := url.ParseQuery(query) // leaves out what it can't parse
	return values
}

// IsApply reports whether the request is a server-side apply, which may create the object.
func (r Request) IsApply() bool { return r.Verb == "patch" && r.Query().Has("fieldManager") }

// longestLine is more than a request's line has at level Metadata.
const longestLine = 1 << 20

// Log is an audit log file. The API server renames a file that has grown too long, with the time in
// its name, and continues in a new one. A new Log begins with the oldest file.
type Log struct {
	Path   string
	offset int64
	file   os.FileInfo // with the offset; nil: none was read yet
}

// SkipToEnd skips all complete lines.
func (l *Log) SkipToEnd() error {
	info, err := os.Stat(l.Path)
	if err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	l.file, l.offset = info, max(0, info.Size()-longestLine)
	return l.read(l.Path, func([]byte) error { return nil })
}

// Requests returns what user has sent since the last call, or all requests if user is "".
func (l *Log) Requests(user string) (requests []Request, err error) {
	err = l.events(user, func(event auditv1.Event, request Request, counts bool) {
		if counts && (user == "" || event.User.Username == user) {
			requests = append(requests, request)
		}
	})
	return requests, err
}

// Others returns what everybody but those users has sent in a namespace since the last call.
func (l *Log) Others(namespace string, users ...string) (requests []Request, err error) {
	err = l.events(`"namespace":"`+namespace+`"`, func(event auditv1.Event, request Request, counts bool) {
		if counts && request.Namespace == namespace && !slices.Contains(users, event.User.Username) {
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
	renamed, err := l.renamed()
	if err != nil {
		return err
	}
	for _, path := range append(renamed, l.Path) {
		err := l.read(path, func(line []byte) error {
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
		if err != nil {
			return err
		}
	}
	return nil
}

// renamed returns the renamed files that may have new lines, the oldest first.
func (l *Log) renamed() ([]string, error) {
	present, err := os.Stat(l.Path)
	if err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	if l.file != nil && os.SameFile(l.file, present) {
		return nil, nil
	}
	extension := filepath.Ext(l.Path)
	paths, err := filepath.Glob(strings.TrimSuffix(l.Path, extension) + "-*" + extension) // sorted by name, so by time
	if err != nil || l.file == nil {
		return paths, err
	}
	for i, path := range paths {
		if info, err := os.Stat(path); err == nil && os.SameFile(l.file, info) {
			return paths[i:], nil
		}
	}
	return nil, nil // the file was deleted
}

// read calls do for each complete line after the last one.
func (l *Log) read(path string, do func(line []byte) error) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	if l.file != nil && !os.SameFile(l.file, info) || info.Size() < l.offset {
		l.offset = 0 // the API server has begun a new file
	}
	l.file = info
	if _, err := file.Seek(l.offset, io.SeekStart); err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	reader := bufio.NewReaderSize(file, 1<<16)
	for {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil // an unfinished line is read next time
		}
		if err != nil {
			return fmt.Errorf("audit log: %w", err)
		}
		l.offset += int64(len(line))
		if err := do(line); err != nil {
			return fmt.Errorf("audit log %s: %w", path, err)
		}
	}
}

// requestOf counts a watch when it begins or is rejected, and other requests when they are done.
func requestOf(event *auditv1.Event) (Request, bool) {
	request := Request{Verb: event.Verb, URI: event.RequestURI, UserAgent: event.UserAgent}
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
		request.Namespace, request.Group, request.Resource, request.Name = ref.Namespace, ref.APIGroup, ref.Resource, ref.Name
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
	if err == nil {
		var content []byte
		if content, err = json.Marshal(object); err == nil {
			return string(content)
		}
	}
	return "(protobuf)"
}
