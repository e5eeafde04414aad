//go:build solution

// Package judge is about tests with controller-runtime's fake client, and whether they can fail.
package judge

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

// Judge returns nil if the reconciler that build returns is right, or else an error that says what
// is wrong with it. It is right if all of this is true in the end, no matter how it gets there:
//   - The Foo's spec still has the replicas that its user asked for last. Its Deployment exists,
//     and has the same number. The Foo's status.observedGeneration is its generation.
//   - This is also true if the server once fails to create the Deployment, if it once refuses a
//     write of the status with a conflict, and if a user scales the Foo while the reconciler is at
//     work.
//   - After that, the reconciler writes nothing more.
//   - A Foo that is being deleted gets no Deployment. A Foo that is gone causes no error.
//
// A reconciler is called again after an error, after a RequeueAfter, and after an event. Every
// change in the cluster is an event, even if the reconciler itself caused it. It isn't called again
// for any other reason.
func Judge(ctx context.Context, build Build) error {
	var found []error
	for sentence, s := range scenarios() {
		if err := s.judge(ctx, build); err != nil {
			found = append(found, fmt.Errorf("%s: %w", sentence, err))
		}
	}
	return errors.Join(found...)
}

// scenario is one way that things may go.
type scenario struct {
	foo   *samplecontrollerv1alpha1.Foo // nil: the Foo is gone
	funcs interceptor.Funcs             // answer in place of the server, or ask it
	// replicas is the number that the user asks for in the end. 0 means that there should be no
	// Deployment.
	replicas int32
}

func scenarios() map[string]scenario {
	foos := schema.GroupVersion(samplecontrollerv1alpha1.GroupVersion).WithResource("foos").GroupResource()
	etcdDown := apierrors.NewInternalError(errors.New("etcd is down"))
	conflict := apierrors.NewConflict(foos, key.Name, errors.New("somebody else has changed it"))
	return map[string]scenario{
		"all is well": {foo: NewFoo(), replicas: 3},
		"one create of the Deployment fails": {
			foo: NewFoo(), replicas: 3,
			funcs: beforeCreate(once(func(context.Context, client.Client) error { return etcdDown })),
		},
		"one status write is refused with a conflict": {
			foo: NewFoo(), replicas: 3,
			funcs: beforeStatus(once(func(context.Context, client.Client) error { return conflict })),
		},
		"a user scales right before the status is written": {
			foo: NewFoo(), replicas: 5,
			funcs: beforeStatus(once(func(ctx context.Context, server client.Client) error { return Scale(ctx, server, 5) })),
		},
		"the Foo is being deleted": {foo: NewTerminatingFoo()},
		"the Foo is gone":          {},
	}
}

// hook runs before a request. If it returns an error, that is the server's answer.
type hook func(ctx context.Context, server client.Client) error

func once(before hook) hook {
	happened := false
	return func(ctx context.Context, server client.Client) error {
		if happened {
			return nil
		}
		happened = true
		return before(ctx, server)
	}
}

func beforeCreate(before hook) interceptor.Funcs {
	return interceptor.Funcs{
		Create: func(ctx context.Context, server client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if err := before(ctx, server); err != nil {
				return err
			}
			return server.Create(ctx, object, options...)
		},
	}
}

func beforeStatus(before hook) interceptor.Funcs {
	return interceptor.Funcs{
		SubResourceUpdate: func(ctx context.Context, server client.Client, name string, object client.Object,
			options ...client.SubResourceUpdateOption) error {
			if err := before(ctx, server); err != nil {
				return err
			}
			return server.SubResource(name).Update(ctx, object, options...)
		},
	}
}

// judge returns an error if the reconciler does anything wrong in this scenario.
func (s scenario) judge(ctx context.Context, build Build) error {
	var objects []client.Object
	if s.foo != nil {
		objects = append(objects, s.foo)
	}
	server := newServer(objects...)
	r := build(interceptor.NewClient(server, s.funcs))

	if err := settle(ctx, server, r); err != nil {
		return err
	}
	foo, deployment := &samplecontrollerv1alpha1.Foo{}, &appsv1.Deployment{}
	fooErr := server.Get(ctx, key.NamespacedName, foo)
	deploymentErr := server.Get(ctx, deploymentKey, deployment)
	switch {
	case s.replicas == 0 && apierrors.IsNotFound(deploymentErr):
		return nil
	case s.replicas == 0:
		return errors.New("there is a Deployment, want none")
	case fooErr != nil || deploymentErr != nil:
		return errors.Join(fooErr, deploymentErr)
	case *foo.Spec.Replicas != s.replicas:
		return fmt.Errorf("the Foo asks for %d replicas, want the user's %d", *foo.Spec.Replicas, s.replicas)
	case *deployment.Spec.Replicas != s.replicas:
		return fmt.Errorf("the Deployment has %d replicas, want %d", *deployment.Spec.Replicas, s.replicas)
	case foo.Status.ObservedGeneration != foo.Generation:
		return fmt.Errorf("status.observedGeneration is %d, want %d", foo.Status.ObservedGeneration, foo.Generation)
	}
	return nil
}

// settle calls r as a controller would, until there is no reason left to call it.
func settle(ctx context.Context, server client.Client, r reconcile.Reconciler) error {
	var err error
	for range 10 {
		var result reconcile.Result
		before := versions(ctx, server)
		result, err = r.Reconcile(ctx, key)
		if err == nil && result.RequeueAfter == 0 && versions(ctx, server) == before {
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("after ten calls, Reconcile still returns the error %w", err)
	}
	return errors.New("after ten calls, Reconcile still writes")
}

// versions returns the resourceVersions of the Foo and its Deployment. The fake client changes them
// with every write.
func versions(ctx context.Context, server client.Client) [2]string {
	foo, deployment := &samplecontrollerv1alpha1.Foo{}, &appsv1.Deployment{}
	_ = server.Get(ctx, key.NamespacedName, foo) // if the object is gone, its version is empty
	_ = server.Get(ctx, deploymentKey, deployment)
	return [2]string{foo.ResourceVersion, deployment.ResourceVersion}
}

// newServer returns a fake API server that has these objects, and treats Foos like a real server
// that has their CRD.
func newServer(objects ...client.Object) client.WithWatch {
	return fake.NewClientBuilder().WithScheme(newScheme()).WithStatusSubresource(&samplecontrollerv1alpha1.Foo{}).WithObjects(objects...).Build()
}
