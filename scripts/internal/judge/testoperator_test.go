package judge_test

// The operator that the tests judge: this test's own binary, with isOperator set. It wraps a
// Deployment, as the chapters do, but can have one bug.

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
)

// isOperator is the variable by which this binary knows that it is to be the operator.
const isOperator = "JUDGE_TEST_IS_OPERATOR"

func testOperator() {
	flags := flag.NewFlagSet("", flag.ExitOnError)
	bug := flags.String("bug", "none", "the operator's bug")
	kubeconfig := flags.String("kubeconfig", "", "the path of the kubeconfig")
	namespace := flags.String("namespace", "", "the namespace of the Foos")
	certificates := flags.String("certificates", "", "the folder of the webhook's certificate")
	webhooks := flags.String("webhooks", "", "the port of the webhook, or none")
	_ = flags.Parse(os.Args[1:])
	if *webhooks != "" {
		go serveWebhook(*webhooks, *certificates)
	}
	if err := run(*bug, *kubeconfig, *namespace); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serveWebhook refuses bad input, and accepts everything else.
func serveWebhook(port, certificates string) {
	validate := func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		_ = json.NewDecoder(r.Body).Decode(&review)
		isBad := bytes.Contains(review.Request.Object.Raw, []byte("bad-name"))
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: !isBad}
		_ = json.NewEncoder(w).Encode(review)
	}
	fmt.Println(http.ListenAndServeTLS("127.0.0.1:"+port, certificates+"/tls.crt", certificates+"/tls.key",
		http.HandlerFunc(validate)))
}

var (
	fooVersion         = schema.GroupVersion{Group: "samplecontroller.k8s.io", Version: "v1alpha1"}
	fooResource        = fooVersion.WithResource("foos")
	deploymentResource = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	configMapResource  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
)

// optionalGroup is the API group of Foos whose replicas have no default, and clusterScopedGroup that
// of Foos without a namespace, which name it in a label.
const (
	optionalGroup      = "optional.example.com"
	clusterScopedGroup = "clusterscoped.example.com"
)

// clusterScoped makes the operator look at Foos without a namespace. It is no bug.
const clusterScoped = "its Foos have no namespace"

// namespaceOf returns the namespace of a Foo's Deployment.
func namespaceOf(foo *unstructured.Unstructured) string {
	return cmp.Or(foo.GetNamespace(), foo.GetLabels()["namespace"])
}

// byChance is the order of a map, which differs in each process.
var byChance = strings.Join(slices.Collect(maps.Keys(map[string]bool{
	"a": true, "b": true, "c": true, "d": true, "e": true, "f": true, "g": true, "h": true,
})), "")

type operator struct {
	bug              string
	client           dynamic.Interface
	foos, deployment cache.GenericLister
	queue            workqueue.TypedRateLimitingInterface[string]
}

func run(bug, kubeconfig, namespace string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1
	switch bug {
	case "it scales what an autoscaler has scaled":
		fooVersion.Group = optionalGroup
	case clusterScoped:
		fooVersion.Group, namespace = clusterScopedGroup, metav1.NamespaceAll
	}
	fooResource.Group = fooVersion.Group
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if bug == "it elects a leader" {
		return errors.New("unable to find leader election namespace: not running in-cluster")
	}
	if bug == "it ignores SIGTERM" {
		signal.Ignore(syscall.SIGTERM)
		ctx = context.Background()
	}

	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, namespace, nil)
	o := &operator{
		bug: bug, client: client,
		foos: factory.ForResource(fooResource).Lister(), deployment: factory.ForResource(deploymentResource).Lister(),
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
	}
	enqueue := func(object any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object); err == nil {
			o.queue.Add(key)
		}
	}
	handlers := func(do func(any)) cache.ResourceEventHandlerFuncs {
		return cache.ResourceEventHandlerFuncs{AddFunc: do, UpdateFunc: func(_, object any) { do(object) }, DeleteFunc: do}
	}
	if _, err := factory.ForResource(fooResource).Informer().AddEventHandler(handlers(enqueue)); err != nil {
		return err
	}
	ofDeployments := handlers(func(object any) { o.enqueueFoo(object) })
	if bug == "it misses deletions" {
		ofDeployments.DeleteFunc = nil
	}
	if _, err := factory.ForResource(deploymentResource).Informer().AddEventHandler(ofDeployments); err != nil {
		return err
	}
	if bug == "it gives up if it can't start" {
		if _, err := client.Resource(fooResource).Namespace(namespace).List(ctx, metav1.ListOptions{Limit: 1}); err != nil {
			fmt.Println("giving up:", err)
			<-ctx.Done()
			return nil
		}
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	if bug == "it polls" {
		go func() {
			for range time.Tick(500 * time.Millisecond) { // on a busy machine, an answer may take longer
				go func() { _, _ = client.Resource(fooResource).Namespace(namespace).List(ctx, metav1.ListOptions{}) }()
			}
		}()
	}
	go o.work(ctx)
	<-ctx.Done()
	o.queue.ShutDown()
	if bug == "it fails when it is stopped" {
		return context.Canceled
	}
	return nil
}

