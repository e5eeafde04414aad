package lens

// The page in a real browser: Chromium or Chrome, if there is one. The names of these tests begin with
// TestPage, so that they can be left out.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
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
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.WindowSize(1100, 900),
		chromedp.WSURLReadTimeout(2*time.Minute))
	allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
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
func told() *Recorder {
	s := newStory()
	s.scaled()
	s.log(`"Work started" foo="default/<img src=x onerror=alert(1)>"`)
	return s.Recorder
}

func TestPageAClickShowsCausesAndEffects(t *testing.T) {
	server, _ := startServer(t, told())
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
	for _, part := range []string{
		"default/web", "compares the actual state", "Caused by", "03 Queue: default/web", "03 Requests: update deployments",
	} {
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
	server, _ := startServer(t, told())
	tab := openBrowser(t)
	do(t, tab,
		chromedp.Navigate(server.URL()),
		becomes(`ordered.length >= 7`),
		script(`for (const d of document.querySelectorAll('details')) d.open = true`),
		becomes(`document.querySelector('#list-work-03').textContent.includes('<img src=x')`),
	)
	selected := chromedp.Evaluate[int](`select(ordered.findLast(i => i.lane === 'work').id); document.images.length`)
	if images := value(t, tab, selected); images != 0 {
		t.Errorf("the page has %d images", images)
	}
}

func TestPageButtonsAct(t *testing.T) {
	server, buttons := startServer(t, told())
	tab := openBrowser(t)
	do(t, tab,
		chromedp.Navigate(server.URL()),
		chromedp.WaitVisible(`[data-action="scale"]`),
		chromedp.Click(`[data-action="scale"]`),
		chromedp.Click(`[data-action="create"]`),
		chromedp.Click(`[data-action="F4a"]`),
		becomes(`document.querySelector('#next').textContent.includes('Press Scale')`), // what to do next
		chromedp.Click(`#next button`),
		becomes(`document.querySelector('#next').hidden`),
	)
	for _, want := range []Action{{Action: "scale", Object: "foo-1"}, {Action: "create"}, {Action: "F4a"}} {
		if got := <-buttons.done; got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

// An action's effects fill the window once they are there, and Live returns to the present.
func TestPageZoomsToWhatAnActionHasCaused(t *testing.T) {
	server, _ := startServer(t, &Recorder{})
	story := newStory()
	story.Recorder = server.recorder
	tab := openBrowser(t)
	do(t, tab,
		chromedp.Navigate(server.URL()),
		chromedp.WaitVisible(`[data-action="scale"]`),
		chromedp.Click(`[data-action="scale"]`),
	)
	story.now = time.Now()
	story.scaled()
	do(t, tab,
		becomes(`!live && $('fit').selected && span() < 1000 && lit.size === 6 && items.get(selected).lane === 'actions'`),
		becomes(`$('status').textContent.includes('after “Scale web”')`),
		chromedp.Click(`#pause`),
		becomes(`live && span() === 10000`),
	)
}

// In a small window, the lanes and the panel scroll between the time and the buttons.
func TestPageNothingIsCovered(t *testing.T) {
	server, _ := startServer(t, told())
	tab := openBrowser(t)
	size := emulation.SetDeviceMetricsOverrideParams{Width: 1024, Height: 700, DeviceScaleFactor: 1}
	resize := chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, emulation.SetDeviceMetricsOverride, size)
		return err
	})
	do(t, tab,
		resize,
		chromedp.Navigate(server.URL()),
		becomes(`ordered.length >= 7`),
		script(`show({ ...controls, programs: ['03', '05'] })`),
		script(`select(ordered.at(-1).id)`),
		becomes(`document.querySelector('main').getBoundingClientRect().bottom <= $('controls').offsetTop &&
			document.documentElement.scrollHeight === 700`),
	)
}

func TestPageTime(t *testing.T) {
	server, _ := startServer(t, told())
	tab := openBrowser(t)
	do(t, tab,
		chromedp.Navigate(server.URL()),
		becomes(`ordered.length >= 7`),
		chromedp.Click(`#pause`),
		becomes(`!live && document.getElementById('pause').textContent === 'Live →'`),
		// In one script, because a frame in between would set the slider to the playhead again.
		script(`$('scrub').value = 0; $('scrub').dispatchEvent(new Event('input'))`),
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
	server, _ := startServer(t, told())
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
		becomes(`document.getElementById('outcome').textContent.includes('a Deployment”. It was: Reconcile')`),
		becomes(`items.get(selected).lane === 'work'`),
	)
}

// A change shows up at once, and the page says when the server is gone.
func TestPageFollowsTheServer(t *testing.T) {
	recorder := told()
	server, _ := startServer(t, recorder)
	tab := openBrowser(t)
	do(t, tab, chromedp.Navigate(server.URL()), becomes(`ordered.length >= 7`))
	recorder.Add(Item{Lane: Actions, At: milliseconds(time.Now()), Label: "later"})
	do(t, tab, becomes(`ordered.at(-1).label === 'later'`))
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	do(t, tab,
		script(`pause(true)`),
		chromedp.Click(`[data-action="create"]`),
		becomes(`document.getElementById('problem').textContent.startsWith('The server is gone')`),
	)
}

// A page in a file needs no server.
func TestPageAStandalonePage(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "lens.html"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(WriteHTML(file, Controls{Title: "a lecture", Programs: []string{"03"}}, told().All()), file.Close()); err != nil {
		t.Fatal(err)
	}
	tab := openBrowser(t)
	do(t, tab,
		chromedp.Navigate("file://"+file.Name()),
		becomes(`document.title === 'Lens: a lecture' && ordered.length >= 7 && drawn.length >= 7`),
		becomes(`document.getElementById('controls').hidden`),
	)
}

// TestPagePictures takes the pictures of the chapters. It needs LENS, the address of a page that
// plays a look, and PICTURES, the folder for lens-light.png and lens-dark.png.
func TestPagePictures(t *testing.T) {
	address, dir := os.Getenv("LENS"), os.Getenv("PICTURES")
	if address == "" {
		t.Skip("needs LENS and PICTURES: see docs/lens.md")
	}
	tab := openBrowser(t)
	ended := chromedp.Poll[chromedp.Void](`looked && lit.size > 0`, chromedp.WithPollingTimeout(0)) // it takes a minute
	do(t, tab, chromedp.Navigate(address), ended, script(`document.body.style.height = 'auto';
		document.querySelector('aside').style.maxHeight = '480px';
		for (const id of ['controls', 'lists']) $(id).style.display = 'none'`))
	for _, theme := range []string{"light", "dark"} {
		media := emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}},
		}
		prefer := chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
			_, err := cdp.Call(ctx, tab, emulation.SetEmulatedMedia, media)
			return err
		})
		do(t, tab, prefer, chromedp.Sleep(time.Second))
		picture := value(t, tab, chromedp.Screenshot("#view"))
		if err := os.WriteFile(filepath.Join(dir, "lens-"+theme+".png"), picture, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
