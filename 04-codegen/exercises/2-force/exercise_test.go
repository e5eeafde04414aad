//go:build check || solution

// The tests of SyncDeployment: which requests it sends, and which Deployment exists afterwards. The
// server is client-go's fake clientset, which merges applies and records field owners. It ignores a
// UID in an apply, so newServer adds that check. Each test fills the cache by hand.
//
// As given, SyncDeployment looks only into the cache. `workshop test` checks these failures:
//
// fails: TestSyncDeployment/in the cache, and up to date
// says: SyncDeployment sent [apply, forced], want nothing
//
// fails: TestSyncDeployment/in the cache, and scaled by hand
// says: SyncDeployment sent [apply, forced], want [apply, forced, if it is "uid of web"]
//
// fails: TestSyncDeployment/in the cache and scaled by hand, but deleted in the meantime
// says: afterwards, the server has 3 × nginx:latest of this Foo, want none
//
// fails: TestSyncDeployment/in the cache and scaled by hand, but replaced by somebody else's in the meantime
// says: afterwards, the server has 3 × nginx:latest of this Foo, want 1 × nginx:1.0 of nobody
//
// fails: TestSyncDeployment/not in the cache, nor on the server
// says: SyncDeployment sent [apply, forced], want [get; apply]
//
// fails: TestSyncDeployment/only on the server: this Foo's, and up to date
// says: SyncDeployment sent [apply, forced], want [get]
//
// fails: TestSyncDeployment/only on the server: this Foo's, and scaled by hand
// says: SyncDeployment sent [apply, forced], want [get; apply, forced, if it is "uid of web"]
//
// fails: TestSyncDeployment/only on the server: nobody's
// says: afterwards, the server has 3 × nginx:latest of this Foo, want 1 × nginx:1.0 of nobody
//
// fails: TestSyncDeployment/only on the server: nobody's, but with our values
// says: afterwards, the server has 3 × nginx:latest of this Foo, want 3 × nginx:latest of nobody
//
// fails: TestSyncDeployment/only on the server: being deleted
// says: SyncDeployment sent [apply, forced], want [get]
//
// fails: TestSyncDeployment/not in the cache, nor on the server until somebody creates it right before the apply
// says: afterwards, the server has 3 × nginx:latest of this Foo, want 1 × nginx:1.0 of nobody
//
// fails: TestSyncDeployment/not in the cache, and the GET fails
// says: SyncDeployment sent [apply, forced], want [get]

package force

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/fake"
	appslisters "k8s.io/client-go/listers/apps/v1"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	samplecontrollerv1alpha1 "example.com/operators/04-codegen/pkg/apis/samplecontroller/v1alpha1"
)

// foo asks for three replicas.
var foo = &samplecontrollerv1alpha1.Foo{
	ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "example", UID: "uid of example"},
	Spec:       samplecontrollerv1alpha1.FooSpec{DeploymentName: "web", Replicas: new(int32(3))},
}

// The requests, as these tests write them.
const (
	get         = "get"
	apply       = "apply"
	applyForced = `apply, forced, if it is "uid of web"`
)

// scenario is one call of SyncDeployment.
type scenario struct {
	cached    *appsv1.Deployment // the Deployment in the cache, if any
	onServer  *appsv1.Deployment // the Deployment on the server, if any
	meanwhile *appsv1.Deployment // created by someone else right before our apply arrives
	getErr    error              // the server's answer to a GET, if that fails
	sends     []string
	after     string // the Deployment on the server afterwards
	fails     bool   // SyncDeployment returns an error
	why       string
}