// enqueueFoo enqueues the Foo that a Deployment belongs to.
func (o *operator) enqueueFoo(object any) {
	if last, isTombstone := object.(cache.DeletedFinalStateUnknown); isTombstone && o.bug != "it panics at a tombstone" {
		if o.bug == "it ignores tombstones" {
			return
		}
		object = last.Obj
	}
	deployment := object.(*unstructured.Unstructured)
	foo := deployment.GetLabels()["foo"]
	if owner := metav1.GetControllerOf(deployment); owner != nil {
		foo = owner.Name
	}
	if o.bug != clusterScoped {
		foo = deployment.GetNamespace() + "/" + foo
	}
	o.queue.Add(foo)
}

func (o *operator) work(ctx context.Context) {
	for {
		key, shutdown := o.queue.Get()
		if shutdown {
			return
		}
		err := o.reconcile(ctx, key)
		switch {
		case err == nil || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) || o.bug == "it drops errors":
			o.queue.Forget(key)
		case o.bug == "it retries at once":
			o.queue.Add(key)
		default:
			o.queue.AddRateLimited(key)
		}
		o.queue.Done(key)
	}
}

func (o *operator) reconcile(ctx context.Context, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return nil
	}
	found, err := o.foos.Get(key)
	if apierrors.IsNotFound(err) {
		return nil
	}
	foo := found.(*unstructured.Unstructured).DeepCopy()
	if foo.GetDeletionTimestamp() != nil && o.bug == "it adds its finalizer too late" {
		foo.SetFinalizers(append(foo.GetFinalizers(), "example.com/late"))
		_, err := o.client.Resource(fooResource).Namespace(namespace).Update(ctx, foo, metav1.UpdateOptions{})
		return err
	}
	if foo.GetDeletionTimestamp() != nil && o.bug != "it works for an object that is being deleted" {
		return nil
	}
	if o.bug == "it panics on bad input" {
		if name, _, _ := unstructured.NestedString(foo.Object, "spec", "deploymentName"); name == "bad-name" {
			panic("bad input")
		}
	}
	before, missing := o.deployment.ByNamespace(namespaceOf(foo)).Get(wantedDeployment(foo, true).GetName())
	if missing == nil && o.bug == "it is ready too soon" { // apply may have to change it first
		if err := o.report(ctx, foo, before.(*unstructured.Unstructured), nil); err != nil {
			return err
		}
	}
	if o.bug == "it sends an Event each time" {
		event := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Event", "metadata": map[string]any{"generateName": name + "."},
			"involvedObject": map[string]any{"kind": "Foo", "namespace": namespace, "name": name},
		}}
		events := o.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "events"})
		if _, err := events.Namespace(namespace).Create(ctx, event, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	deployment, err := o.apply(ctx, foo)
	if err == nil && o.bug == "it removes keys from its ConfigMap" {
		err = o.applyConfigMap(ctx, foo)
	}
	if err == nil && o.bug != "a rename leaves the old Deployment" && o.bug != "it creates what its cache lacks" {
		err = o.deleteOthers(ctx, foo, deployment)
	}
	isRefused := apierrors.IsForbidden(err) || apierrors.IsInvalid(err)
	isReported := isRefused && !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) &&
		o.bug != "it hides refused writes" && o.bug != "it can't handle long names"
	if err != nil && !isReported {
		return err
	}
	return errors.Join(err, o.report(ctx, foo, deployment, err))
}

