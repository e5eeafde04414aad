package program

// How a cluster calls the webhooks of a chapter's program on this machine.

import (
	"context"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/operator"
)

// The label of all webhook configurations from this file.
const webhooksLabel, webhooksLocal = "operators.example.com/webhooks", "local"

// DeleteWebhooks deletes the webhook configurations of all programs on this machine.
func DeleteWebhooks(ctx context.Context, k cluster.Kubectl) error {
	_, err := k.Run(ctx, "delete", "mutatingwebhookconfigurations,validatingwebhookconfigurations",
		"--selector", webhooksLabel+"="+webhooksLocal)
	return err
}

// PrepareWebhooks prepares the program's webhooks, with a certificate in dir. If its CRD has several
// versions, the API server calls the program for conversions from now on.
//
// The caller starts the program, waits for it by Await, and applies the configurations. Then the API
// server also calls the other webhooks, for objects in that namespace only, or in all of them if it
// is "". In the end, the caller deletes them: with failurePolicy Fail, they block all matching writes
// while no program answers.
func (p Program) PrepareWebhooks(ctx context.Context, k cluster.Kubectl, dir, namespace string) (
	local *operator.LocalWebhooks, configurations []byte, err error) {
	if local, err = operator.NewLocalWebhooks(dir); err != nil {
		return nil, nil, err
	}
	objects, err := local.Configurations(namespace, false, p.Webhooks)
	if err != nil {
		return nil, nil, err
	}
	for _, configuration := range objects {
		configuration.SetLabels(map[string]string{webhooksLabel: webhooksLocal})
	}
	if configurations, err = writeObjects(objects); err != nil {
		return nil, nil, err
	}
	crd, err := p.readCRD()
	if err != nil || !local.Convert(crd) {
		return local, configurations, err
	}
	conversion, err := crd.MarshalJSON()
	if err == nil {
		err = k.Apply(ctx, conversion)
	}
	return local, configurations, err
}
