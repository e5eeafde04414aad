//go:build check || solution

// The tests of Sync. They fill the cache themselves, and then check that its objects haven't
// changed. client-go has a detector for such changes, but an environment variable turns it on when
// a program starts, so it is of no use for a single test.
//
// As given, Sync changes a label in the cache, and copies a template even if it only reads it.
// `workshop test` checks these failures:
//
// fails: TestSync/other labels, but not the team's: both are set
// says: the cached Deployment was changed
//
// fails: TestSync/only the template has the team's label: the Deployment gets it, too
// says: Sync sent nothing
//
// fails: TestSync/another team's labels: both are set
// says: the cached Deployment was changed
//
// fails: TestARefusedUpdateIsSentAgain
// says: 2 calls sent 0 updates, want 2
//
// fails: TestAReadCopiesNothing
// says: Sync makes a copy, although both labels are right

package mutatedcache

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appslisters "k8s.io/client-go/listers/apps/v1"
	"k8s.io/client-go/tools/cache"
)

type labels = map[string]string

func TestSync(t *testing.T) {
	for sentence, test := range map[string]struct {
		own, template         labels // of the Deployment in the cache, and of its template
		wantOwn, wantTemplate labels // of the Deployment that is sent; both nil: nothing is sent
	}{
		"no labels at all: both are set": {
			wantOwn: labels{"team": "blue"}, wantTemplate: labels{"team": "blue"},
		},
		"other labels, but not the team's: both are set": {
			own: labels{"app": "shop"}, template: labels{"app": "nginx"},
			wantOwn: labels{"app": "shop", "team": "blue"}, wantTemplate: labels{"app": "nginx", "team": "blue"},
		},
		"only the template has the team's label: the Deployment gets it, too": {
			own: labels{"app": "shop"}, template: labels{"team": "blue"},
			wantOwn: labels{"app": "shop", "team": "blue"}, wantTemplate: labels{"team": "blue"},
		},
		"only the Deployment has the team's label: the template gets it, too": {
			own: labels{"team": "blue"}, template: labels{"app": "nginx"},
			wantOwn: labels{"team": "blue"}, wantTemplate: labels{"app": "nginx", "team": "blue"},
		},
		"another team's labels: both are set": {
			own: labels{"team": "red"}, template: labels{"team": "red"},
			wantOwn: labels{"team": "blue"}, wantTemplate: labels{"team": "blue"},
		},
		"both labels are right: nothing is sent": {
			own: labels{"team": "blue"}, template: labels{"team": "blue"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			cached := deployment(test.own, test.template)
			before := cached.DeepCopy()
			l := newLabeler(t, cached)
			var sent []*appsv1.Deployment
			l.Update = func(_ context.Context, d *appsv1.Deployment) error {
				sent = append(sent, d)
				return nil
			}

			if err := l.Sync(t.Context(), "default", "web"); err != nil {
				t.Errorf("the error is %q, want none", err)
			}

			if !equality.Semantic.DeepEqual(cached, before) {
				t.Errorf("the cached Deployment was changed: it had %s,\nand now has %s", describe(before), describe(cached))
			}
			want := before.DeepCopy()
			want.Labels, want.Spec.Template.Labels = test.wantOwn, test.wantTemplate
			switch wantNone := test.wantOwn == nil; {
			case wantNone && len(sent) > 0:
				t.Errorf("Sync sent a Deployment with %s, want nothing", describe(sent[0]))
			case !wantNone && len(sent) == 0:
				t.Errorf("Sync sent nothing, want a Deployment with %s", describe(want))
			case !wantNone && (len(sent) > 1 || !equality.Semantic.DeepEqual(sent[0], want)):
				t.Errorf("Sync sent %d Deployments, the first with %s,\nwant one with %s, and no other changes", len(sent), describe(sent[0]), describe(want))
			}
		})
	}
}

// If you put the label into the cache and the write is refused, the next call finds the label there
// and sends nothing.
func TestARefusedUpdateIsSentAgain(t *testing.T) {
	l := newLabeler(t, deployment(labels{"app": "shop"}, labels{"team": "blue"}))
	sent := 0
	l.Update = func(context.Context, *appsv1.Deployment) error {
		sent++
		return errors.New("forbidden")
	}

	for range 2 {
		if err := l.Sync(t.Context(), "default", "web"); err == nil {
			t.Error("the error is <nil>, want the server's, which refuses every update")
		}
	}

	if sent != 2 {
		t.Errorf("2 calls sent %d updates, want 2", sent)
	}
}

func TestAMissingDeploymentIsNoError(t *testing.T) {
	if err := newLabeler(t).Sync(t.Context(), "default", "web"); err != nil {
		t.Error(err)
	}
}

// A controller reads an object a thousand times for each write. This test detects a copy by the
// memory that is allocated for it. There are a thousand labels, so that a copy is easy to see.
func TestAReadCopiesNothing(t *testing.T) {
	many := labels{"team": "blue"}
	for i := range 1000 {
		many[fmt.Sprint("label-", i)] = "x"
	}
	l := newLabeler(t, deployment(many, maps.Clone(many)))
	copying := bytesFor(func() { copied = maps.Clone(many) })

	reading := bytesFor(func() {
		if err := l.Sync(t.Context(), "default", "web"); err != nil {
			t.Error(err)
		}
	})

	if reading >= copying {
		t.Errorf("Sync makes a copy, although both labels are right: it allocates %d bytes,\n"+
			"and a copy of the Deployment's labels needs %d", reading, copying)
	}
}

// bytesFor returns how many bytes of memory a call allocates. It measures the second call, because
// the first one may allocate more.
func bytesFor(call func()) uint64 {
	var before, after runtime.MemStats
	call()
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// copied keeps the compiler from optimizing an unused copy away.
var copied labels

// newLabeler returns a Labeler for the team blue, whose cache contains only these Deployments.
// Its Update does nothing.
func newLabeler(t *testing.T, cached ...*appsv1.Deployment) *Labeler {
	t.Helper()
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	for _, d := range cached {
		if err := indexer.Add(d); err != nil {
			t.Fatal(err)
		}
	}
	return &Labeler{
		Team:        "blue",
		Deployments: appslisters.NewDeploymentLister(indexer),
		Update:      func(context.Context, *appsv1.Deployment) error { return nil },
	}
}

// describe returns the part of a Deployment that this exercise is about.
func describe(d *appsv1.Deployment) string {
	return fmt.Sprintf("the labels %v, in the template %v", d.Labels, d.Spec.Template.Labels)
}

func deployment(own, template labels) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", ResourceVersion: "7", Labels: own},
		Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: template},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "nginx", Image: "nginx:latest"}}},
		}},
	}
}