// applyConfigMap creates or corrects a ConfigMap, and removes what others have added to it.
func (o *operator) applyConfigMap(ctx context.Context, foo *unstructured.Unstructured) error {
	client := o.client.Resource(configMapResource).Namespace(foo.GetNamespace())
	data := map[string]any{"key": "value"}
	now, err := client.Get(ctx, foo.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		wanted := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": data}}
		wanted.SetName(foo.GetName())
		wanted.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(foo, fooVersion.WithKind("Foo"))})
		_, err = client.Create(ctx, wanted, metav1.CreateOptions{})
		return err
	}
	if err != nil || reflect.DeepEqual(now.Object["data"], data) {
		return err
	}
	now.Object["data"] = data
	_, err = client.Update(ctx, now, metav1.UpdateOptions{})
	return err
}

// deleteOthers deletes the Deployments that a Foo had before it was renamed.
func (o *operator) deleteOthers(ctx context.Context, foo, deployment *unstructured.Unstructured) error {
	client := o.client.Resource(deploymentResource).Namespace(namespaceOf(foo))
	all, err := o.deployment.ByNamespace(namespaceOf(foo)).List(labels.Everything())
	for _, object := range all {
		other := object.(*unstructured.Unstructured)
		if err == nil && metav1.IsControlledBy(other, foo) && other.GetName() != deployment.GetName() {
			err = client.Delete(ctx, other.GetName(), metav1.DeleteOptions{})
		}
	}
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// apply creates or corrects the Deployment.
func (o *operator) apply(ctx context.Context, foo *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	client := o.client.Resource(deploymentResource).Namespace(namespaceOf(foo))
	wanted := wantedDeployment(foo, o.bug != "it leaves its objects without an owner")
	if spec, _, _ := unstructured.NestedString(foo.Object, "spec", "deploymentName"); spec == "bad-name" {
		if o.bug == "it retries at once" {
			var reads sync.WaitGroup
			for range 10 { // on a busy machine, one at a time could look like a backoff
				reads.Go(func() { _, _ = client.Get(ctx, wanted.GetName(), metav1.GetOptions{}) })
			}
			reads.Wait()
		}
		return nil, fmt.Errorf("spec.deploymentName %q is refused", spec)
	}
	switch o.bug {
	case "its selectors are all the same":
		same := map[string]any{"app": "foo"}
		_ = unstructured.SetNestedMap(wanted.Object, same, "spec", "selector", "matchLabels")
		_ = unstructured.SetNestedMap(wanted.Object, same, "spec", "template", "metadata", "labels")
	case "it can't handle long names":
		_ = unstructured.SetNestedField(wanted.Object, "of-"+foo.GetName(), "metadata", "labels", "foo")
	case "it depends on the order of a map":
		_ = unstructured.SetNestedField(wanted.Object, byChance, "metadata", "labels", "order")
	}
	found, err := o.deployment.ByNamespace(namespaceOf(foo)).Get(wanted.GetName())
	if o.bug == "it creates what its cache lacks" {
		found, err = o.anyOf(foo)
		wanted.SetGenerateName(wanted.GetName() + "-")
		wanted.SetName("")
	}
	if apierrors.IsNotFound(err) {
		if o.bug == "it completes what it has created" {
			first := []any{map[string]any{"name": "main", "image": "example.com/main:0"}}
			_ = unstructured.SetNestedSlice(wanted.Object, first, "spec", "template", "spec", "containers")
		}
		return client.Create(ctx, wanted, metav1.CreateOptions{})
	}
	now := found.(*unstructured.Unstructured)
	takesAny := o.bug == "it takes over what isn't its own" || o.bug == "it leaves its objects without an owner"
	owner := metav1.GetControllerOf(now)
	believes := o.bug == "it believes in names" && owner != nil && owner.Name == foo.GetName()
	if believes || o.bug == "it reports on somebody else's object" && !metav1.IsControlledBy(now, foo) {
		return now, nil
	}
	if !metav1.IsControlledBy(now, foo) && !takesAny {
		return nil, fmt.Errorf("the Deployment %s isn't ours", now.GetName())
	}
	if o.bug == "it ignores changes" {
		return now, nil
	}
	if o.bug == "it only acts on a new generation" && isObserved(foo) {
		return now, nil
	}
	if o.bug == "it trusts its cache" { // and sends no resourceVersion
		if sameSpec(now, wanted) {
			return now, nil
		}
		wanted.SetAnnotations(now.GetAnnotations())
		return client.Update(ctx, wanted, metav1.UpdateOptions{})
	}
	if o.bug == "it replaces the whole object" {
		if sameSpec(now, wanted) && len(now.GetLabels()) == len(wanted.GetLabels()) && len(now.GetFinalizers()) == 0 {
			return now, nil
		}
		wanted.SetResourceVersion(now.GetResourceVersion())
		return client.Update(ctx, wanted, metav1.UpdateOptions{})
	}
	replicas, _, _ := unstructured.NestedInt64(wanted.Object, "spec", "replicas")
	image := firstImage(wanted)
	if o.bug == "it writes each time" {
		patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
		return client.Patch(ctx, now.GetName(), types.MergePatchType, patch, metav1.PatchOptions{})
	}
	present, _, _ := unstructured.NestedInt64(now.Object, "spec", "replicas")
	hasLabels := maps.Equal(now.GetLabels(), withAll(now.GetLabels(), wanted.GetLabels()))
	if present == replicas && firstImage(now) == image && hasLabels && metav1.IsControlledBy(now, foo) {
		return now, nil
	}
	owners, _ := json.Marshal(wanted.GetOwnerReferences())
	labels, _ := json.Marshal(wanted.GetLabels())
	patch := fmt.Appendf(nil, `{"metadata":{"labels":%s,"ownerReferences":%s},"spec":{"replicas":%d,`+
		`"template":{"spec":{"containers":[{"name":"main","image":%q}]}}}}`, labels, owners, replicas, image)
	return client.Patch(ctx, now.GetName(), types.StrategicMergePatchType, patch, metav1.PatchOptions{})
}

// anyOf returns a Deployment of the Foo from the cache.
func (o *operator) anyOf(foo *unstructured.Unstructured) (runtime.Object, error) {
	all, err := o.deployment.ByNamespace(namespaceOf(foo)).List(labels.Everything())
	for _, object := range all {
		if metav1.IsControlledBy(object.(*unstructured.Unstructured), foo) {
			return object, nil
		}
	}
	if err == nil {
		err = apierrors.NewNotFound(deploymentResource.GroupResource(), foo.GetName())
	}
	return nil, err
}

// withAll returns these labels with all of the others.
func withAll(labels, others map[string]string) map[string]string {
	all := maps.Clone(labels)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, others)
	return all
}

