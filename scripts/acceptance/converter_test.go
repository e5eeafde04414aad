package acceptance

// The conversion of TDSets between versions. On every real cluster, somebody converts. The garbage
// collector may need that, too: it looks for new versions every 30 seconds only, and until then it
// writes TDSets in the version that it knows. So while these tests run, a program converts that
// does nothing else.

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"example.com/operators/scripts/internal/operator"
	"example.com/operators/scripts/internal/program"
)

// converter is that program, once it is needed.
type converter struct {
	*operator.LocalWebhooks
	program *operator.Process
	dir     string
}

var theConverter *converter

func TestMain(m *testing.M) {
	code := m.Run()
	if c := theConverter; c != nil {
		c.program.Stop()
		if err := os.RemoveAll(c.dir); err != nil {
			panic(err)
		}
	}
	os.Exit(code)
}

// convert makes the API server ask a program for conversions, if the program's CRD has several
// versions.
func (e *environment) convert(ctx context.Context, p program.Program) error {
	stored, err := p.StoredVersion()
	if err != nil || stored != "v2" || !callsLoopback() { // only TDSets have a v2
		return err
	}
	crds, err := operator.ReadObjects(p.CRD)
	if err != nil {
		return err
	}
	if theConverter == nil {
		if theConverter, err = e.startConverter(p); err != nil {
			return err
		}
	}
	if !theConverter.Convert(crds[0]) {
		return nil
	}
	conversion, err := crds[0].MarshalJSON()
	return errors.Join(err, theConverter.Await(ctx), e.kubectl.Apply(ctx, conversion))
}

func (e *environment) startConverter(p program.Program) (*converter, error) {
	dir, err := os.MkdirTemp("", "converter-")
	if err != nil {
		return nil, err
	}
	local, err := operator.NewLocalWebhooks(dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	args := append([]string{"--kubeconfig", os.Getenv("TEST_KUBECONFIG"), "--namespace", "nobody"}, local.Flags()...)
	running, err := operator.StartProcess(operator.Options{Binary: filepath.Join(e.programs, p.Name), Args: args})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &converter{local, running, dir}, nil
}