func TestSyncDeployment(t *testing.T) {
	for sentence, test := range map[string]scenario{
		"in the cache, and up to date": {
			cached:   deployment(),
			onServer: deployment(),
			after:    "3 × nginx:latest of this Foo",
			why:      "an apply that changes nothing is still a request: one for each Foo, each time it is processed",
		},
		"in the cache, and scaled by hand": {
			cached:   deployment(scaledTo(1)),
			onServer: deployment(scaledTo(1)),
			sends:    []string{applyForced},
			after:    "3 × nginx:latest of this Foo",
			why:      "somebody else owns replicas now, so without force, they would win. And the UID says which Deployment is meant",
		},
		"in the cache, and somebody else's": {
			cached:   deployment(scaledTo(1), controlledBy("uid of somebody")),
			onServer: deployment(scaledTo(1), controlledBy("uid of somebody")),
			after:    "1 × nginx:latest of uid of somebody",
		},
		"in the cache, and an earlier Foo's of the same name": {
			cached:   deployment(scaledTo(1), controlledBy("uid of the first example")),
			onServer: deployment(scaledTo(1), controlledBy("uid of the first example")),
			after:    "1 × nginx:latest of uid of the first example",
		},
		"in the cache, and being deleted": {
			cached:   deployment(scaledTo(1), terminating),
			onServer: deployment(scaledTo(1), terminating),
			after:    "1 × nginx:latest of this Foo",
			why:      "it will be gone soon, and its last event enqueues the Foo",
		},
		"in the cache and scaled by hand, but deleted in the meantime": {
			cached: deployment(scaledTo(1)),
			sends:  []string{applyForced},
			after:  "none",
			fails:  true,
			why:    "this apply is an update: it must not create a Deployment",
		},
		"in the cache and scaled by hand, but replaced by somebody else's in the meantime": {
			cached:   deployment(scaledTo(1)),
			onServer: deployment(theirs),
			sends:    []string{applyForced},
			after:    "1 × nginx:1.0 of nobody",
			fails:    true,
			why:      "it has the same name, but it is another Deployment",
		},

		"not in the cache, nor on the server": {
			sends: []string{get, apply},
			after: "3 × nginx:latest of this Foo",
			why:   "a create needs no force: it would only take over a Deployment that somebody creates in between",
		},
		"only on the server: this Foo's, and up to date": {
			onServer: deployment(),
			sends:    []string{get},
			after:    "3 × nginx:latest of this Foo",
			why:      "the cache will have it in a moment",
		},
		"only on the server: this Foo's, and scaled by hand": {
			onServer: deployment(scaledTo(1)),
			sends:    []string{get, applyForced},
			after:    "3 × nginx:latest of this Foo",
			why:      "the server's answer is as good as the cache's",
		},
		"only on the server: nobody's": {
			onServer: deployment(theirs),
			sends:    []string{get},
			after:    "1 × nginx:1.0 of nobody",
			why:      "somebody created it, but the cache doesn't have it yet",
		},
		"only on the server: nobody's, but with our values": {
			onServer: deployment(unowned),
			sends:    []string{get},
			after:    "3 × nginx:latest of nobody",
			why:      "no field conflicts, so even an apply without force would take it over",
		},
		"only on the server: being deleted": {
			onServer: deployment(scaledTo(1), terminating),
			sends:    []string{get},
			after:    "1 × nginx:latest of this Foo",
			why:      "once it is gone, an event enqueues the Foo",
		},
		"not in the cache, nor on the server until somebody creates it right before the apply": {
			meanwhile: deployment(theirs),
			sends:     []string{get, apply},
			after:     "1 × nginx:1.0 of nobody",
			fails:     true,
			why:       "an apply changes an existing Deployment, and only one without force respects the owners of its fields",
		},
		"not in the cache, and the GET fails": {
			getErr: apierrors.NewInternalError(errors.New("etcd is down")),
			sends:  []string{get},
			after:  "none",
			fails:  true,
			why:    "if you don't know whether there is a Deployment, you don't know what an apply would do to it",
		},
	} {
		t.Run(sentence, test.run)
	}
}

// run calls SyncDeployment once, and checks the result.
func (s scenario) run(t *testing.T) {
	server := newServer(t, s)
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	if s.cached != nil {
		if err := indexer.Add(s.cached); err != nil {
			t.Fatal(err)
		}
	}
	c := &Controller{Deployments: appslisters.NewDeploymentLister(indexer), Client: server.AppsV1()}

	err := c.SyncDeployment(t.Context(), foo.DeepCopy())

	if got, want := inWords(requests(t, server)), inWords(s.sends); got != want {
		t.Errorf("SyncDeployment sent %s, want %s", got, want)
	}
	if after := describe(t, server); after != s.after {
		t.Errorf("afterwards, the server has %s, want %s", after, s.after)
	}
	switch {
	case s.fails && err == nil:
		t.Error("SyncDeployment returned no error, want one: nobody retries")
	case !s.fails && err != nil:
		t.Errorf("SyncDeployment returned the error %q, want none", err)
	}
	if t.Failed() && s.why != "" {
		t.Log(s.why)
	}
}

func inWords(requests []string) string {
	if len(requests) == 0 {
		return "nothing"
	}
	return "[" + strings.Join(requests, "; ") + "]"
}

var deployments = appsv1.SchemeGroupVersion.WithResource("deployments")

