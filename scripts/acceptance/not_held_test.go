// The promises that a program is declared not to keep. Each test checks that a later event is
// handled while the earlier one isn't.

package acceptance

import (
	"net/http"
	"testing"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/contract"
	"example.com/operators/scripts/internal/faultproxy"
)

func TestNotHeld(t *testing.T) {
	shows := map[string]func(*faulty){
		"F4a": showLost(http.StatusInternalServerError),
		"F4b": showLost(http.StatusTooManyRequests),
		"F4c": showLost(http.StatusConflict),
		"F6c": showTwoAtWork,
		"F7":  showTwoAtWork,
		"F8":  showLost(http.StatusForbidden),
	}
	forChaptersAtOnce(t, chapters.Foo, nil, func(t *testing.T, env *environment, j judged) { testNotHeld(t, env, j, shows) })
}

// testNotHeld shows each fault that the program is declared not to survive.
func testNotHeld(t *testing.T, env *environment, j judged, shows map[string]func(*faulty)) {
	for _, fault := range contract.Faults() {
		why := j.WhyNotHeld(j.chapter, fault.Name)
		if why == "" {
			continue
		}
		t.Run(j.faultName(fault)+": not held, "+why, func(t *testing.T) {
			t.Parallel()
			show, ok := shows[fault.Name]
			if !ok {
				t.Fatal("no test shows this declaration")
			}
			show(newFaulty(t, env, j))
		})
	}
}

const isRetriedNow = "the write was retried: the declaration in package contract is wrong"

// showLost shows that a failed write is lost. Unless it is a conflict, the status reports the failure,
// and the event of that causes one second attempt.
func showLost(code int) func(*faulty) {
	attempts := 2
	if code == http.StatusConflict {
		attempts = 1
	}
	return func(f *faulty) {
		f.start()
		f.sentinel("ready")
		failing := f.proxy.FailWrites(attempts, code, deploymentsCreated()...)
		f.createFoo("unlucky", "unlucky", 1)
		f.hits(failing, attempts)
		f.sentinel("later")
		if f.getDeployment("unlucky") != nil {
			f.Error(isRetriedNow)
		}
	}
}

// showTwoAtWork shows that both replicas try to create the same Deployment.
func showTwoAtWork(f *faulty) {
	second := f.another()
	first, other := f.proxy.FailWrites(1, http.StatusInternalServerError, deploymentsCreated()...),
		second.proxy.FailWrites(1, http.StatusInternalServerError, deploymentsCreated()...)
	f.start()
	second.start()
	f.createFoo("contested", "contested", 1)
	f.hits(first, 1)
	f.hits(other, 1)
}

func deploymentsCreated() []faultproxy.Match {
	return []faultproxy.Match{faultproxy.Resource("deployments"), faultproxy.Verb("create")}
}
