package lens

// The webhooks of a program, if it has any.

import (
	"context"
	"os"
	"path/filepath"

	"example.com/operators/scripts/internal/webhooks"
)

// serveWebhooks prepares the program's webhooks. The API server calls them for this namespace as
// soon as the program answers.
func (s *Session) serveWebhooks(ctx context.Context, r *running) error {
	if r.Built.Webhooks == "" || !s.CanCall {
		return nil
	}
	dir := filepath.Join(s.Dir, r.Name+".webhooks")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	local, err := webhooks.New(dir)
	if err != nil {
		return err
	}
	r.Flags = append(r.Flags, local.Flags()...)
	manifests, err := os.ReadFile(r.Built.Webhooks)
	if err != nil {
		return err
	}
	configurations, err := local.Configurations(manifests, r.namespace)
	if err != nil {
		return err
	}
	crd, err := os.ReadFile(r.Built.CRD)
	if err != nil {
		return err
	}
	conversion, err := local.Conversion(crd)
	if err != nil {
		return err
	}
	if conversion != nil {
		if err := s.Kubectl.Apply(ctx, conversion); err != nil {
			return err
		}
	}
	r.answers = func(ctx context.Context) error {
		if err := local.Await(ctx); err != nil {
			return err
		}
		return s.Kubectl.Apply(ctx, configurations)
	}
	return nil
}
