//go:build check || solution

// An API server as far as a migration needs one: controller-runtime's fake client, and what the real
// API server does with versions. It was compared with Kubernetes 1.37.

package migration

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// working is where a webhook answers, and gone is where none does any more.
var (
	working = apiextensionsv1.WebhookClientConfig{URL: new("https://127.0.0.1:9443/convert"), CABundle: []byte("ca")}
	gone    = apiextensionsv1.WebhookClientConfig{URL: new("https://127.0.0.1:9/convert"), CABundle: []byte("ca")}
)

// names are the names of the TDSets.
var names = []string{"a", "b", "c"}

// apiServer has TDSets, and knows in which version each is stored.
type apiServer struct {
	client.Client
	inV1   map[string]bool // by name: whether it is stored in v1
	writes []string        // such as "update a"
	// before is called before each write of a TDSet. An error is the API server's answer.
	before func(server client.Client, name string) error
	// refusal is the answer to each list of TDSets, unless it is nil.
	refusal error
	t       *testing.T
}

// newAPIServer has the TDSets a, b and c, stored in v1 as listed. v2 is stored now, and the webhook
// is gone.
func newAPIServer(t *testing.T, storedVersions []string, inV1 ...string) *apiServer {
	t.Helper()
	scheme := runtime.NewScheme()
	must(t, apiextensionsv1.AddToScheme(scheme))
	must(t, schedulev2.AddToScheme(scheme))
	s := &apiServer{inV1: map[string]bool{}, t: t, before: nothing}
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: CRD},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "schedule.rs",
			Conversion: &apiextensionsv1.CustomResourceConversion{
				Strategy: apiextensionsv1.WebhookConverter,
				Webhook:  &apiextensionsv1.WebhookConversion{ClientConfig: &gone, ConversionReviewVersions: []string{"v1"}},
			},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true}, {Name: "v2", Served: true, Storage: true}},
		},
		Status: apiextensionsv1.CustomResourceDefinitionStatus{StoredVersions: storedVersions},
	}
	objects := []client.Object{crd}
	for _, name := range names {
		s.inV1[name] = slices.Contains(inV1, name)
		objects = append(objects, tdset(name))
	}
	s.Client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(crd).
		WithInterceptorFuncs(interceptor.Funcs{
			Get: s.get, List: s.list, Create: s.create, Update: s.update, SubResourceUpdate: s.updateStatus,
		}).Build()
	return s
}

func tdset(name string) *schedulev2.TDSet {
	return &schedulev2.TDSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop", UID: types.UID("uid-of-" + name), Labels: map[string]string{"team": "blue"}},
		Spec: schedulev2.TDSetSpec{
			Container:       schedulev2.Container{Image: "example.com/app:1", Port: 8000},
			Windows:         []schedulev2.Window{{Name: "office", Start: "09:15", End: "17:45", Days: []schedulev2.Day{schedulev2.Monday}, Replicas: 5}},
			DefaultReplicas: 1,
		},
	}
}

// crd returns the CRD as it is stored.
func (s *apiServer) crd() *apiextensionsv1.CustomResourceDefinition {
	s.t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	must(s.t, s.Client.Get(context.Background(), client.ObjectKey{Name: CRD}, crd))
	return crd
}

// readable returns why a TDSet of that name can't be read, or nil.
func (s *apiServer) readable(name string) error {
	if !s.inV1[name] {
		return nil
	}
	conversion := s.crd().Spec.Conversion
	switch {
	case conversion == nil || conversion.Strategy == apiextensionsv1.NoneConverter:
		s.t.Errorf("TDSet %s was read without a conversion webhook: the API server drops its windows, because v1 calls them schedulingConfig", name)
	case conversion.Webhook == nil || !reflect.DeepEqual(conversion.Webhook.ClientConfig, &working):
		return apierrors.NewInternalError(fmt.Errorf("StorageError: corrupt object, Code: 7, Key: /registry/schedule.rs/tdsets/shop/%s, "+
			"ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision=7: conversion webhook for schedule.rs/v1, Kind=TDSet failed: "+
			`Post "https://127.0.0.1:9/convert?timeout=30s": dial tcp 127.0.0.1:9: connect: connection refused`, name))
	}
	return nil
}

func (s *apiServer) get(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if _, isCRD := object.(*apiextensionsv1.CustomResourceDefinition); !isCRD {
		if err := s.readable(key.Name); err != nil {
			return err
		}
	}
	return c.Get(ctx, key, object, options...)
}

func (s *apiServer) list(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
	if s.refusal != nil {
		return s.refusal
	}
	for _, name := range names {
		if err := s.readable(name); err != nil {
			return err
		}
	}
	return c.List(ctx, list, options...)
}

// update stores an object, in v2 if it is a TDSet.
func (s *apiServer) update(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
	name := object.GetName()
	s.writes = append(s.writes, "update "+name)
	if _, isCRD := object.(*apiextensionsv1.CustomResourceDefinition); isCRD {
		return c.Update(ctx, object, options...)
	}
	if err := s.readable(name); err != nil {
		return err
	}
	if err := s.before(c, name); err != nil {
		return err
	}
	err := c.Update(ctx, object, options...)
	s.inV1[name] = s.inV1[name] && err != nil
	return err
}

// updateStatus fails the test if the CRD says less than the truth.
func (s *apiServer) updateStatus(ctx context.Context, c client.Client, subresource string, object client.Object, options ...client.SubResourceUpdateOption) error {
	s.writes = append(s.writes, "update the status of "+object.GetName())
	err := c.SubResource(subresource).Update(ctx, object, options...)
	for _, name := range names {
		if s.inV1[name] && !slices.Contains(s.crd().Status.StoredVersions, "v1") {
			s.t.Errorf("status.storedVersions has no v1, but TDSet %s is stored in v1: once v1 is removed from the CRD, nobody can read it", name)
		}
	}
	return err
}

func (s *apiServer) create(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.CreateOption) error {
	s.t.Errorf("%T %s was created: a new object has another UID, so its Deployment would be deleted as an orphan", object, object.GetName())
	return nil
}
