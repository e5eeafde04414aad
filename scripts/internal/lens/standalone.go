package lens

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strings"
)

// WriteHTML writes a page that shows these items, and needs neither a server nor a network.
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
	data := fmt.Sprintf(`<script type="application/json" id="recording" data-title="%s">%s</script>`,
		html.EscapeString(title), recording)
	text := strings.NewReplacer(
		`<link rel="stylesheet" href="lens.css">`, "<style>\n"+read("lens.css")+"</style>",
		`<script src="lens.js" defer></script>`, "",
		"</body>", data+"\n<script>\n"+read("lens.js")+"</script>\n</body>",
	).Replace(read("index.html"))
	_, err = io.WriteString(w, text)
	return err
}
