package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

const namespace = "a"

func deployment(name, image string) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "main", Image: image}, {Name: "sidecar", Image: "other:1"}},
		}}},
	}
}

func configMap(data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: configMapName}, Data: data}
}

func TestSwap(t *testing.T) {
	conflict := apierrors.NewConflict(appsv1.Resource("deployments"), "x", errors.New("someone else wrote first"))
	for sentence, test := range map[string]struct {
		configMap   *corev1.ConfigMap // nil means that there is none
		image       string            // before
		failures    []error           // of the first updates
		want        string
		wantUpdates int
		wantErr     bool
	}{
		"another image is swapped":                     {configMap(map[string]string{"image": "new"}), "old", nil, "new", 1, false},
		"the right image is left alone":                {configMap(map[string]string{"image": "new"}), "new", nil, "new", 0, false},
		"without a ConfigMap, nothing changes":         {nil, "old", nil, "old", 0, false},
		"without the key, nothing changes":             {configMap(map[string]string{"images": "new"}), "old", nil, "old", 0, false},
		"a conflict is retried with the latest object": {configMap(map[string]string{"image": "new"}), "old", []error{conflict}, "new", 2, false},
		"another error isn't retried":                  {configMap(map[string]string{"image": "new"}), "old", []error{errors.New("no")}, "old", 1, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			before := deployment("x", test.image)
			client := fake.NewClientset(before.DeepCopy())
			updates := 0
			client.PrependReactor("update", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) {
				updates++
				if updates <= len(test.failures) {
					return true, nil, test.failures[updates-1]
				}
				return false, nil, nil
			})
			s := newSwapper(client, namespace)
			if test.configMap != nil {
				// No informer runs, so the test fills the cache.
				if err := s.factory.Core().V1().ConfigMaps().Informer().GetIndexer().Add(test.configMap); err != nil {
					t.Fatal(err)
				}
			}

			cached := before.DeepCopy()
			if err := s.swap(t.Context(), cached); (err != nil) != test.wantErr {
				t.Fatalf("got the error %v, want one: %v", err, test.wantErr)
			}

			after, err := client.AppsV1().Deployments(namespace).Get(t.Context(), "x", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			containers := after.Spec.Template.Spec.Containers
			if containers[0].Image != test.want || containers[1].Image != "other:1" || updates != test.wantUpdates {
				t.Errorf("got the images %s and %s after %d updates, want %s and other:1 after %d", containers[0].Image, containers[1].Image, updates, test.want, test.wantUpdates)
			}
			if cached.Spec.Template.Spec.Containers[0].Image != test.image {
				t.Error("swap changed the cached object, want a changed copy")
			}
		})
	}
}

// If the ConfigMap doesn't exist yet, its creation is an event that reaches every Deployment.
func TestALaterConfigMapReachesEveryDeployment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset(deployment("x", "old"), deployment("y", "old"))
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go newSwapper(client, namespace).run(ctx)
		time.Sleep(time.Second) // in the bubble's time, and until the informers watch
		synctest.Wait()

		if _, err := client.CoreV1().ConfigMaps(namespace).Create(ctx, configMap(map[string]string{"image": "new"}), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()

		list, err := client.AppsV1().Deployments(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range list.Items {
			if image := d.Spec.Template.Spec.Containers[0].Image; image != "new" {
				t.Errorf("Deployment %s has the image %s, want new", d.Name, image)
			}
		}
	})
}
