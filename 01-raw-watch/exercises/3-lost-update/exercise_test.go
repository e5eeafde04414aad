//go:build check || solution

// The tests of Update. Each case has the Deployment on the server and the desired one.
//
// As given, it keeps only the promises that a single PUT can keep. `workshop test` checks these
// failures:
//
// fails: TestUpdate/other people's fields are kept
// says: metadata.annotations.team is gone, want "blue"
//
// fails: TestUpdate/if the Deployment is up to date, nothing is written
// says: Update sent 1 PUT, want 0
//
// fails: TestUpdate/other people's fields are no reason to write
// says: Update sent 1 PUT, want 0
//
// fails: TestUpdate/if only the replicas differ, other people's fields are kept
// says: spec.template.spec.containers[proxy].image is gone, want "proxy:7"
//
// fails: TestUpdate/if only the image differs, other people's fields are kept
// says: spec.template.spec.containers[proxy].image is gone, want "proxy:7"
//
// fails: TestUpdate/if our container was removed, it is added beside the others
// says: spec.template.spec.containers[proxy].image is gone, want "proxy:7"
//
// fails: TestUpdate/a label that others have removed stays removed
// says: metadata.labels.app is "web", want none
//
// fails: TestUpdate/only the image of our container is changed
// says: spec.template.spec.containers[web].args[0] is "--fast", want none
//
// fails: TestUpdate/if the server refuses the GET, Update returns the error and writes nothing
// says: the error is <nil>, want the server's refusal
//
// fails: TestUpdateAfterAnotherWrite/if someone else writes first, their change stays, and Update returns the conflict
// says: the error is <nil>, want the server's conflict
//
// fails: TestUpdateAfterAnotherWrite/after a second call, both changes are there
// says: metadata.annotations.team is gone, want "red"

package lostupdate

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestUpdate(t *testing.T) {
	forbidden := apierrors.NewForbidden(deployments, "web", errors.New("not today"))
	for sentence, test := range map[string]struct {
		stored, desired, want *appsv1.Deployment
		// The error that each GET or PUT gets. If it is nil, they succeed.
		refuseGet, refusePut *apierrors.StatusError
		wantPuts             int
		wantErr              func(error) bool // nil: none
	}{
		"other replicas and another image": {
			stored:   onServer(1, "web:1"),
			desired:  desired(3, "web:2"),
			want:     onServer(3, "web:2"),
			wantPuts: 1,
		},
		"other people's fields are kept": {
			stored:   onServer(1, "web:1", others),
			desired:  desired(3, "web:2"),
			want:     onServer(3, "web:2", others),
			wantPuts: 1,
		},
		"if the Deployment is up to date, nothing is written": {
			stored:  onServer(3, "web:2"),
			desired: desired(3, "web:2"),
			want:    onServer(3, "web:2"),
		},
		"other people's fields are no reason to write": {
			stored:  onServer(3, "web:2", others),
			desired: desired(3, "web:2"),
			want:    onServer(3, "web:2", others),
		},
		"if only the replicas differ, other people's fields are kept": {
			stored:   onServer(1, "web:2", others),
			desired:  desired(3, "web:2"),
			want:     onServer(3, "web:2", others),
			wantPuts: 1,
		},
		"if only the image differs, other people's fields are kept": {
			stored:   onServer(3, "web:1", others),
			desired:  desired(3, "web:2"),
			want:     onServer(3, "web:2", others),
			wantPuts: 1,
		},
		"if our container was removed, it is added beside the others": {
			stored:   onServer(3, "web:2", onlyProxy),
			desired:  fast(desired(3, "web:2")),
			want:     onServer(3, "web:2", faster, proxyFirst),
			wantPuts: 1,
		},
		"a label that others have removed stays removed": {
			stored:   onServer(1, "web:1", unlabelled),
			desired:  desired(3, "web:2"),
			want:     onServer(3, "web:2", unlabelled),
			wantPuts: 1,
		},
		"only the image of our container is changed": {
			stored:   onServer(1, "web:1"),
			desired:  fast(desired(3, "web:2")),
			want:     onServer(3, "web:2"),
			wantPuts: 1,
		},
		"if the server refuses the GET, Update returns the error and writes nothing": {
			stored:    onServer(1, "web:1", others),
			desired:   desired(3, "web:2"),
			refuseGet: forbidden,
			want:      onServer(1, "web:1", others),
			wantErr:   apierrors.IsForbidden,
		},
		"if the server refuses the PUT, Update returns the error": {
			stored:    onServer(1, "web:1"),
			desired:   desired(3, "web:2"),
			refusePut: forbidden,
			want:      onServer(1, "web:1"),
			wantErr:   apierrors.IsForbidden,
		},
		"if there is no such Deployment, Update returns the error and creates none": {
			desired: desired(3, "web:2"),
			wantErr: apierrors.IsNotFound,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			server, client := start(t, test.stored)
			server.refuse = map[string]*apierrors.StatusError{http.MethodGet: test.refuseGet, http.MethodPut: test.refusePut}

			err := Update(t.Context(), client, test.desired)

			switch {
			case test.wantErr == nil && err != nil:
				t.Errorf("the error is %v, want none", err)
			case test.wantErr != nil && !test.wantErr(err):
				t.Errorf("the error is %v, want the server's refusal, as it came or wrapped by %%w", err)
			}
			if test.wantErr == nil && server.puts != test.wantPuts {
				t.Errorf("Update sent %s, want %d", puts(server.puts), test.wantPuts)
			}
			compare(t, test.want, server.stored)
		})
	}
}

