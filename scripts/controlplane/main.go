// Command controlplane is a whole cluster in one program: etcd, the Kubernetes API server, controller
// manager and scheduler, kwok, which simulates nodes, and the clients kubectl and etcdctl. It becomes
// the one that it is called as (its first argument, as in busybox), so that only one program has to be
// linked. Each process is still one of them. Called as "stages", it prints the YAML with which kwok
// makes nodes and Pods ready.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	_ "time/tzdata" // for the time zones of CronJobs

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.etcd.io/etcd/etcdctl/v3/ctlv3"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	nodes "sigs.k8s.io/kwok/kustomize/stage/node/fast"
	heartbeat "sigs.k8s.io/kwok/kustomize/stage/node/heartbeat"
	pods "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
	kwokconfig "sigs.k8s.io/kwok/pkg/config"
	kwok "sigs.k8s.io/kwok/pkg/kwok/cmd"
	kwoklog "sigs.k8s.io/kwok/pkg/log"
	"sigs.k8s.io/kwok/pkg/utils/signals"
)

func main() {
	switch component := filepath.Base(os.Args[0]); component {
	case "etcd":
		etcdmain.Main(os.Args)
	case "etcdctl":
		ctlv3.MustStart()
	case "kube-apiserver":
		runKubernetes(apiserver.NewAPIServerCommand())
	case "kube-controller-manager":
		runKubernetes(controllermanager.NewControllerManagerCommand())
	case "kube-scheduler":
		runKubernetes(scheduler.NewSchedulerCommand())
	case "kwok-controller":
		exitOn(runKwok())
	case "kubectl":
		if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
			kubectlutil.CheckErr(err) // exits with kubectl's own codes
		}
	case "stages":
		for _, stage := range []string{nodes.DefaultNodeInit, heartbeat.DefaultNodeHeartbeat, pods.DefaultPodReady, pods.DefaultPodComplete, pods.DefaultPodDelete} {
			fmt.Printf("---\n%s\n", stage)
		}
	default:
		exitOn(fmt.Errorf("%s is no part of a cluster", component))
	}
}

func runKubernetes(command *cobra.Command) { os.Exit(cli.Run(command)) }

// runKwok runs kwok as its own main does: the flags for logging and for the file of stages come
// before all others. cobra adds pflag's global flags, one of which, Kubernetes' --version, kwok has
// itself.
func runKwok() error {
	pflag.CommandLine = pflag.NewFlagSet("kwok", pflag.ContinueOnError)
	flags := pflag.NewFlagSet("kwok", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	ctx, _ := kwoklog.InitFlags(signals.SetupSignalContext(), flags)
	ctx, err := kwokconfig.InitFlags(ctx, flags)
	if err != nil {
		return err
	}
	command := kwok.NewCommand(ctx)
	command.PersistentFlags().AddFlagSet(flags)
	return command.ExecuteContext(ctx)
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}