// isObserved reports whether the status is about the present spec.
func isObserved(foo *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(foo.Object, "status", "conditions")
	return len(conditions) == 1 && conditions[0].(map[string]any)["observedGeneration"] == foo.GetGeneration()
}

func sameSpec(now, wanted *unstructured.Unstructured) bool {
	a, _, _ := unstructured.NestedInt64(now.Object, "spec", "replicas")
	b, _, _ := unstructured.NestedInt64(wanted.Object, "spec", "replicas")
	containers, _, _ := unstructured.NestedSlice(now.Object, "spec", "template", "spec", "containers")
	return a == b && firstImage(now) == firstImage(wanted) && len(containers) == 1
}

func firstImage(deployment *unstructured.Unstructured) string {
	containers, _, _ := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "containers")
	for _, one := range containers {
		if container := one.(map[string]any); container["name"] == "main" {
			return fmt.Sprint(container["image"])
		}
	}
	return ""
}

func wantedDeployment(foo *unstructured.Unstructured, owned bool) *unstructured.Unstructured {
	replicas, found, _ := unstructured.NestedInt64(foo.Object, "spec", "replicas")
	if !found {
		replicas = 1
	}
	name, _, _ := unstructured.NestedString(foo.Object, "spec", "deploymentName")
	labels := map[string]any{"foo": foo.GetName()}
	deployment := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"name": name, "namespace": namespaceOf(foo), "labels": maps.Clone(labels)},
		"spec": map[string]any{
			"replicas": replicas,
			"selector": map[string]any{"matchLabels": maps.Clone(labels)},
			"template": map[string]any{
				"metadata": map[string]any{"labels": maps.Clone(labels)},
				"spec":     map[string]any{"containers": []any{map[string]any{"name": "main", "image": "example.com/main:1"}}},
			},
		},
	}}
	if owned {
		owner := metav1.NewControllerRef(foo, fooVersion.WithKind("Foo"))
		deployment.SetOwnerReferences([]metav1.OwnerReference{*owner})
	}
	return deployment
}

