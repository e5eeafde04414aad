// The page in a real browser: Chromium or Chrome, if there is one. The names of these tests begin with
// TestPage, so that they can be left out.

package lens

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// openBrowser returns a context for a new tab. It skips the test if there is none,
// except in CI.
func openBrowser(t testing.TB) context.Context {
	t.Helper()
	first, err := theBrowser()
	switch {
	case errors.Is(err, exec.ErrNotFound) && os.Getenv("CI") == "":
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	tab, closeTab := chromedp.NewContext(first)
	t.Cleanup(closeTab)
	return tab
}

// theBrowser starts the browser of all tests, and returns its first tab. It ends with the tests.
var theBrowser = sync.OnceValues(func() (context.Context, error) {
	allocator, end := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox,
		chromedp.WindowSize(1400, 1000), chromedp.WSURLReadTimeout(2*time.Minute))...)
	tab, closeTab := chromedp.NewContext(allocator)
	endBrowser = func() { closeTab(); end() }
	return tab, chromedp.Do(tab, chromedp.Navigate("about:blank"))
})

var endBrowser = func() {}

func TestMain(m *testing.M) {
	code := m.Run()
	endBrowser()
	os.Exit(code)
}

// action is something that a user or a test does in a tab.
type action = chromedp.Action[chromedp.Void]

// do runs actions in a tab.
func do(t testing.TB, tab context.Context, actions ...action) {
	t.Helper()
	if err := chromedp.Do(tab, actions...); err != nil {
		t.Fatal(err)
	}
}

// becomes waits until a JavaScript expression is true.
func becomes(expression string) action {
	return func(ctx context.Context, tab *chromedp.Target) (chromedp.Void, error) {
		nothing, err := chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingTimeout(time.Minute))(ctx, tab)
		if err != nil {
			err = fmt.Errorf("%s: %w", expression, err)
		}
		return nothing, err
	}
}

// script runs JavaScript.
func script(text string) action { return chromedp.Evaluate[chromedp.Void](text) }

