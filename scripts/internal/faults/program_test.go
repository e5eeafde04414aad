package faults

// The program and the API server of the tests.

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/operators/scripts/internal/testkit"
)

// isProgram is the variable by which this binary knows that it is to be the program.
const isProgram = "FAULTS_TEST_IS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(isProgram) != "" {
		program()
		return
	}
	os.Exit(m.Run())
}

// program watches two kinds. With each event of the first it reads three times, writes once, and
// says so. Its output takes another way than its requests, so that it must come last.
func program() {
	flags := flag.NewFlagSet("", flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "")
	flags.Bool("a-flag", false, "")
	_ = flags.Parse(os.Args[1:])
	fmt.Println("up:", strings.Join(os.Args[3:], " "))
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		panic(err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		panic(err)
	}
	send := func(method, path string) io.ReadCloser {
		request, err := http.NewRequest(method, config.Host+path, strings.NewReader("{}"))
		if err != nil {
			panic(err)
		}
		answer, err := client.Do(request)
		if err != nil {
			return http.NoBody
		}
		return answer.Body
	}
	const deployments = "/apis/apps/v1/namespaces/a/deployments"
	go io.Copy(io.Discard, send(http.MethodGet, deployments+"?watch=true"))
	go func() {
		events := send(http.MethodGet, "/apis/samplecontroller.k8s.io/v1alpha1/foos?watch=true")
		for event := make([]byte, 1); ; {
			if _, err := events.Read(event); err != nil {
				return
			}
			for range 3 {
				send(http.MethodGet, deployments).Close()
			}
			send(http.MethodPatch, deployments+"/x").Close()
			fmt.Println("I1121 06:43:59.620038   25626 main.go:1] an event")
		}
	}()
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	<-told
	fmt.Println("down")
}

// apiServer answers everything, and hands events to all watches of Foos.
type apiServer struct {
	config  *rest.Config
	mutex   sync.Mutex
	watches map[chan struct{}]bool
}

func newAPIServer(t *testing.T) *apiServer {
	api := &apiServer{watches: map[chan struct{}]bool{}}
	_, api.config = testkit.StartServer(t, api.answer)
	return api
}

// event sends an event to each open watch.
func (a *apiServer) event() {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	for watch := range a.watches {
		watch <- struct{}{}
	}
}

func (a *apiServer) answer(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Query().Get("watch") == "" {
		return
	}
	events := make(chan struct{}, 10)
	if strings.HasSuffix(r.URL.Path, "/foos") {
		a.set(events, true)
		defer a.set(events, false)
	}
	flush := http.NewResponseController(w).Flush
	for flush() == nil {
		select {
		case <-events:
			io.WriteString(w, "\n") // the program counts bytes, and the proxy lines
		case <-r.Context().Done():
			return
		}
	}
}

func (a *apiServer) set(watch chan struct{}, open bool) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if open {
		a.watches[watch] = true
	} else {
		delete(a.watches, watch)
	}
}
