package overview

// This file makes the table of an author's steps, in which each layer crosses out some.

import (
	"fmt"
	"regexp"
	"slices"

	"example.com/operators/scripts/internal/chapterdiff"
	"example.com/operators/scripts/internal/chapters"
)

// step is something that an operator needs. You do it in the chapters that have handwritten code for
// it. From chapter `from` on, `by` does it wherever you don't. Before that, nobody does.
type step struct {
	what     string
	code     evidence
	from, by string
}

// evidence is handwritten code: files with these paths, and in them, if it isn't "", a declaration.
type evidence struct {
	files       *regexp.Regexp
	declaration string
}

// steps are in the order in which a chapter's reader meets them.
var steps = []step{
	{"list all objects, page by page", evidence{regexp.MustCompile(`^wire/reflector\.go$`), "list"}, "02", "client-go's informers"},
	{"watch them, event by event", evidence{regexp.MustCompile(`^wire/reflector\.go$`), "watch"}, "02", "client-go's informers"},
	{"watch again after a failure, and wait longer each time", evidence{regexp.MustCompile(`^wire/reflector\.go$`), "Run"}, "02", "client-go's informers"},
	{"list again after `410 Gone`, and find out what was deleted", evidence{regexp.MustCompile(`^wire/reflector\.go$`), "replace"}, "02", "client-go's informers"},
	{"keep all objects in a cache", evidence{}, "02", "client-go's informers"},
	{"write deep copies of your types", evidence{}, "02", "a generator"},
	{"write a client for your kind", evidence{regexp.MustCompile(`^wire/client\.go$|^pkg/client/foos\.go$`), ""}, "04", "a generator, and from 05 on one client for all kinds"},
	{"register your types", evidence{regexp.MustCompile(`(^|/)(register|groupversion_info)\.go$`), ""}, "04", "a generator, but not in kubebuilder's layout"},
	{"merge your fields with those of others before each write", evidence{regexp.MustCompile(`^merge\.go$`), ""}, "04", "the API server: server-side apply"},
	{"create and start the watches, and wait for the caches", evidence{regexp.MustCompile(`^(reflectors|informers)\.go$`), ""}, "05", "controller-runtime's manager"},
	{"call a handler for each event", evidence{regexp.MustCompile(`^events\.go$`), ""}, "05", "controller-runtime: `For`, `Owns`, `Watches`"},
	{"queue keys, and retry them with a backoff", evidence{regexp.MustCompile(`^queue\.go$`), ""}, "05", "controller-runtime"},
	{"run workers, and let them finish on shutdown", evidence{regexp.MustCompile(`^queue\.go$`), "runWorkers"}, "05", "controller-runtime"},
	{"elect a leader", evidence{regexp.MustCompile(`^leader\.go$`), ""}, "05", "controller-runtime's manager"},
	{"publish metrics", evidence{}, "05", "controller-runtime's manager"},
	{"write the CRD", evidence{regexp.MustCompile(`^manifests/crd\.yaml$`), ""}, "06", "controller-gen, from markers"},
	{"write the role", evidence{regexp.MustCompile(`^manifests/rbac\.yaml$`), ""}, "06", "controller-gen, from markers"},
	{"write the Deployment that runs it", evidence{regexp.MustCompile(`^manifests/deployment\.yaml$`), ""}, "06", "kubebuilder, once: then the file is yours"},
	{"serve webhooks, and register them", evidence{}, "06", "controller-runtime and controller-gen"},
	{"make and renew certificates", evidence{}, "06", "cert-manager"},
	{"decide what the webhooks refuse", evidence{regexp.MustCompile(`^internal/webhook/.*_webhook\.go$`), ""}, "", ""},
	{"index the cache", evidence{regexp.MustCompile(`(^|/)index\.go$`), ""}, "", ""},
	{"define your types", evidence{regexp.MustCompile(`(^|_|/)types\.go$`), ""}, "", ""},
	{"find the objects that an event concerns", evidence{regexp.MustCompile(`(^|/)(events|foo_controller)\.go$`), "findFoosForDeployment"}, "", ""},
	{"compare and act", evidence{regexp.MustCompile(`(^|/)(reconcile|deployment)\.go$`), ""}, "", ""},
	{"compute the desired state and the status", evidence{regexp.MustCompile(`(^|/)desired\.go$`), ""}, "", ""},
}

// Steps has a row for each step, and a column for each Foo chapter below root. The last row counts
// your steps.
func Steps(root string) (string, error) {
	all, err := chapters.All(root)
	if err != nil {
		return "", err
	}
	all = slices.DeleteFunc(all, func(c chapters.Chapter) bool { return c.Kind() != chapters.Foo })
	rows, err := chapterdiff.Rows(all)
	if err != nil {
		return "", err
	}
	head, sums := []string{"step"}, []string{"**steps that you do**"}
	table := make([][]string, len(steps))
	for i, step := range steps {
		table[i] = []string{step.what}
	}
	for _, row := range rows {
		cells, yours, err := stepsIn(row)
		if err != nil {
			return "", err
		}
		for i, cell := range cells {
			table[i] = append(table[i], cell)
		}
		head, sums = append(head, row.Chapter.Number()), append(sums, fmt.Sprintf("**%d**", yours))
	}
	for i, step := range steps {
		table[i] = append(table[i], step.by)
	}
	table = slices.Insert(table, 0, append(head, "crossed out by"))
	return markdown(append(table, append(sums, ""))), nil
}

// stepsIn returns a cell for each step in a chapter: "you", crossed out, or a dash. And it counts
// your steps.
func stepsIn(row chapterdiff.Row) (cells []string, yours int, err error) {
	manifests, err := chapters.Files(row.Chapter.Dir, isManifest.MatchString)
	for _, step := range steps {
		switch {
		case step.code.in(row.Parts, manifests):
			cells = append(cells, "you")
			yours++
		case step.from != "" && row.Chapter.Number() >= step.from:
			cells = append(cells, "~~you~~")
		default:
			cells = append(cells, "–")
		}
	}
	return cells, yours, err
}

var isManifest = regexp.MustCompile(`^manifests/.*\.yaml$`)

// in reports whether a chapter has this code, among its Go code or its manifests.
func (e evidence) in(code []chapterdiff.Part, manifests []string) bool {
	if e.files == nil {
		return false
	}
	return slices.ContainsFunc(manifests, e.files.MatchString) || slices.ContainsFunc(code, func(p chapterdiff.Part) bool {
		return e.files.MatchString(p.File) && (e.declaration == "" || e.declaration == p.Declaration)
	})
}
