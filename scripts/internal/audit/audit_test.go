package audit

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Lines as the API server writes them, shortened.
const (
	created = `{"stage":"ResponseComplete","verb":"create","requestURI":"/apis/apps/v1/namespaces/a/deployments","user":{"username":"system:serviceaccount:a:foo"},"userAgent":"01-raw-watch/v0.0.0 (linux/amd64)","objectRef":{"resource":"deployments","namespace":"a","name":"x"},"responseStatus":{"code":201}}`
	status  = `{"stage":"ResponseComplete","verb":"update","requestURI":"/foos/x/status","user":{"username":"system:serviceaccount:a:foo"},"objectRef":{"resource":"foos","subresource":"status","name":"x"},"responseStatus":{"code":200}}`
	begun   = `{"stage":"ResponseStarted","verb":"watch","requestURI":"/pods?watch=true","user":{"username":"system:serviceaccount:a:foo"},"responseStatus":{"code":200}}`
	ended   = `{"stage":"ResponseComplete","verb":"watch","requestURI":"/pods?watch=true","user":{"username":"system:serviceaccount:a:foo"},"responseStatus":{"code":200}}`
	gone    = `{"stage":"ResponseComplete","verb":"watch","requestURI":"/pods?watch=true","user":{"username":"system:serviceaccount:a:foo"},"responseStatus":{"code":410}}`
	others  = `{"stage":"ResponseComplete","verb":"get","requestURI":"/version","user":{"username":"admin"},"responseStatus":{"code":200}}`
)