// value returns what an action returns.
func value[T any](t testing.TB, tab context.Context, a chromedp.Action[T]) T {
	t.Helper()
	result, err := chromedp.Run(tab, a)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// told returns a recorder of a story with one chain of causes, and an evil label.
func told(t *testing.T) *Recorder {
	s := newStory(t)
	s.scaled()
	s.log(`"Work started" foo="default/<img src=x onerror=alert(1)>"`)
	return s.recorder
}

func TestPageAClickShowsCausesAndEffects(t *testing.T) {
	server, _ := startServer(t, told(t))
	tab := openBrowser(t)
	do(t, tab,
		chromedp.Navigate(server.URL()),
		becomes(`ordered.length >= 7 && document.title === 'Lens: 03-workqueue'`),
		script(`document.getElementById('list-work-03').open = true`),
		becomes(`document.querySelectorAll('#list-work-03 li').length === 2`),
		chromedp.Click(`#list-work-03 li:first-child button`),
		becomes(`lit.size === 6`), // the action, the object, the event, the key, the work and the request
	)
	selected := value(t, tab, chromedp.Text(`#selected`))
	for _, part := range []string{"default/web", "compares the actual state", "Caused by", "03 Queue: default/web", "Caused", "03 Requests: update deployments"} {
		if !strings.Contains(selected, part) {
			t.Errorf("the page says %q, want %q", selected, part)
		}
	}
	// Clicking a cause selects it, and clicking an empty spot of the canvas clears the selection.
	do(t, tab,
		chromedp.Click(`#selected li button`),
		becomes(`items.get(selected).lane === 'queue'`),
		chromedp.MouseClickXY(200, 90),
		becomes(`selected === 0 || drawn.length > 0`),
	)
}

// Text from a cluster stays text.
func TestPageNoTextOfAClusterIsHTML(t *testing.T) {
	server, _ := startServer(t, told(t))
	tab := openBrowser(t)
	do(t, tab,
		chromedp.Navigate(server.URL()),
		becomes(`ordered.length >= 7`),
		script(`for (const d of document.querySelectorAll('details')) d.open = true`),
		becomes(`document.querySelector('#list-work-03').textContent.includes('<img src=x')`),
	)
	if images := value(t, tab, chromedp.Evaluate[int](`select(ordered.findLast(i => i.lane === 'work').id); document.images.length`)); images != 0 {
		t.Errorf("the page has %d images", images)
	}
}

func TestPageButtonsAct(t *testing.T) {
	server, buttons := startServer(t, told(t))
	tab := openBrowser(t)
	do(t, tab,
		chromedp.Navigate(server.URL()),
		chromedp.WaitVisible(`[data-action="scale"]`),
		chromedp.Click(`[data-action="scale"]`),
		becomes(`document.getElementById('command').textContent === 'kubectl scale foo-1'`),
		chromedp.Click(`[data-action="create"]`),
		becomes(`document.getElementById('command').textContent === 'kubectl create '`),
		chromedp.Click(`[data-action="F4a"]`),
		becomes(`document.getElementById('command').textContent.startsWith('kubectl F4a')`),
	)
	for _, want := range []Action{{Action: "scale", Object: "foo-1"}, {Action: "create"}, {Action: "F4a"}} {
		if got := <-buttons.done; got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func TestPageTime(t *testing.T) {
	server, _ := startServer(t, told(t))
	tab := openBrowser(t)
	do(t, tab,
		chromedp.Navigate(server.URL()),
		becomes(`ordered.length >= 7`),
		chromedp.Click(`#pause`),
		becomes(`!live && document.getElementById('pause').textContent === 'Follow'`),
		script(`document.getElementById('scrub').value = 0; document.getElementById('scrub').dispatchEvent(new Event('input'))`),
		becomes(`playhead === ordered[0].at && drawn.length === 1`),
		chromedp.Click(`#forward`),
		becomes(`playhead > ordered[0].at && selected !== 0`),
		chromedp.Click(`#back`),
		becomes(`playhead === ordered[0].at`),
		chromedp.Click(`#pause`),
		becomes(`live`),
	)
}

func TestPagePredictHoldsTheNextStepBack(t *testing.T) {
	server, _ := startServer(t, told(t))
	tab := openBrowser(t)
	do(t, tab,
		chromedp.Navigate(server.URL()),
		becomes(`ordered.length >= 7`),
		chromedp.Click(`#predict`),
		chromedp.WaitVisible(`#guess`),
		script(`pause(true); playhead = ordered[0].at - 1`),
		chromedp.Click(`#guess button`),
		becomes(`document.getElementById('outcome').textContent === 'Type a guess first.'`),
		chromedp.SendKeys(`#guessed`, "it creates a Deployment\r"),
		becomes(`document.getElementById('outcome').textContent.startsWith('You guessed “it creates a Deployment”. It was: Reconcile, default/web')`),
		becomes(`items.get(selected).lane === 'work'`),
	)
}

// Another website can't press the buttons, even if it knows the address.
func TestPageAnotherPageCantPressTheButtons(t *testing.T) {
	server, buttons := startServer(t, told(t))
	tab := openBrowser(t)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<p>another page</p>") }))
	defer other.Close()
	do(t, tab,
		chromedp.Navigate(other.URL),
		script(fmt.Sprintf(`window.outcome = ''; fetch(%q, {method: 'POST', mode: 'no-cors', body: '{"action":"scale"}'}).then(r => { window.outcome = r.type }, e => { window.outcome = 'failed' })`, server.URL()+"do")),
		becomes(`window.outcome !== ''`),
	)
	outcome := value(t, tab, chromedp.Evaluate[string](`window.outcome`))
	select {
	case action := <-buttons.done:
		t.Errorf("the other page did %+v", action)
	default:
	}
	if outcome == "basic" || outcome == "cors" {
		t.Errorf("the other page could read the answer: %s", outcome)
	}
}

// Two tabs, a reload, and a server that goes away.
func TestPageTabsReloadsAndTheEnd(t *testing.T) {
	recorder := told(t)
	server, _ := startServer(t, recorder)
	tab := openBrowser(t)
	second, end := chromedp.NewContext(tab)
	defer end()
	for _, tab := range []context.Context{tab, second} {
		do(t, tab, chromedp.Navigate(server.URL()), becomes(`ordered.length >= 7`))
	}
	recorder.Add(Item{Lane: Actions, At: milliseconds(time.Now()), Label: "later"})
	for _, tab := range []context.Context{tab, second} {
		do(t, tab, becomes(`ordered.at(-1).label === 'later'`))
	}
	do(t, tab, chromedp.Reload(), becomes(`ordered.length >= 8 && ordered.at(-1).label === 'later'`))
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	do(t, tab, script(`pause(true)`), chromedp.Click(`[data-action="create"]`), becomes(`document.getElementById('command').textContent.startsWith('The server is gone')`))
}

// A recording in a file needs no server.
func TestPageAStandalonePage(t *testing.T) {
	batch, err := told(t).Since(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	if err := WriteHTML(&page, "a lecture", batch.Items); err != nil {
		t.Fatal(err)
	}
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, page.String()) }))
	defer plain.Close()
	tab := openBrowser(t)
	do(t, tab,
		chromedp.Navigate(plain.URL),
		becomes(`document.title === 'Lens: a lecture' && ordered.length >= 7 && drawn.length >= 7`),
		becomes(`document.getElementById('controls').hidden`),
	)
}

// How smooth is the page with as many items as it can have, while somebody drags the slider? Each
// frame draws the lanes again.
func BenchmarkFrames(b *testing.B) {
	recorder := NewRecorder(nil)
	lanes := []Lane{Others, Objects, Events, Cache, Queue, Work, Requests}
	began := time.Now().Add(-time.Minute)
	for i := range most {
		at := milliseconds(began.Add(time.Duration(i) * 6 * time.Millisecond))
		item := Item{Lane: lanes[i%len(lanes)], At: at, Until: at + 20, Label: fmt.Sprint("item ", i), Explain: "It happened.", Causes: []int{max(1, i-3)}}
		if i%len(lanes) > 1 {
			item.Program = "03"
		}
		recorder.Add(item)
	}
	server, _ := startServer(b, recorder)
	tab := openBrowser(b)
	do(b, tab, chromedp.Navigate(server.URL()), becomes(fmt.Sprintf(`ordered.length === %d`, most)))
	for b.Loop() {
		do(b, tab, script(`{ window.frames_ = 0; window.done_ = false; pause(true); const scrub = document.getElementById('scrub'), until = performance.now() + 3000;
			(function frame() { if (performance.now() < until) { window.frames_++; scrub.value = String(window.frames_ * 7 % 1000); scrub.dispatchEvent(new Event('input')); requestAnimationFrame(frame); } else { window.done_ = true; } })(); }`),
			becomes(`window.done_`))
		b.ReportMetric(value(b, tab, chromedp.Evaluate[float64](`window.frames_`))/3, "frames/s")
	}
}