// Two programs have read the same Deployment, and the other one writes first.
func TestUpdateAfterAnotherWrite(t *testing.T) {
	theirs := func(d *appsv1.Deployment) { d.Annotations = map[string]string{"team": "red"} }

	t.Run("if someone else writes first, their change stays, and Update returns the conflict", func(t *testing.T) {
		server, client := start(t, onServer(1, "web:1", others))
		server.beforeNextPut = theirs

		err := Update(t.Context(), client, desired(3, "web:2"))

		if !apierrors.IsConflict(err) {
			t.Errorf("the error is %v, want the server's conflict", err)
		}
		if server.puts != 1 {
			t.Errorf("Update sent %s, want 1, because only the caller retries", puts(server.puts))
		}
		compare(t, onServer(1, "web:1", others, theirs), server.stored)
	})

	t.Run("after a second call, both changes are there", func(t *testing.T) {
		server, client := start(t, onServer(1, "web:1", others))
		server.beforeNextPut = theirs

		Update(t.Context(), client, desired(3, "web:2"))
		if err := Update(t.Context(), client, desired(3, "web:2")); err != nil {
			t.Errorf("the error of the second call is %v, want none", err)
		}

		compare(t, onServer(3, "web:2", others, theirs), server.stored)
	})
}

// desired returns a Deployment as a controller builds it, with only the fields that it sets.
func desired(replicas int32, image string) *appsv1.Deployment {
	labels := map[string]string{"app": "web"}
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: image}}},
			},
		},
	}
}

// onServer returns the same Deployment as the server has it, with some changes.
func onServer(replicas int32, image string, changes ...func(*appsv1.Deployment)) *appsv1.Deployment {
	deployment := desired(replicas, image)
	deployment.UID, deployment.ResourceVersion = "uid-1", "100"
	for _, change := range changes {
		change(deployment)
	}
	return deployment
}

// others sets fields that belong to other people, or are the server's defaults. Some of them are in
// our container.
func others(d *appsv1.Deployment) {
	d.Annotations = map[string]string{"team": "blue"}
	d.Labels = map[string]string{"app": "web", "tier": "front"}
	d.Spec.Template.Labels = map[string]string{"app": "web", "zone": "north"}
	d.Spec.RevisionHistoryLimit = new(int32(10))
	d.Spec.Template.Spec.Containers[0].ImagePullPolicy = corev1.PullAlways
	d.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "LOG", Value: "debug"}}
	proxyFirst(d)
}

// proxyFirst adds a sidecar before our container.
func proxyFirst(d *appsv1.Deployment) {
	pod := &d.Spec.Template.Spec
	pod.Containers = append([]corev1.Container{{Name: "proxy", Image: "proxy:7"}}, pod.Containers...)
}

// unlabelled removes the Deployment's labels. (The selector needs the template's labels, so they
// stay.)
func unlabelled(d *appsv1.Deployment) { d.Labels = nil }

// faster adds an argument to our container. fast does the same and returns the Deployment.
func faster(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Args = []string{"--fast"} }
func fast(d *appsv1.Deployment) *appsv1.Deployment {
	faster(d)
	return d
}

// onlyProxy replaces our container with somebody's sidecar.
func onlyProxy(d *appsv1.Deployment) {
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "proxy", Image: "proxy:7"}}
}

func puts(n int) string {
	if n == 1 {
		return "1 PUT"
	}
	return fmt.Sprintf("%d PUTs", n)
}

// compare reports every field in which the server's Deployment isn't as it should be.
func compare(t *testing.T, want, got *appsv1.Deployment) {
	t.Helper()
	wantFields, gotFields := fields(want), fields(got)
	all := maps.Clone(wantFields)
	maps.Copy(all, gotFields)
	for _, field := range slices.Sorted(maps.Keys(all)) {
		want, expected := wantFields[field]
		switch got, found := gotFields[field]; {
		case !found:
			t.Errorf("%s is gone, want %s", field, want)
		case !expected:
			t.Errorf("%s is %s, want none", field, got)
		case got != want:
			t.Errorf("%s is %s, want %s", field, got, want)
		}
	}
}

// fields returns all fields of a Deployment that have a value, by path. It leaves out the
// resourceVersion.
func fields(deployment *appsv1.Deployment) map[string]string {
	found := map[string]string{}
	if deployment == nil {
		return found
	}
	encoded, _ := json.Marshal(deployment)
	var decoded map[string]any
	json.Unmarshal(encoded, &decoded)
	collect(found, "", decoded)
	delete(found, "metadata.resourceVersion")
	return found
}

func collect(found map[string]string, path string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			collect(found, strings.TrimPrefix(path+"."+key, "."), inner)
		}
	case []any:
		for i, inner := range value {
			index := fmt.Sprint(i)
			if object, ok := inner.(map[string]any); ok && object["name"] != nil {
				index = fmt.Sprint(object["name"])
				delete(object, "name")
			}
			collect(found, path+"["+index+"]", inner)
		}
	case string:
		found[path] = fmt.Sprintf("%q", value)
	default:
		found[path] = fmt.Sprint(value)
	}
}