// newServer returns a server with s.onServer. Like the API server, it refuses an apply with a UID
// that doesn't match.
func newServer(t *testing.T, s scenario) *fake.Clientset {
	server := fake.NewClientset()
	if s.onServer != nil {
		if err := server.Tracker().Add(s.onServer.DeepCopy()); err != nil {
			t.Fatal(err)
		}
	}
	server.PrependReactor("get", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) {
		return s.getErr != nil, nil, s.getErr
	})
	server.PrependReactor("patch", "deployments", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if s.meanwhile != nil {
			if err := server.Tracker().Add(s.meanwhile.DeepCopy()); err != nil {
				return true, nil, err
			}
		}
		name, uid := action.(clienttesting.PatchAction).GetName(), uidIn(t, action)
		stored, err := server.Tracker().Get(deployments, action.GetNamespace(), name)
		switch {
		case uid == "":
		case apierrors.IsNotFound(err):
			mismatch := fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", uid)
			return true, nil, apierrors.NewConflict(deployments.GroupResource(), name, mismatch)
		case err != nil:
			return true, nil, err
		case stored.(*appsv1.Deployment).UID != uid:
			immutable := field.ErrorList{field.Invalid(field.NewPath("metadata", "uid"), uid, "field is immutable")}
			return true, nil, apierrors.NewInvalid(appsv1.SchemeGroupVersion.WithKind("Deployment").GroupKind(), name, immutable)
		}
		return false, nil, nil // the next reactor merges and stores it
	})
	return server
}

// requests returns the requests that were sent, in words.
func requests(t *testing.T, server *fake.Clientset) (sent []string) {
	for _, action := range server.Actions() {
		patch, ok := action.(clienttesting.PatchActionImpl)
		if !ok || patch.PatchType != types.ApplyPatchType {
			sent = append(sent, action.GetVerb())
			continue
		}
		request := apply
		if manager := patch.PatchOptions.FieldManager; manager != fieldOwner {
			request = fmt.Sprintf("apply by the field manager %q", manager) // without a field manager, the server refuses it
		}
		if ptr.Deref(patch.PatchOptions.Force, false) {
			request += ", forced"
		}
		if uid := uidIn(t, action); uid != "" {
			request += fmt.Sprintf(", if it is %q", uid)
		}
		sent = append(sent, request)
	}
	return sent
}

// uidIn returns the UID in an apply, or "".
func uidIn(t *testing.T, action clienttesting.Action) types.UID {
	var object metav1.PartialObjectMetadata
	if err := json.Unmarshal(action.(clienttesting.PatchAction).GetPatch(), &object); err != nil {
		t.Error(err)
	}
	return object.UID
}

// describe returns the server's Deployment, in words.
func describe(t *testing.T, server *fake.Clientset) string {
	stored, err := server.Tracker().Get(deployments, "default", "web")
	if apierrors.IsNotFound(err) {
		return "none"
	}
	if err != nil {
		t.Fatal(err)
	}
	web, owner := stored.(*appsv1.Deployment), "nobody"
	if metav1.IsControlledBy(web, foo) {
		owner = "this Foo"
	} else if controller := metav1.GetControllerOf(web); controller != nil {
		owner = string(controller.UID)
	}
	return fmt.Sprintf("%d × %s of %s", ptr.Deref(web.Spec.Replicas, 1), web.Spec.Template.Spec.Containers[0].Image, owner)
}

// deployment returns the Deployment that foo asks for, as the server stores it, with changes.
func deployment(changes ...func(*appsv1.Deployment)) *appsv1.Deployment {
	var web appsv1.Deployment
	text, err := json.Marshal(desiredDeployment(foo))
	if err == nil {
		err = json.Unmarshal(text, &web)
	}
	if err != nil {
		panic(err)
	}
	web.UID = "uid of web"
	for _, change := range changes {
		change(&web)
	}
	return &web
}

func scaledTo(replicas int32) func(*appsv1.Deployment) {
	return func(web *appsv1.Deployment) { web.Spec.Replicas = &replicas }
}

func controlledBy(owner types.UID) func(*appsv1.Deployment) {
	return func(web *appsv1.Deployment) { web.OwnerReferences[0].UID = owner }
}

// unowned has no owner reference, as if it had been created by hand.
func unowned(web *appsv1.Deployment) {
	web.UID, web.OwnerReferences = "uid of theirs", nil
}

// theirs has no owner reference either, and other values than foo asks for.
func theirs(web *appsv1.Deployment) {
	unowned(web)
	web.Spec.Replicas = new(int32(1))
	web.Spec.Template.Spec.Containers[0].Image = "nginx:1.0"
}

// terminating is being deleted, but has a finalizer.
func terminating(web *appsv1.Deployment) {
	web.DeletionTimestamp = &metav1.Time{Time: time.Unix(0, 0)}
	web.Finalizers = []string{metav1.FinalizerDeleteDependents}
}