// report writes the status, if it has changed. After a failure, deployment is nil.
func (o *operator) report(ctx context.Context, foo, deployment *unstructured.Unstructured, failure error) error {
	ready, reason, available := "False", "Refused", int64(0)
	if failure == nil {
		available, _, _ = unstructured.NestedInt64(deployment.Object, "status", "availableReplicas")
		wanted, _, _ := unstructured.NestedInt64(deployment.Object, "spec", "replicas")
		observed, _, _ := unstructured.NestedInt64(deployment.Object, "status", "observedGeneration")
		reason = "Reconciled"
		switch {
		case o.bug == "its condition stays Unknown":
			ready = "Unknown"
		case available >= wanted && observed == deployment.GetGeneration(), o.bug == "it doesn't look at its Deployment":
			ready = "True"
		}
	}
	condition := map[string]any{
		"type": "Ready", "status": ready, "reason": reason, "message": "",
		"observedGeneration": foo.GetGeneration(), "lastTransitionTime": metav1.Now().UTC().Format(time.RFC3339),
	}
	if o.bug == "it doesn't observe the generation" {
		condition["observedGeneration"] = int64(1)
	}
	conditions := []any{condition}
	before, _, _ := unstructured.NestedSlice(foo.Object, "status", "conditions")
	if len(before) > 0 {
		before := before[0].(map[string]any)
		if before["status"] == ready && o.bug != "its conditions change without a reason" {
			condition["lastTransitionTime"] = before["lastTransitionTime"]
		}
	}
	other := map[string]any{
		"reason": "Other", "message": "", "lastTransitionTime": foo.GetCreationTimestamp().UTC().Format(time.RFC3339),
	}
	if o.bug == "its failure stays" && (failure != nil || len(before) > 1) {
		other["type"], other["status"] = "Degraded", "True"
		conditions = append(conditions, other)
	}
	if o.bug == "its conditions contradict each other" {
		other["type"], other["status"] = "Available", "False"
		conditions = append(conditions, other)
	}
	if reflect.DeepEqual(before, conditions) {
		return nil
	}
	foo.Object["status"] = map[string]any{"conditions": conditions, "availableReplicas": available}
	client := o.client.Resource(fooResource).Namespace(foo.GetNamespace())
	written, err := client.UpdateStatus(ctx, foo, metav1.UpdateOptions{})
	if err == nil && o.bug == "it writes each status twice" {
		_, err = client.UpdateStatus(ctx, written, metav1.UpdateOptions{})
	}
	return err
}
