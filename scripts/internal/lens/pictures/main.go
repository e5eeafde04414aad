// Pictures saves a light and a dark picture of the page of `workshop lens`, for the chapters. It isn't
// a flag of lens because everybody would then compile the library that controls a browser.
package main

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("Usage: go run ./scripts/internal/lens/pictures ADDRESS FOLDER")
	}
	if err := takePictures(context.Background(), os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

// takePictures waits until the page at that address shows the end of a look, and then saves it as
// lens-light.png and lens-dark.png in a folder.
func takePictures(ctx context.Context, address, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute) // a look takes up to a minute
	defer cancel()
	browser, end := chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.WindowSize(1100, 900))...)
	defer end()
	tab, end := chromedp.NewContext(browser)
	defer end()
	if err := chromedp.Do(tab, chromedp.Navigate(address), chromedp.Poll[chromedp.Void](`looked && lit.size > 0`, chromedp.WithPollingTimeout(0))); err != nil {
		return fmt.Errorf("open the page: %w", err)
	}
	for _, theme := range []string{"light", "dark"} {
		if err := chromedp.Do(tab, prefers(theme), chromedp.Sleep(time.Second)); err != nil {
			return fmt.Errorf("show the page in %s: %w", theme, err)
		}
		picture, err := chromedp.Run(tab, chromedp.Screenshot("#view"))
		if err != nil {
			return fmt.Errorf("take a picture: %w", err)
		}
		small, err := fewerColours(picture)
		if err != nil {
			return fmt.Errorf("take a picture: %w", err)
		}
		if err := os.WriteFile(filepath.Join(dir, "lens-"+theme+".png"), small, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// prefers makes the browser report that its user prefers light or dark pages.
func prefers(theme string) chromedp.Action[chromedp.Void] {
	params := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}}
	return chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, emulation.SetEmulatedMedia, params)
		return err
	})
}

// fewerColours makes a PNG several times smaller. A picture of text and bars looks the same with
// only 64 levels of red, green and blue, and at most 256 colours.
func fewerColours(picture []byte) ([]byte, error) {
	full, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return nil, err
	}
	count := map[color.RGBA]int{}
	level := func(c uint32) uint8 { return uint8(c>>10) << 2 }
	at := func(x, y int) color.RGBA {
		r, g, b, _ := full.At(x, y).RGBA()
		return color.RGBA{level(r), level(g), level(b), 255}
	}
	bounds := full.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			count[at(x, y)]++
		}
	}
	colours := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int { return count[b] - count[a] })
	var kept color.Palette
	for _, colour := range colours[:min(len(colours), 256)] {
		kept = append(kept, colour)
	}
	small := image.NewPaletted(bounds, kept)
	draw.Draw(small, bounds, full, bounds.Min, draw.Src) // each pixel gets the closest colour
	var out bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, small)
	return out.Bytes(), err
}
