package lens

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// WriteHTML writes a page that shows these items, and needs neither a server nor a network. Of
// controls, it uses Title, Programs, Look and Actor.
func WriteHTML(w io.Writer, controls Controls, items []Item) error {
	read := func(name string) string {
		content, err := page.ReadFile("page/" + name)
		if err != nil {
			panic(err) // it is embedded
		}
		return string(content)
	}
	controls.Buttons, controls.Objects, controls.Replay = []Button{}, []string{}, true
	// Marshal escapes <, so that no item can end the script.
	recording, err := json.Marshal(map[string]any{"controls": controls, "items": items})
	if err != nil {
		return err
	}
	data := fmt.Sprintf(`<script type="application/json" id="recording">%s</script>`, recording)
	text := strings.NewReplacer(
		`<link rel="stylesheet" href="lens.css">`, "<style>\n"+read("lens.css")+"</style>",
		`<script src="lens.js" defer></script>`, "",
		"</body>", data+"\n<script>\n"+read("lens.js")+"</script>\n</body>",
	).Replace(read("index.html"))
	_, err = io.WriteString(w, text)
	return err
}
