package audit

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Lines as the API server writes them, shortened.
var (
	created = line("ResponseComplete", "create", "/apis/apps/v1/namespaces/a/deployments", foo, 201,
		`"userAgent":"01-raw-watch/v0.0.0 (linux/amd64)",`+
			`"objectRef":{"resource":"deployments","namespace":"a","name":"x"},`)
	status = line("ResponseComplete", "update", "/foos/x/status", foo, 200,
		`"objectRef":{"resource":"foos","subresource":"status","name":"x"},`)
	begun  = line("ResponseStarted", "watch", "/pods?watch=true", foo, 200, "")
	ended  = line("ResponseComplete", "watch", "/pods?watch=true", foo, 200, "")
	gone   = line("ResponseComplete", "watch", "/pods?watch=true", foo, 410, "")
	others = line("ResponseComplete", "get", "/version", "admin", 200, "")
)

const foo = "system:serviceaccount:a:foo"

func line(stage, verb, uri, user string, code int, more string) string {
	return fmt.Sprintf(`{"stage":%q,"verb":%q,"requestURI":%q,"user":{"username":%q},%s"responseStatus":{"code":%d}}`,
		stage, verb, uri, user, more, code)
}

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
			ServiceAccount("a", "foo"), []string{others, created, others},
			[]string{"POST   /apis/apps/v1/namespaces/a/deployments  201"},
		},
		"no user means everybody": {
			"", []string{others, created},
			[]string{"GET    /version  200", "POST   /apis/apps/v1/namespaces/a/deployments  201"},
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
		{
			Verb: "create", URI: "/apis/apps/v1/namespaces/a/deployments", Code: 201,
			Namespace: "a", Resource: "deployments", Name: "x", User: foo, UserAgent: "01-raw-watch/v0.0.0 (linux/amd64)",
		},
		{Verb: "update", URI: "/foos/x/status", Resource: "foos/status", Name: "x", User: foo, Code: 200},
		{Verb: "watch", URI: "/pods?watch=true", User: foo, Code: 200},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestClient(t *testing.T) {
	for agent, want := range map[string]string{
		"01-raw-watch/v0.0.0 (linux/amd64) kubernetes/$Format":             "01-raw-watch",
		"kubectl/v1.36.3 (linux/amd64) kubernetes/abc":                     "kubectl",
		"kube-scheduler/v0.0.0 (linux/amd64) kubernetes/$Format/scheduler": "kube-scheduler",
		"kube-controller-manager/v1.36.3 (linux/amd64) kubernetes/abc/replicaset-controller": "" +
			"kube-controller-manager/replicaset-controller",
		"kwok-controller/v0.8.0 (linux/amd64)": "kwok-controller",
		"workshop":                             "workshop",
		"":                                     "",
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
