package checks

// The skeleton: chapters with the same operator have the same files, so that the diff between
// neighbours shows only the lesson.

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"example.com/operators/scripts/internal/chapters"
)

const (
	api     = "pkg/apis/samplecontroller/v1alpha1/"
	applied = "pkg/generated/applyconfiguration/samplecontroller/v1alpha1/"
	tdset   = "exercises/5-tdset/" // the same operator in each chapter

	scheduleAPI = "pkg/apis/schedule/v1/"
)

// parts are the files of the skeleton, and the chapters that have them. 01-03 means that the file
// is the same in these chapters, except for the chapter's own name.
var parts = []part{
	{"main.go", "01 02 03-04 05"},
	{"events.go", "01-02 03-04"},
	{"queue.go", "03-04"},
	{"leader.go", "03-04"},
	{"handle.go", "01-02"},
	{"informers.go", "02 03 04"},
	{"index.go", "02-04 05-06"},
	{"recorder.go", "03-04"},
	{"foo_controller.go", "05 06"},
	{"deployment.go", "05-06"},
	{"status.go", "05-06"},
	{"config.go", "01-04"},
	{"watcherrors.go", "02-04"},
	{"refusal.go", "01-04"},
	{"merge.go", "01-03"},
	{"reconcile.go", "01-04"},
	{"write.go", "01 02-03 04"},
	{"read.go", "01 02-03 04"},
	{"pkg/client/foos.go", "02-03"},
	{"desired.go", "01-03 04-06"},
	{api + "types.go", "01-03 04 05"},
	{api + "doc.go", "04 05"},
	{api + "zz_generated.deepcopy.go", "02-05"},
	{api + "zz_generated.register.go", "04-05"},
	{applied + "foo.go", "04"},
	{applied + "foospec.go", "04"},
	{applied + "foostatus.go", "04"},
	{"hack/openapi-schema.go", "04"},
	{"hack/verify-codegen.sh", "04-05"},
	{"manifests/crd.yaml", "01-06"},
	{"manifests/foo.yaml", "01-05"},
	{"manifests/rbac.yaml", "01 02 03 04 05"},
	{"cmd/serving.go", "06-07"},
	{"test/operatortest/operatortest.go", "01-07"},

	{tdset + "main.go", "01-02 03-04 05-06"}, // from 05 on with a flag set of its own
	{tdset + "types.go", "01-05"},
	{tdset + scheduleAPI + "types.go", "01-03 04 05"},
	{tdset + scheduleAPI + "register.go", "02-03"},
	{tdset + scheduleAPI + "doc.go", "04 05"},
	{tdset + scheduleAPI + "zz_generated.deepcopy.go", "02-05"},
	{tdset + "clock.go", "01-06"},
	{tdset + "schedule.go", "02-06"}, // in 01 it is what the learner writes
	{tdset + "reflectors.go", "01"},
	{tdset + "paths.go", "01"},
	{tdset + "informers.go", "02 03 04"},
	{tdset + "clients.go", "02 03"},
	{tdset + "manager.go", "05 06"},
	{tdset + "read.go", "01 02-03 04 05-06"},
	{tdset + "write.go", "01 02-03 04 05-06"},
	{tdset + "merge.go", "01-03"},
	{tdset + "handlers.go", "03-04"},
	{tdset + "queue.go", "04"},
	{tdset + "reconcile.go", "01-04"},
	{tdset + "tdset_controller.go", "06"},
	{tdset + "deployment.go", "01-06"},
	{tdset + "config.go", "01-04"},
	{tdset + "refusal.go", "01-06"},
	{tdset + "leader.go", "03-04"},
	{tdset + "recorder.go", "03-04 05-06"},
	{tdset + "desired.go", "01-03 04-06"},
	{tdset + "manifests/crd.yaml", "01-05"},
	{tdset + "manifests/namespace.yaml", "01-06"},
	{tdset + "manifests/tdset.yaml", "01-06"},
	{tdset + "manifests/rbac.yaml", "01 02 03 04 05-06"},
	{tdset + "manifests/deployment.yaml", "03 04 05 06"},
	{tdset + "Dockerfile", "03 04 05 06"},
}

// copied are the files that the exercise TDSet has if its chapter has them: the chapter's own, with
// other names.
var copied = []string{"config.go", "refusal.go", "leader.go", "recorder.go", "manifests/deployment.yaml"}

// forTDSets changes the names in a chapter's file to those in its exercise TDSet.
var forTDSets = strings.NewReplacer(
	"foo-controller", "tdset-controller", "foo-system", "tdset-system",
	"samplecontrollerv1alpha1.FooStatus", "TDSetStatus", "samplecontrollerv1alpha1.Foo", "TDSet",
	"a Foo", "a TDSet", "the Foo", "the TDSet", "old foo", "old tdset", "foo *", "tdset *", "foo.Status", "tdset.Status", "(foo,", "(tdset,",
	"reasonAvailable", "reasonAsScheduled",
)

type part struct{ path, chapters string }

// itsOwn matches lines in which a chapter may name itself: package clauses and imports.
var itsOwn = regexp.MustCompile(`(?m)^(package .*|\t(\w+ )?"example\.com/operators/.*")$`)

// withoutNames removes what may differ between files that should be the same.
func withoutNames(chapter chapters.Chapter, content string) string {
	return additions.Replace(itsOwn.ReplaceAllString(strings.ReplaceAll(content, chapter.Name, "CHAPTER"), ""))
}

