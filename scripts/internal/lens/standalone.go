package lens

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"
)

// WriteHTML writes a page that shows a recording, and needs neither a server nor a network.
func WriteHTML(w io.Writer, title string, items []Item) error {
	read := func(name string) string {
		content, err := page.ReadFile("page/" + name)
		if err != nil {
			panic(err) // it is embedded
		}
		return string(content)
	}
	recording, err := json.Marshal(items) // which escapes <, so that no item can end the script
	if err != nil {
		return err
	}
	programs, err := json.Marshal(programsIn(items))
	if err != nil {
		return err
	}
	data := fmt.Sprintf(`<script type="application/json" id="recording" data-title="%s" data-programs="%s">%s</script>`, html.EscapeString(title), html.EscapeString(string(programs)), recording)
	text := strings.NewReplacer(
		`<link rel="stylesheet" href="lens.css">`, "<style>\n"+read("lens.css")+"</style>",
		`<script src="lens.js" defer></script>`, "",
		"</body>", data+"\n<script>\n"+read("lens.js")+"</script>\n</body>",
	).Replace(read("index.html"))
	_, err = io.WriteString(w, text)
	return err
}

// programsIn returns the names of the programs, sorted.
func programsIn(items []Item) []string {
	var names []string
	for _, item := range items {
		if item.Program != "" && !slices.Contains(names, item.Program) {
			names = append(names, item.Program)
		}
	}
	slices.Sort(names)
	return names
}

// Replay returns a Recorder with the items of a recording.
func Replay(items []Item) *Recorder {
	r := NewRecorder(nil)
	for _, item := range items {
		r.last = max(r.last, item.ID)
		r.store(item)
	}
	return r
}
