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
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
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

// apiServer has TDSets, and knows in which version each is stored.
type apiServer struct {
	client.Client
	inV1   map[string]bool // by name: whether it is stored in v1
	writes []string        // such as "update TDSet a"
	// before is called before each write of a TDSet. An error is the API server's answer.
	before func(name string) error
	// refusal is the answer to each list of TDSets, unless it is nil.
	refusal error
	// shortLived is a TDSet that somebody deletes right after the next list, unless it is "".
	shortLived string
	t          *testing.T
}

// newAPIServer has the TDSets a, b and c, stored in v1 as listed. v2 is stored now, and the webhook
// is gone.
func newAPIServer(t *testing.T, storedVersions []string, inV1 ...string) *apiServer {
	t.Helper()
	scheme := runtime.NewScheme()
	must(t, apiextensionsv1.AddToScheme(scheme))
	must(t, schedulev2.AddToScheme(scheme))
	s := &apiServer{inV1: map[string]bool{}, t: t, before: func(string) error { return nil }}
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
	for _, name := range []string{"a", "b", "c"} {
		s.inV1[name] = slices.Contains(inV1, name)
		objects = append(objects, tdset(name))
	}
	s.Client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(crd).
		WithInterceptorFuncs(interceptor.Funcs{
			Get: s.get, List: s.list, Create: s.create, Update: s.update, Patch: s.patch, Delete: s.delete, DeleteAllOf: s.deleteAll,
			SubResourceUpdate: s.updateStatus, SubResourcePatch: s.patchStatus,
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
	crd := s.crd()
	knowsV1 := slices.ContainsFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == "v1" })
	conversion := crd.Spec.Conversion
	switch {
	case !knowsV1:
		return corrupt(name, "request to convert CR from an invalid group/version: schedule.rs/v1")
	case conversion == nil || conversion.Strategy == apiextensionsv1.NoneConverter:
		s.t.Errorf("TDSet %s was read without a conversion webhook: the API server drops its windows, because v1 calls them schedulingConfig", name)
	case conversion.Webhook == nil || !reflect.DeepEqual(conversion.Webhook.ClientConfig, &working):
		return corrupt(name, `conversion webhook for schedule.rs/v1, Kind=TDSet failed: Post "https://127.0.0.1:9/convert?timeout=30s": dial tcp 127.0.0.1:9: connect: connection refused`)
	}
	return nil
}

// corrupt is what the API server calls an object that it can't decode, for whatever reason.
func corrupt(name, why string) error {
	return apierrors.NewInternalError(fmt.Errorf("StorageError: corrupt object, Code: 7, Key: /registry/schedule.rs/tdsets/shop/%s, "+
		"ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision=7: %s", name, why))
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
	if _, isCRDs := list.(*apiextensionsv1.CustomResourceDefinitionList); isCRDs {
		return c.List(ctx, list, options...)
	}
	if s.refusal != nil {
		return s.refusal
	}
	for _, name := range []string{"a", "b", "c"} {
		if err := s.readable(name); err != nil {
			return err
		}
	}
	if err := c.List(ctx, list, options...); err != nil || s.shortLived == "" {
		return err
	}
	must(s.t, c.Delete(ctx, tdset(s.shortLived)))
	s.inV1[s.shortLived], s.shortLived = false, ""
	return nil
}

func (s *apiServer) update(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
	return s.write(ctx, "update", object, func() error { return c.Update(ctx, object, options...) })
}

func (s *apiServer) patch(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	return s.write(ctx, "patch", object, func() error { return c.Patch(ctx, object, patch, options...) })
}

// write stores an object, in v2 if it is a TDSet.
func (s *apiServer) write(_ context.Context, verb string, object client.Object, do func() error) error {
	crd, isCRD := object.(*apiextensionsv1.CustomResourceDefinition)
	if isCRD {
		s.writes = append(s.writes, verb+" CRD")
		for i, stored := range s.crd().Status.StoredVersions {
			if verb == "update" && !slices.ContainsFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == stored }) {
				return apierrors.NewInvalid(schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}, CRD, field.ErrorList{
					field.Invalid(field.NewPath("status", "storedVersions").Index(i), stored, "missing from spec.versions"),
				})
			}
		}
		return do()
	}
	name := object.GetName()
	s.writes = append(s.writes, verb+" TDSet "+name)
	if err := s.readable(name); err != nil {
		return err
	}
	if err := s.before(name); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	s.inV1[name] = false
	return nil
}

func (s *apiServer) updateStatus(ctx context.Context, c client.Client, subresource string, object client.Object, options ...client.SubResourceUpdateOption) error {
	return s.writeStatus(subresource, object, func() error { return c.SubResource(subresource).Update(ctx, object, options...) })
}

func (s *apiServer) patchStatus(ctx context.Context, c client.Client, subresource string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
	return s.writeStatus(subresource, object, func() error { return c.SubResource(subresource).Patch(ctx, object, patch, options...) })
}

// writeStatus fails the test if the CRD says less than the truth.
func (s *apiServer) writeStatus(subresource string, object client.Object, do func() error) error {
	s.writes = append(s.writes, fmt.Sprintf("write %s of %s", subresource, object.GetName()))
	if err := do(); err != nil {
		return err
	}
	if slices.Contains(s.crd().Status.StoredVersions, "v1") {
		return nil
	}
	for _, name := range []string{"a", "b", "c"} {
		if s.inV1[name] {
			s.t.Errorf("status.storedVersions has no v1, but TDSet %s is stored in v1: once v1 is removed from the CRD, nobody can read it", name)
		}
	}
	return nil
}

func (s *apiServer) create(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.CreateOption) error {
	s.t.Errorf("%T %s was created: a new object has another UID, so its Deployment would be deleted as an orphan", object, object.GetName())
	return nil
}

func (s *apiServer) delete(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.DeleteOption) error {
	s.t.Errorf("%T %s was deleted: its Deployment would go with it", object, object.GetName())
	return nil
}

func (s *apiServer) deleteAll(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.DeleteAllOfOption) error {
	s.t.Errorf("all objects like %T were deleted", object)
	return nil
}
