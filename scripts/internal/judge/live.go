package judge

import (
	"errors"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/lens"
)

// showLive shows the operator and its samples in lens until the user presses Ctrl-C.
func showLive(command *cobra.Command, o Options) error {
	o.Record = true
	o.Checks = []Check{{Name: "lens", ofProgram: true, lasts: 24 * time.Hour, run: func(s *scenario) {
		s.start()
		for _, sample := range s.samples {
			s.create(s.renamed(sample, sample.GetName()))
		}
		operator := filepath.Base(s.binary)
		server, err := lens.Serve(s.page.Recorder, lens.Judged(operator))
		s.must(err)
		defer server.Close()
		command.Printf("Lens shows %s and its samples, which are in the namespace %s: %s\nPress Ctrl-C to stop it.\n",
			operator, s.namespace, server.URL())
		<-s.ctx.Done()
	}}}
	results, err := Run(command.Context(), o)
	if command.Context().Err() != nil {
		return nil // the user has pressed Ctrl-C
	}
	if err == nil {
		err = errors.New(results[0].Why)
	}
	return err
}
