// A start without permissions: the log says what is missing, and the program waits for it.

package main

import (
	"context"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"example.com/operators/07-tdset-operator/test/utils"
)

// The permissions may be applied later than a controller waits for its informers
// (CacheSyncTimeout). So makeInformers makes them before, and the manager waits for them without a
// limit.
func TestLatePermissions(t *testing.T) {
	log := utils.CaptureLog(t)
	_, api, namespace := newAPIServer(t)
	user, err := testEnv.AddUser(envtest.User{Name: "late"}, nil)
	must(t, err)
	o := optionsFor(namespace)
	o.HealthProbeBindAddress, o.Controller.CacheSyncTimeout = freeAddress(t), shortTimeout
	mapper, err := newMapper(user.Config())
	must(t, err)
	mgr, err := newManager(user.Config(), mapper, o)
	must(t, err)
	must(t, setUp(t.Context(), mgr, o))
	tdset := tdsetOf(namespace)
	must(t, api.Create(t.Context(), tdset))
	began, probe := time.Now(), managerReplica{probes: o.HealthProbeBindAddress}
	runManager(t, mgr)

	eventually(t, "the log names every missing permission", nil, func(context.Context) bool {
		for _, resource := range []string{"tdsets.schedule.rs", "deployments.apps", "services", "pods"} {
			if !strings.Contains(log.String(), resource+" is forbidden: ") {
				return false
			}
		}
		return time.Since(began) > 2*shortTimeout
	})
	if probe.isReady(t.Context()) {
		t.Error("the manager is ready before its caches are synced")
	}
	log.MustHave(t, "Waiting: are the permissions applied?")

	must(t, api.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "late"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "late"}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
	}))
	eventually(t, "the manager is ready", nil, probe.isReady)
	eventually(t, "the TDSet is reconciled", nil, func(ctx context.Context) bool {
		must(t, api.Get(ctx, client.ObjectKeyFromObject(tdset), tdset))
		return controllerutil.ContainsFinalizer(tdset, "schedule.rs/drain")
	})
}

// shortTimeout is how long a controller waits for its informers here.
const shortTimeout = time.Second
