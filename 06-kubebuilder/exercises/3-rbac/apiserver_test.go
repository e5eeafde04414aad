//go:build check || solution

// The API server that the controller runs against. A real one asks its authorizer whether each
// request is allowed, and for some requests about more permissions. This one asks the same
// questions and records them, but it allows everything.

package rbac

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
)

// question is one question to the authorizer.
type question struct {
	Verb, Group, Resource string // with its subresource, such as foos/status
	Namespace, Name       string // "" means all
	Why                   string // a question about the request that needs it
}

// apiServer stores objects in controller-runtime's fake client, and answers requests as an API
// server does.
type apiServer struct {
	store  client.WithWatch
	mapper meta.RESTMapper

	mu    sync.Mutex
	asked []question
}

// foos returns Foos in two namespaces, so that no Role for a single namespace is enough.
func foos() []client.Object {
	var all []client.Object
	for _, namespace := range []string{"default", "team"} {
		all = append(all, &samplecontrollerv1alpha1.Foo{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "example", UID: "1", Generation: 1},
			Spec:       samplecontrollerv1alpha1.FooSpec{DeploymentName: "web", Replicas: new(int32(1))},
		})
	}
	return all
}

// aDay runs the controller against a server with two Foos. Their Deployments are created, and then
// scaled by hand several times.
func aDay(t *testing.T) *apiServer {
	t.Helper()
	scheme := runtime.NewScheme()
	must(t, errors.Join(clientgoscheme.AddToScheme(scheme), samplecontrollerv1alpha1.AddToScheme(scheme)))
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, kind := range []schema.GroupVersionKind{
		samplecontrollerv1alpha1.GroupVersion.WithKind("Foo"),
		appsv1.SchemeGroupVersion.WithKind("Deployment"),
		corev1.SchemeGroupVersion.WithKind("ConfigMap"),
		corev1.SchemeGroupVersion.WithKind("Secret"),
	} {
		mapper.Add(kind, meta.RESTScopeNamespace)
	}
	defaults := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: defaultsKey.Namespace, Name: defaultsKey.Name},
		Data:       map[string]string{"image": "nginx:1.29"},
	}
	s := &apiServer{mapper: mapper}

	synctest.Test(t, func(t *testing.T) {
		s.store = fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(mapper).
			WithObjects(append(foos(), defaults)...).WithStatusSubresource(&samplecontrollerv1alpha1.Foo{}).Build()
		mgr, err := ctrl.NewManager(&rest.Config{Host: "http://fake", Transport: s}, ctrl.Options{
			Scheme:         scheme,
			MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper, nil },
			Cache:          cacheOptions(),
			Metrics:        metricsserver.Options{BindAddress: "0"},
			Controller:     config.Controller{SkipNameValidation: new(true)},
		})
		must(t, err)
		r := &Reconciler{Client: mgr.GetClient(), Recorder: mgr.GetEventRecorder("foo-controller")}
		must(t, r.SetupWithManager(mgr))
		stopped := make(chan error)
		go func() { stopped <- mgr.Start(t.Context()) }()
		t.Cleanup(func() { must(t, <-stopped) }) // after the test's context has ended

		for range 3 {
			time.Sleep(time.Second)
			synctest.Wait()
			for _, foo := range foos() {
				s.scaleByHand(t, foo.GetNamespace())
			}
		}
		time.Sleep(time.Second)
		synctest.Wait()
	})
	return s
}

// scaleByHand scales a Foo's Deployment. The test fails if there is none, or if the controller
// hasn't reverted the last change.
func (s *apiServer) scaleByHand(t *testing.T, namespace string) {
	t.Helper()
	deployment := &appsv1.Deployment{}
	if err := s.store.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "web"}, deployment); err != nil {
		t.Fatalf("Reconcile no longer works: a Foo has no Deployment: %v", err)
	}
	if *deployment.Spec.Replicas != 1 {
		t.Fatal("Reconcile no longer works: it hasn't reverted a manual scale")
	}
	deployment.Spec.Replicas = new(int32(5))
	must(t, s.store.Update(t.Context(), deployment))
}

// ask records a question to the authorizer.
func (s *apiServer) ask(q question) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.asked, q) {
		s.asked = append(s.asked, q)
	}
}

// readRequest returns what a request asks for, and the version of the API.
func readRequest(r *http.Request) (q question, version string) {
	prefix, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if prefix == "apis" {
		q.Group, rest, _ = strings.Cut(rest, "/")
	}
	version, rest, _ = strings.Cut(rest, "/")
	if namespaced, ok := strings.CutPrefix(rest, "namespaces/"); ok {
		q.Namespace, rest, _ = strings.Cut(namespaced, "/")
	}
	parts := append(strings.Split(rest, "/"), "", "")
	q.Resource, q.Name = parts[0], parts[1]
	if parts[2] != "" {
		q.Resource += "/" + parts[2]
	}
	switch r.Method {
	case http.MethodPost:
		q.Verb = "create"
	case http.MethodPut:
		q.Verb = "update"
	case http.MethodGet:
		q.Verb = "get"
		if r.URL.Query().Has("watch") {
			q.Verb = "watch"
		} else if q.Name == "" {
			q.Verb = "list"
		}
	default:
		q.Verb = strings.ToLower(r.Method)
	}
	return q, version
}

