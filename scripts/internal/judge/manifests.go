package judge

// The manifests of judge.yaml, and what the API calls the kinds in it.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"example.com/operators/scripts/internal/operator"
	"example.com/operators/scripts/internal/problem"
)

const crdKind = "CustomResourceDefinition"

// apply applies files, in another namespace than theirs unless that is "", and waits until their CRDs
// can be used. If there are webhooks, the operator converts between the versions of the CRDs.
func (j *judge) apply(ctx context.Context, namespace string, files ...string) error {
	for _, file := range files {
		objects, err := operator.ReadObjects(file)
		for _, object := range objects {
			if namespace != "" {
				object.SetNamespace(namespace)
			}
			if j.webhooks != nil && object.GetKind() == crdKind && j.webhooks.Convert(object) {
				j.crds = append(j.crds, object)
			}
			if strings.HasSuffix(object.GetKind(), "WebhookConfiguration") {
				err = problem.New("%s would stay in the cluster", title(object)).ToDo("list its file in webhooks instead")
			}
			if err == nil {
				err = j.applyObject(ctx, object)
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

// applyAsGiven applies the manifests again, without the judge's conversion webhooks.
func (j *judge) applyAsGiven(ctx context.Context) error {
	j.webhooks = nil
	return j.apply(ctx, "", j.config.Manifests...)
}

// learnKinds finds out what the API calls the kinds of the samples and of the objects that they own.
func (j *judge) learnKinds() error {
	learn := func(kind schema.GroupVersionKind, known *[]schema.GroupVersionResource) error {
		mapping, err := j.mappingOf(kind)
		if err != nil {
			return err
		}
		if len(j.ofSamples) == 0 {
			j.isClusterScoped = !hasNamespace(mapping)
		}
		if !j.isClusterScoped && !hasNamespace(mapping) {
			return problem.New("%s has no namespace, but %s has", kind.Kind, j.samples[0].GetKind()).
				ToDo("leave it out: the judge looks at objects in the sample's namespace only")
		}
		if !slices.Contains(*known, mapping.Resource) {
			*known = append(*known, mapping.Resource)
		}
		return nil
	}
	var errs []error
	for _, sample := range j.samples {
		errs = append(errs, learn(sample.GroupVersionKind(), &j.ofSamples))
	}
	for _, kind := range j.config.Owns {
		errs = append(errs, learn(kind.gvk(), &j.ofOwned))
	}
	return errors.Join(errs...)
}

// hasNamespace reports whether an object of that kind is in a namespace.
func hasNamespace(mapping *meta.RESTMapping) bool {
	return mapping.Scope.Name() == meta.RESTScopeNameNamespace
}

// mappingOf returns what the API calls a kind.
func (j *judge) mappingOf(kind schema.GroupVersionKind) (*meta.RESTMapping, error) {
	mapping, err := j.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, problem.New("the cluster doesn't know the kind %s", kind).
			ToDo("check its apiVersion and kind, or add its CRD to manifests").Because(err)
	}
	return mapping, nil
}

func (j *judge) applyObject(ctx context.Context, object *unstructured.Unstructured) error {
	mapping, err := j.mappingOf(object.GroupVersionKind())
	if err != nil {
		return err
	}
	api := dynamic.ResourceInterface(j.dynamic.Resource(mapping.Resource))
	if hasNamespace(mapping) {
		api = j.dynamic.Resource(mapping.Resource).Namespace(cmp.Or(object.GetNamespace(), metav1.NamespaceDefault))
	}
	_, err = api.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: manager, Force: true})
	if err != nil || object.GetKind() != crdKind {
		return err
	}
	return j.awaitCRD(ctx, object)
}

// awaitCRD waits until objects of the kind can be listed. The condition Established isn't enough,
// because for some moments more, requests may be answered 404 or 429.
func (j *judge) awaitCRD(ctx context.Context, crd *unstructured.Unstructured) error {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	var last error
	isListed := func(ctx context.Context) (bool, error) {
		j.mapper.Reset()
		var mapping *meta.RESTMapping
		if mapping, last = j.mapper.RESTMapping(schema.GroupKind{Group: group, Kind: kind}); last == nil {
			_, last = j.dynamic.Resource(mapping.Resource).List(ctx, metav1.ListOptions{Limit: 1})
		}
		return last == nil, nil
	}
	if err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, time.Minute, true, isListed); err != nil {
		return fmt.Errorf("the CRD %s can't be used: %w", crd.GetName(), last)
	}
	return nil
}