// additions are the only differences that are allowed: chapter 02 locks, chapter 03 records Events,
// chapter 04 has a generated client and bypasses its cache, and before chapter 05, the text of a
// refusal is kept, because each status write enqueues the Foo.
var additions = strings.NewReplacer(
	"\t// Each informer has its own goroutine, and both could call this for the same Foo at once.\n\tc.working.Lock()\n\tdefer c.working.Unlock()\n", "",
	"\tc.recordEvent(foo, status)\n", "", "\tc.recordEvent(tdset, status)\n", "",
	"on client-go's informers and workqueue", "with a generated client and server-side apply",
	"client.NewForConfig(config)", "versioned.NewForConfig(config)",
	"client.Scheme", "scheme.Scheme",
	keepsFirstRefusal, "",
	"\tif apierrors.IsNotFound(err) {\n\t\tobserved, err = c.getDeploymentUncached(ctx, foo.Namespace, name)\n\t}\n", "",
	"\tif apierrors.IsNotFound(err) {\n\t\tobserved, err = c.getDeploymentUncached(ctx, tdset.Namespace, tdset.Name)\n\t}\n", "",
)

const keepsFirstRefusal = `		// A refusal's text may differ each time, for example because it says how much of a quota is
		// used. Keep the first text, so that a retry writes nothing.
		before := meta.FindStatusCondition(foo.Status.Conditions, conditionReady)
		if before != nil && before.Reason == ready.Reason && before.ObservedGeneration == foo.Generation {
			ready.Message = before.Message
		}
`

// skeleton: every part is in its chapters, and the same where it should be.
func skeleton(_ context.Context, r *repository) error {
	for _, part := range parts {
		if err := r.comparePart(part, ""); err != nil {
			return err
		}
	}
	// From chapter 04 on, desired.go builds another type of Deployment, but its second half, which
	// computes the status, is still chapter 01's.
	if err := r.comparePart(part{"desired.go", "01-06"}, "// controls reports whether"); err != nil {
		return err
	}
	// The experiment on stale reads, which 04 doesn't have.
	for _, file := range []string{"measure.go", "table.go", "wire.go"} {
		if err := r.comparePart(part{"stalereads/" + file, "03-05"}, "package main"); err != nil {
			return err
		}
	}
	for _, solved := range chapters.TDSets(r.chapters) {
		if err := r.compareCopies(solved); err != nil {
			return err
		}
	}
	return r.compareGiven()
}

// compareCopies compares the exercise TDSet's copies with the chapter's own files.
func (r *repository) compareCopies(chapter chapters.Chapter) error {
	for _, file := range copied {
		place := file
		if chapter.Number() >= "06" {
			place = cmp.Or(chapters.InProject[file], file)
		}
		own, err := r.read(chapter.Name, place)
		there, err2 := r.read(chapter.Name, tdset+file)
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		// The import of Foo's package leaves blank lines.
		want := strings.Fields(forTDSets.Replace(withoutNames(chapter, own)))
		if own != "" && !slices.Equal(strings.Fields(withoutNames(chapter, there)), want) {
			r.report("%s/%s: should be the same as the chapter's %s, except for names", chapter.Name, tdset+file, place)
		}
	}
	return nil
}

// comparePart compares a part in all chapters. With after, it compares only the text after that.
func (r *repository) comparePart(part part, after string) error {
	for group := range strings.FieldsSeq(part.chapters) {
		first, last, _ := strings.Cut(group, "-")
		model, modelIn := "", ""
		for _, chapter := range r.chapters {
			if chapter.Number() < first || chapter.Number() > cmp.Or(last, first) {
				continue
			}
			place := part.path
			if chapter.Number() >= "06" {
				place = cmp.Or(inTestdata[place], chapters.InProject[place], place)
			}
			content, err := r.read(chapter.Name, place)
			if err != nil {
				return err
			}
			_, same, _ := strings.Cut(content, after)
			same = withoutNames(chapter, same)
			switch {
			case content == "" && after == "":
				r.report("%s: has no %s, as chapters %s should", chapter.Name, place, part.chapters)
			case content == "":
			case modelIn == "":
				model, modelIn = same, chapter.Name
			case same != model:
				r.report("%s/%s: should be the same as in %s%s", chapter.Name, place, modelIn, strings.TrimSuffix(" after "+after, " after "))
			}
		}
	}
	return nil
}

// inTestdata is where chapter 06 keeps what the generated CRD is compared with.
var inTestdata = map[string]string{"manifests/crd.yaml": "api/v1alpha1/testdata/crd.yaml"}

// given are the files of an exercise TDSet with what learners wrote in an earlier chapter's.
var given = []struct{ chapter, file, earlier string }{
	{"02", "schedule.go", "01"},
	{"03", "handlers.go", "02"},
	{"04", "queue.go", "03"},
	{"06", "tdset_controller.go", "05"},
}

// compareGiven: a given file has the earlier solution's code. So the program does the same, whether
// learners paste their own code over it or not.
func (r *repository) compareGiven() error {
	names := map[string]string{}
	for _, chapter := range r.chapters {
		names[chapter.Number()] = chapter.Name
	}
	for _, g := range given {
		here, err := r.read(names[g.chapter], tdset+g.file)
		solution, err2 := r.read(names[g.earlier], tdset+"solution.go")
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		if !strings.Contains(solution, untilImports.ReplaceAllString(here, "")) {
			r.report("%s's %s: what it declares should be the same as in %s's %s", g.chapter, tdset+g.file, g.earlier, tdset+"solution.go")
		}
	}
	return nil
}

// untilImports matches a Go file's beginning, up to its imports.
var untilImports = regexp.MustCompile(`(?s)^.*?\nimport (\(.*?\n\)|"[^"]*")\n`)