func TestRequests(t *testing.T) {
	for sentence, test := range map[string]struct {
		user  string
		lines []string
		want  []string
	}{
		"a request is shown with its HTTP method and its code": {
			ServiceAccount("a", "foo"), []string{created}, []string{"POST   /apis/apps/v1/namespaces/a/deployments  201"},
		},
		"a watch is counted when it begins, and not again when it ends": {
			ServiceAccount("a", "foo"), []string{begun, ended}, []string{"GET    /pods?watch=true  200"},
		},
		"a watch that is rejected is counted too": {
			ServiceAccount("a", "foo"), []string{gone}, []string{"GET    /pods?watch=true  410"},
		},
		"other people's requests are left out": {
			ServiceAccount("a", "foo"), []string{others, created, others}, []string{"POST   /apis/apps/v1/namespaces/a/deployments  201"},
		},
		"no user means everybody": {
			"", []string{others, created}, []string{"GET    /version  200", "POST   /apis/apps/v1/namespaces/a/deployments  201"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			log := Log{Path: write(t, strings.Join(test.lines, "\n")+"\n")}
			requests, err := log.Requests(test.user)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, request := range requests {
				got = append(got, request.String())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRequestsHaveNamespaceResourceAndName(t *testing.T) {
	log := Log{Path: write(t, created+"\n"+status+"\n"+begun+"\n")}
	got, err := log.Requests("")
	if err != nil {
		t.Fatal(err)
	}
	want := []Request{
		{Verb: "create", URI: "/apis/apps/v1/namespaces/a/deployments", Namespace: "a", Resource: "deployments", Name: "x", UserAgent: "01-raw-watch/v0.0.0 (linux/amd64)", Code: 201},
		{Verb: "update", URI: "/foos/x/status", Resource: "foos/status", Name: "x", Code: 200},
		{Verb: "watch", URI: "/pods?watch=true", Code: 200},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !got[0].IsWrite() || !got[1].IsWrite() || got[2].IsWrite() {
		t.Error("create and update are writes, watch isn't")
	}
	if client := got[0].Client(); client != "01-raw-watch" {
		t.Errorf("client is %q, want 01-raw-watch", client)
	}
}

func TestClient(t *testing.T) {
	for agent, want := range map[string]string{
		"01-raw-watch/v0.0.0 (linux/amd64) kubernetes/$Format":                               "01-raw-watch",
		"kubectl/v1.36.3 (linux/amd64) kubernetes/abc":                                       "kubectl",
		"kube-controller-manager/v1.36.3 (linux/amd64) kubernetes/abc/replicaset-controller": "kube-controller-manager/replicaset-controller",
		"kube-scheduler/v0.0.0 (linux/amd64) kubernetes/$Format/scheduler":                   "kube-scheduler",
		"kwok-controller/v0.8.0 (linux/amd64)":                                               "kwok-controller",
		"workshop":                                                                           "workshop",
		"":                                                                                   "",
	} {
		if got := (Request{UserAgent: agent}).Client(); got != want {
			t.Errorf("%q is %q, want %q", agent, got, want)
		}
	}
}

// A log is read while it is being written.
func TestEachCallReturnsOnlyWhatIsNew(t *testing.T) {
	path := write(t, created+"\n"+status[:20])
	log := Log{Path: path}
	count := func(want int, why string) {
		t.Helper()
		requests, err := log.Requests("")
		if err != nil || len(requests) != want {
			t.Fatalf("%s: got %d requests and error %v, want %d", why, len(requests), err, want)
		}
	}
	count(1, "an unfinished line is read later")
	appendTo(t, path, status[20:]+"\n")
	count(1, "the line is finished")
	count(0, "nothing is new")
	appendTo(t, path, created+"\n")
	if err := log.SkipToEnd(); err != nil {
		t.Fatal(err)
	}
	count(0, "SkipToEnd skips the new line")
	appendTo(t, path, created+"\n"+created[:50])
	if err := log.SkipToEnd(); err != nil {
		t.Fatal(err)
	}
	appendTo(t, path, created[50:]+"\n")
	count(1, "SkipToEnd keeps a line that isn't finished")
	if err := os.WriteFile(path, []byte(created+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	count(1, "the API server has begun a new file")
}

// The API server renames a log that has grown too long, and continues in a new file.
func TestARenamedLogIsReadToItsEnd(t *testing.T) {
	path := write(t, created+"\n")
	log := Log{Path: path}
	if err := log.SkipToEnd(); err != nil {
		t.Fatal(err)
	}
	rename := func(when string) {
		t.Helper()
		if err := os.Rename(path, strings.TrimSuffix(path, ".log")+"-"+when+".log"); err != nil {
			t.Fatal(err)
		}
	}
	appendTo(t, path, others+"\n")
	rename("2026-11-21T13-54-13.746")
	write := func(lines ...string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(status)
	rename("2026-11-21T13-58-00.001")
	write(begun, created, created, created) // longer than the first one was
	requests, err := log.Requests("")
	if err != nil {
		t.Fatal(err)
	}
	var verbs []string
	for _, request := range requests {
		verbs = append(verbs, request.Verb)
	}
	if want := []string{"get", "update", "watch", "create", "create", "create"}; !slices.Equal(verbs, want) {
		t.Errorf("got %q, want %q", verbs, want)
	}
	if requests, err := log.Requests(""); err != nil || len(requests) > 0 {
		t.Errorf("read again, got %v and error %v, want no requests", requests, err)
	}

	again := Log{Path: path}
	if requests, err := again.Requests(""); err != nil || len(requests) != 7 || requests[1].Verb != "get" {
		t.Errorf("from the beginning, got %v and error %v, want 7 requests", requests, err)
	}
}

func TestAnUnreadableLogIsAnError(t *testing.T) {
	for sentence, path := range map[string]string{
		"no such file": filepath.Join(t.TempDir(), "none"),
		"not a log":    write(t, "hello\n"),
	} {
		log := Log{Path: path}
		if _, err := log.Requests(""); err == nil {
			t.Errorf("%s: no error", sentence)
		}
	}
}

func write(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit.log")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func appendTo(t *testing.T, path, content string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(content); err != nil {
		t.Fatal(err)
	}
}
