package room

// The page in Chromium or Chrome, if there is one.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// An update changes the cells that differ, and no others.
func TestPageInABrowser(t *testing.T) {
	server := open(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go server.Serve(ctx)
	take := func(report Report) {
		t.Helper()
		if err := server.room.take(report); err != nil {
			t.Fatal(err)
		}
	}
	allocator, end := chromedp.NewExecAllocator(t.Context(), append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox,
		chromedp.WSURLReadTimeout(2*time.Minute))...)
	defer end()
	tab, end := chromedp.NewContext(allocator)
	defer end()
	becomes := func(expression string) {
		t.Helper()
		if _, err := chromedp.Run(tab, chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingTimeout(time.Minute))); err != nil {
			t.Fatalf("%s: %v", expression, err)
		}
	}
	err := chromedp.Do(tab, chromedp.Navigate(server.URLs()[0].URL))
	switch {
	case errors.Is(err, exec.ErrNotFound) && os.Getenv("CI") == "":
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	becomes(`document.getElementById('state').textContent === '0 people'`)
	take(Report{Name: "Ben", Exercise: "01/1", Passing: 1, Tests: 2})
	becomes(`document.getElementById('state').textContent === '1 person'`)
	if err := chromedp.Do(tab, chromedp.Evaluate[chromedp.Void](`for (const cell of body.rows[0].cells) cell.wasThere = true`)); err != nil {
		t.Fatal(err)
	}
	take(Report{Name: "Ben", Exercise: "01/1", Passing: 2, Tests: 2, Passed: true})
	becomes(`body.rows[0].cells[2].textContent === '2 of 2 tests' && body.rows[0].cells[4].className === 'passed now'`)
	becomes(`[...body.rows[0].cells].filter(cell => !cell.wasThere).length === 2`)
	take(Report{Name: "Ana", Exercise: "02/1"})
	becomes(fmt.Sprintf(`[...body.querySelectorAll('th')].map(cell => cell.textContent).join() === %q`, "Ana,Ben"))
	stop()
	becomes(`document.getElementById('state').textContent.startsWith('This page has lost its connection')`)
}
