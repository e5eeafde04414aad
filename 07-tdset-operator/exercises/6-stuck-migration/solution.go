//go:build solution

// Package migration finishes a migration of TDSets from v1 to v2.
package migration

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// Diagnose returns what keeps v1 in the CRD, as far as it can be seen now. It only reads.
func Diagnose(ctx context.Context, c client.Client) (Cause, error) {
	crd, err := get(ctx, c)
	if err != nil {
		return "", err
	}
	if !slices.Contains(crd.Status.StoredVersions, "v1") {
		return Finished, nil
	}
	err = c.List(ctx, &schedulev2.TDSetList{})
	switch {
	case err == nil:
		return NotRewritten, nil
	case strings.Contains(err.Error(), "conversion webhook"):
		return NotConverted, nil
	}
	return "", fmt.Errorf("list TDSets: %w", err)
}

// Finish finishes the migration, and may be called again at any time. converter is where a conversion
// webhook answers.
//
// When it returns nil, no TDSet is stored in v1, the CRD says so in status.storedVersions, and v1 is
// no longer served. It stays in spec.versions, so that one field brings it back. All TDSets are the
// same as before, with everything that others have written meanwhile. Others may also delete one
// meanwhile, and that isn't a failure.
//
// At no moment does status.storedVersions leave out a version in which a TDSet is stored. If anything
// fails, Finish returns an error that says what it was doing and to which object, and leaves the
// rest of the work to the next call. It writes nothing that is already as it should be.
func Finish(ctx context.Context, c client.Client, converter apiextensionsv1.WebhookClientConfig) error {
	crd, err := get(ctx, c)
	if err != nil {
		return err
	}
	if slices.Contains(crd.Status.StoredVersions, "v1") {
		// 1. Somebody has to convert.
		if err := convert(ctx, c, crd, converter); err != nil {
			return err
		}
		// 2. Rewrite every TDSet. The API server stores it in v2.
		tdsets := &schedulev2.TDSetList{}
		if err := c.List(ctx, tdsets); err != nil {
			return fmt.Errorf("list TDSets: %w", err)
		}
		for _, tdset := range tdsets.Items {
			if err := rewrite(ctx, c, client.ObjectKeyFromObject(&tdset)); err != nil {
				return err
			}
		}
		// 3. Only now, nothing is stored in v1.
		crd.Status.StoredVersions = []string{"v2"}
		if err := c.Status().Update(ctx, crd); err != nil {
			return fmt.Errorf("remove v1 from the stored versions of CRD %s: %w", CRD, err)
		}
	}
	// 4. Nobody needs v1 any more.
	before := crd.DeepCopy()
	for i := range crd.Spec.Versions {
		crd.Spec.Versions[i].Served = crd.Spec.Versions[i].Name == "v2"
	}
	if reflect.DeepEqual(before, crd) {
		return nil
	}
	if err := c.Update(ctx, crd); err != nil {
		return fmt.Errorf("stop serving v1 in CRD %s: %w", CRD, err)
	}
	return nil
}

func get(ctx context.Context, c client.Client) (*apiextensionsv1.CustomResourceDefinition, error) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := c.Get(ctx, client.ObjectKey{Name: CRD}, crd); err != nil {
		return nil, fmt.Errorf("get CRD %s: %w", CRD, err)
	}
	return crd, nil
}

// convert makes the API server ask converter.
func convert(ctx context.Context, c client.Client, crd *apiextensionsv1.CustomResourceDefinition, converter apiextensionsv1.WebhookClientConfig) error {
	want := &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook:  &apiextensionsv1.WebhookConversion{ClientConfig: &converter, ConversionReviewVersions: []string{"v1"}},
	}
	if reflect.DeepEqual(crd.Spec.Conversion, want) {
		return nil
	}
	crd.Spec.Conversion = want
	if err := c.Update(ctx, crd); err != nil {
		return fmt.Errorf("set the conversion webhook of CRD %s: %w", CRD, err)
	}
	return nil
}

// rewrite writes a TDSet as it is. If somebody else has written it in between, it reads it again. If
// it is gone, there is nothing to rewrite.
func rewrite(ctx context.Context, c client.Client, key client.ObjectKey) error {
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		tdset := &schedulev2.TDSet{}
		if err := c.Get(ctx, key, tdset); err != nil {
			return err
		}
		return c.Update(ctx, tdset)
	})
	if err := client.IgnoreNotFound(err); err != nil {
		return fmt.Errorf("rewrite TDSet %s: %w", key, err)
	}
	return nil
}
