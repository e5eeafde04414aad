// Command preview prints what the TDSets in a file will want in a week, without a cluster:
//
//	go run ./07-tdset-operator/preview 07-tdset-operator/config/samples/schedule_v1_tdset.yaml
//	go run ./07-tdset-operator/preview -from 2026-03-26 tdset.yaml
//	kubectl get tdsets -A -o yaml | go run ./07-tdset-operator/preview -
//
// It shows the replicas by day and hour, with transitions and clock changes. It warns about what the
// author may not have meant, such as hours outside of all windows, and names the field if a TDSet is
// invalid. Other objects in the file are skipped.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
	"example.com/operators/07-tdset-operator/internal/schedule"
)

func main() {
	err := run(os.Args[1:], os.Stdin, os.Stdout, time.Now())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run is main with its surroundings passed in. The argument is a file, or - for stdin.
func run(args []string, stdin io.Reader, stdout io.Writer, now time.Time) error {
	var from time.Time
	flags := flag.NewFlagSet("preview", flag.ContinueOnError)
	flags.Func("from", "first `day` of the week (default: today, in each TDSet's zone)", func(value string) (err error) {
		if from, err = time.Parse(time.DateOnly, value); err != nil {
			return errors.New("write the day as 2026-01-01")
		}
		return nil
	})
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return err
	case flags.NArg() != 1:
		return errors.New("name one file with TDSets, or - for standard input")
	}
	file, text := flags.Arg(0), stdin
	if file == "-" {
		file = "standard input"
	} else {
		opened, err := os.Open(file)
		if err != nil {
			return err
		}
		defer opened.Close()
		text = opened
	}
	var failed []error
	for _, err := range printWeeks(stdout, text, from, now) {
		failed = append(failed, fmt.Errorf("%s: %w", file, err))
	}
	return errors.Join(failed...)
}

// printWeeks prints the weeks of the TDSets in a text, and returns why some aren't printed.
func printWeeks(out io.Writer, text io.Reader, from, now time.Time) (failed []error) {
	tdsets, failed := readTDSets(text)
	if len(tdsets) == 0 && len(failed) == 0 {
		return []error{errors.New("there is no TDSet in it")}
	}
	printed := false
	for _, tdset := range tdsets {
		name := nameOf(tdset)
		refused := schedule.Validate(&tdset.Spec, field.NewPath("spec"))
		for _, err := range refused {
			failed = append(failed, fmt.Errorf("%s: %w", name, err))
		}
		if len(refused) > 0 {
			continue
		}
		if printed {
			fmt.Fprintln(out)
		}
		if err := printWeek(out, tdset, from, now); err != nil {
			return append(failed, fmt.Errorf("%s: %w", name, err))
		}
		printed = true
	}
	return failed
}

// readTDSets returns the TDSets in a text, in v2 and with the CRD's defaults. The text is YAML or JSON: one
// document, several, or a List, as kubectl get prints it. Other objects are skipped. Unknown fields
// are errors, as they are for kubectl apply. Each error names its document, and TDSets without
// errors are returned all the same.
func readTDSets(text io.Reader) (found []*schedulev2.TDSet, failed []error) {
	documents := utilyaml.NewYAMLReader(bufio.NewReader(text))
	for number := 1; ; number++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return found, failed
		}
		if err != nil {
			return found, append(failed, err)
		}
		read, errs := readDocument(document)
		found, failed = append(found, read...), append(failed, within(fmt.Sprintf("document %d", number), errs)...)
	}
}

// readDocument returns the TDSets in one document: one, those of a List, or none.
func readDocument(document []byte) (found []*schedulev2.TDSet, failed []error) {
	var list struct {
		metav1.TypeMeta `json:",inline"`
		Items           []runtime.RawExtension `json:"items"`
	}
	if err := yaml.Unmarshal(document, &list); err != nil {
		return nil, []error{err}
	}
	kind := list.GroupVersionKind()
	tdset := &schedulev2.TDSet{}
	switch {
	case kind.Kind == "List" || kind.Kind == "TDSetList":
		for i, item := range list.Items {
			read, errs := readDocument(item.Raw)
			found, failed = append(found, read...), append(failed, within(fmt.Sprintf("items[%d]", i), errs)...)
		}
		return found, failed
	case kind.Kind != "TDSet" || kind.Group != schedulev2.GroupVersion.Group:
		return nil, nil
	case kind.Version == schedulev2.GroupVersion.Version:
		tdset.Spec = schedulev2.TDSetSpec{TimeZone: "UTC", DefaultReplicas: 1} // the CRD's defaults
		failed = decode(document, tdset, "windows", "name", "start", "end", "replicas")
	case kind.Version == schedulev1.GroupVersion.Version:
		old := &schedulev1.TDSet{Spec: schedulev1.TDSetSpec{TimeZone: "UTC", DefaultReplica: 1}}
		failed = decode(document, old, "schedulingConfig", "startTime", "endTime", "replica")
		if err := old.ConvertTo(tdset); err != nil {
			failed = append(failed, err)
		}
	default:
		return nil, []error{field.NotSupported(field.NewPath("apiVersion"), list.APIVersion,
			[]string{schedulev1.GroupVersion.String(), schedulev2.GroupVersion.String()})}
	}
	if len(failed) > 0 {
		return nil, within(nameOf(tdset), failed)
	}
	return []*schedulev2.TDSet{tdset}, nil
}

// within prefixes errors with their place.
func within(where string, errs []error) (all []error) {
	for _, err := range errs {
		all = append(all, fmt.Errorf("%s: %w", where, err))
	}
	return all
}

// decode reads a TDSet of any version. If there are errors, it has the fields that could be read.
// list is the version's name for the list of windows, each of which needs the other fields.
func decode(document []byte, tdset runtime.Object, list string, needed ...string) []error {
	scheme := runtime.NewScheme()
	if err := errors.Join(schedulev1.AddToScheme(scheme), schedulev2.AddToScheme(scheme)); err != nil {
		return []error{err}
	}
	strict := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, json.SerializerOptions{Yaml: true, Strict: true})
	if _, _, err := strict.Decode(document, nil, tdset); err != nil {
		if unknown, is := runtime.AsStrictDecodingError(err); is {
			return unknown.Errors()
		}
		return []error{err}
	}
	return missing(document, list, needed)
}

// missing returns the required fields that are missing, which would be zero in the Go type.
func missing(document []byte, list string, needed []string) (all []error) {
	var given struct {
		Spec map[string]any `json:"spec"`
	}
	path := field.NewPath("spec", list)
	if err := yaml.Unmarshal(document, &given); err != nil {
		return []error{err}
	}
	windows, isList := given.Spec[list].([]any)
	if !isList {
		return []error{field.Required(path, "")}
	}
	for i, window := range windows {
		for _, name := range needed {
			if fields, _ := window.(map[string]any); fields[name] == nil {
				all = append(all, field.Required(path.Index(i).Child(name), ""))
			}
		}
	}
	return all
}