// RoundTrip answers one request.
func (s *apiServer) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := s.answer(r)
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		answer = status.Status()
	} else if err != nil {
		return nil, err
	}
	response := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {runtime.ContentTypeJSON}}, Request: r}
	switch answer := answer.(type) {
	case *io.PipeReader:
		response.Body = answer
	default:
		if status, ok := answer.(metav1.Status); ok {
			status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
			response.StatusCode, answer = int(status.Code), status
		}
		body, err := json.Marshal(answer)
		if err != nil {
			return nil, err
		}
		response.Body = io.NopCloser(bytes.NewReader(body))
	}
	return response, nil
}

// answer asks the authorizer, and carries out the request.
func (s *apiServer) answer(r *http.Request) (any, error) {
	line := r.Method + " " + r.URL.Path
	q, version := readRequest(r)
	apply := strings.HasPrefix(r.Header.Get("Content-Type"), "application/apply-patch")
	switch {
	case q.Verb == "list":
		q.Why = line + ": the cache begins with it. Which verb is that?"
	case q.Verb == "watch":
		q.Why = line + "?watch=true: it keeps the cache up to date. Which verb is that?"
	case q.Resource == "events" && q.Verb == "patch":
		q.Why = line + ": it counts a repeated event in the first one. Which verb is that?"
	case q.Resource == "events":
		q.Why = line + ": it records an event. Which verb is that, and in which group?"
	case apply:
		q.Why = line + ": it applies an object. Which verb is that?"
	default:
		q.Why = line + ": which verb is that?"
	}
	s.ask(q)

	if q.Resource == "events" {
		// Nobody reads Events here, so it is enough to tell the recorder that the Event was stored.
		return map[string]any{"apiVersion": q.Group + "/" + version, "kind": "Event"}, nil
	}
	name, subresource, _ := strings.Cut(q.Resource, "/")
	resource := schema.GroupVersionResource{Group: q.Group, Version: version, Resource: name}
	kind, err := s.mapper.KindFor(resource)
	if err != nil {
		return nil, apierrors.NewNotFound(resource.GroupResource(), q.Name)
	}
	object, list := &unstructured.Unstructured{}, &unstructured.UnstructuredList{}
	object.SetGroupVersionKind(kind)
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	key := client.ObjectKey{Namespace: q.Namespace, Name: q.Name}
	switch {
	case q.Verb == "get":
		return object, s.store.Get(r.Context(), key, object)
	case q.Verb == "list":
		return list, s.store.List(r.Context(), list, client.InNamespace(q.Namespace))
	case q.Verb == "watch" && r.URL.Query().Has("sendInitialEvents"):
		// Not every server can send the list as the beginning of a watch. This one can't, so the
		// cache falls back to a list, and needs both verbs.
		return nil, apierrors.NewInvalid(kind.GroupKind(), "", nil)
	case q.Verb == "watch":
		return s.watch(r.Context(), list, kind, q.Namespace)
	case !apply:
		return nil, apierrors.NewMethodNotSupported(resource.GroupResource(), q.Verb)
	}
	if err := json.NewDecoder(r.Body).Decode(object); err != nil {
		return nil, err
	}
	if subresource == "status" {
		err = s.store.Status().Apply(r.Context(), client.ApplyConfigurationFromUnstructured(object), fieldOwner, client.ForceOwnership)
	} else if err = s.askMore(r, q, object); err == nil {
		err = s.store.Apply(r.Context(), client.ApplyConfigurationFromUnstructured(object), fieldOwner, client.ForceOwnership)
	}
	if err != nil {
		return nil, err
	}
	return object, s.store.Get(r.Context(), key, object)
}

// askMore asks for the permissions that an apply of that object needs besides patch.
func (s *apiServer) askMore(r *http.Request, q question, object *unstructured.Unstructured) error {
	before := object.DeepCopy()
	err := s.store.Get(r.Context(), client.ObjectKeyFromObject(object), before)
	if !apierrors.IsNotFound(err) {
		return err // if it exists, it has its owner reference already
	}
	line := "PATCH " + r.URL.Path
	q.Verb, q.Why = "create", line+", if the object doesn't exist yet: which other verb does it need then?"
	s.ask(q)
	// If the admission plugin OwnerReferencesPermissionEnforcement is enabled, it asks this.
	for _, owner := range object.GetOwnerReferences() {
		if owner.BlockOwnerDeletion == nil || !*owner.BlockOwnerDeletion {
			continue
		}
		kind := schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind)
		mapping, err := s.mapper.RESTMapping(kind.GroupKind(), kind.Version)
		if err != nil {
			return err
		}
		s.ask(question{
			Verb: "update", Group: kind.Group, Resource: mapping.Resource.Resource + "/finalizers",
			Namespace: q.Namespace, Name: owner.Name,
			Why: line + ", because the object delays the deletion of its owner, as a finalizer does: what must the controller be allowed to change?",
		})
	}
	return nil
}

// watch returns a stream of events, which ends when the client closes it.
func (s *apiServer) watch(ctx context.Context, list client.ObjectList, kind schema.GroupVersionKind, namespace string) (any, error) {
	events, err := s.store.Watch(ctx, list, client.InNamespace(namespace))
	if err != nil {
		return nil, err
	}
	reader, writer := io.Pipe()
	go func() {
		defer writer.Close()
		defer events.Stop()
		for {
			select {
			case event := <-events.ResultChan():
				object := event.Object.DeepCopyObject()
				object.GetObjectKind().SetGroupVersionKind(kind) // a typed object has none
				if err := json.NewEncoder(writer).Encode(map[string]any{"type": event.Type, "object": object}); err != nil {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return reader, nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
