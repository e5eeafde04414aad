//go:build check || solution

// The tests of Relist. Each case has the known objects, and the lists that Relist gets one after
// another.
//
// As given, it reports every listed object as new. `workshop test` checks these failures:
//
// fails: TestRelist/nothing has changed: nothing is reported
// says: Relist reported [ADDED blue/a at 1, ADDED blue/b at 2], want nothing
//
// fails: TestRelist/one object has changed
// says: Relist reported [ADDED blue/a at 7, ADDED blue/b at 2], want [MODIFIED blue/a at 7]
//
// fails: TestRelist/a missing object was deleted, and is reported with its last known state
// says: Relist reported [ADDED blue/b at 2], want [DELETED blue/a at 1]
//
// fails: TestRelist/an empty list: all objects were deleted
// says: Relist reported nothing, want [DELETED blue/a at 1, DELETED blue/b at 2]
//
// fails: TestRelist/the same name with another UID: the known object was deleted, and the listed one is new
// says: Relist reported [ADDED blue/a at 30], want [DELETED blue/a at 1, ADDED blue/a at 30]
//
// fails: TestRelist/one object was deleted and another added: the deletion is reported first
// says: Relist reported [ADDED blue/b at 30], want [DELETED blue/a at 1, ADDED blue/b at 30]
//
// fails: TestRelist/one object was added and another created again: the deletion is reported first
// says: Relist reported [ADDED blue/a at 20, ADDED blue/b at 30], want [DELETED blue/b at 2, ADDED blue/a at 20, ADDED blue/b at 30]
//
// fails: TestRelist/the same name in another namespace is another object
// says: Relist reported [ADDED red/a at 2], want [DELETED blue/a at 1]
//
// fails: TestRelist/a change from resourceVersion 9 to 10, which is less as text
// says: Relist reported [ADDED blue/a at 10], want [MODIFIED blue/a at 10]
//
// fails: TestRelist/a change from resourceVersion 900 to 50, as after a restore of etcd
// says: Relist reported [ADDED blue/a at 50], want [MODIFIED blue/a at 50]
//
// fails: TestRelist/the same list twice: the second one has no changes
// says: Relist reported [ADDED blue/a at 1, ADDED blue/a at 1], want [ADDED blue/a at 1]
//
// fails: TestRelist/a deletion is reported once, not for each list
// says: Relist reported nothing, want [DELETED blue/a at 1]
//
// fails: TestRelist/an object that was deleted and created again is new
// says: Relist reported [ADDED blue/a at 30], want [DELETED blue/a at 1, ADDED blue/a at 30]
//
// fails: TestRelist/an object that was created again is known from then on
// says: Relist reported [ADDED blue/a at 30, ADDED blue/a at 30], want [DELETED blue/a at 1, ADDED blue/a at 30]
//
// fails: TestRelist/a change is reported once, not for each list
// says: Relist reported [ADDED blue/a at 7, ADDED blue/a at 7], want [MODIFIED blue/a at 7]
//
// fails: TestRelist/two changes are reported, each with the new state
// says: Relist reported [ADDED blue/a at 7, ADDED blue/a at 8], want [MODIFIED blue/a at 7, MODIFIED blue/a at 8]

package relist

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

type objects = []metav1.PartialObjectMetadata

func TestRelist(t *testing.T) {
	for sentence, test := range map[string]struct {
		known objects
		lists []objects
		want  []string // from all lists, in order
	}{
		"the first list: all objects are new": {
			lists: []objects{{object("blue/a", "uid-1", "1"), object("blue/b", "uid-2", "2")}},
			want:  []string{"ADDED blue/a at 1", "ADDED blue/b at 2"},
		},
		"nothing has changed: nothing is reported": {
			known: objects{object("blue/a", "uid-1", "1"), object("blue/b", "uid-2", "2")},
			lists: []objects{{object("blue/a", "uid-1", "1"), object("blue/b", "uid-2", "2")}},
		},
		"one object has changed": {
			known: objects{object("blue/a", "uid-1", "1"), object("blue/b", "uid-2", "2")},
			lists: []objects{{object("blue/a", "uid-1", "7"), object("blue/b", "uid-2", "2")}},
			want:  []string{"MODIFIED blue/a at 7"},
		},
		"a missing object was deleted, and is reported with its last known state": {
			known: objects{object("blue/a", "uid-1", "1"), object("blue/b", "uid-2", "2")},
			lists: []objects{{object("blue/b", "uid-2", "2")}},
			want:  []string{"DELETED blue/a at 1"},
		},
		"an empty list: all objects were deleted": {
			known: objects{object("blue/a", "uid-1", "1"), object("blue/b", "uid-2", "2")},
			lists: []objects{{}},
			want:  []string{"DELETED blue/a at 1", "DELETED blue/b at 2"},
		},
		"the same name with another UID: the known object was deleted, and the listed one is new": {
			known: objects{object("blue/a", "uid-1", "1")},
			lists: []objects{{object("blue/a", "uid-3", "30")}},
			want:  []string{"DELETED blue/a at 1", "ADDED blue/a at 30"},
		},
		"one object was deleted and another added: the deletion is reported first": {
			known: objects{object("blue/a", "uid-1", "1")},
			lists: []objects{{object("blue/b", "uid-3", "30")}},
			want:  []string{"DELETED blue/a at 1", "ADDED blue/b at 30"},
		},
		"one object was added and another created again: the deletion is reported first": {
			known: objects{object("blue/b", "uid-2", "2")},
			lists: []objects{{object("blue/a", "uid-1", "20"), object("blue/b", "uid-3", "30")}},
			want:  []string{"DELETED blue/b at 2", "ADDED blue/a at 20", "ADDED blue/b at 30"},
		},
		"the same name in another namespace is another object": {
			known: objects{object("blue/a", "uid-1", "1"), object("red/a", "uid-2", "2")},
			lists: []objects{{object("red/a", "uid-2", "2")}},
			want:  []string{"DELETED blue/a at 1"},
		},
		"a change from resourceVersion 9 to 10, which is less as text": {
			known: objects{object("blue/a", "uid-1", "9")},
			lists: []objects{{object("blue/a", "uid-1", "10")}},
			want:  []string{"MODIFIED blue/a at 10"},
		},
		"a change from resourceVersion 900 to 50, as after a restore of etcd": {
			known: objects{object("blue/a", "uid-1", "900")},
			lists: []objects{{object("blue/a", "uid-1", "50")}},
			want:  []string{"MODIFIED blue/a at 50"},
		},
		"the same list twice: the second one has no changes": {
			lists: []objects{{object("blue/a", "uid-1", "1")}, {object("blue/a", "uid-1", "1")}},
			want:  []string{"ADDED blue/a at 1"},
		},
		"a deletion is reported once, not for each list": {
			known: objects{object("blue/a", "uid-1", "1")},
			lists: []objects{{}, {}},
			want:  []string{"DELETED blue/a at 1"},
		},
		"an object that was deleted and created again is new": {
			known: objects{object("blue/a", "uid-1", "1")},
			lists: []objects{{}, {object("blue/a", "uid-3", "30")}},
			want:  []string{"DELETED blue/a at 1", "ADDED blue/a at 30"},
		},
		"an object that was created again is known from then on": {
			known: objects{object("blue/a", "uid-1", "1")},
			lists: []objects{{object("blue/a", "uid-3", "30")}, {object("blue/a", "uid-3", "30")}},
			want:  []string{"DELETED blue/a at 1", "ADDED blue/a at 30"},
		},
		"a change is reported once, not for each list": {
			known: objects{object("blue/a", "uid-1", "1")},
			lists: []objects{{object("blue/a", "uid-1", "7")}, {object("blue/a", "uid-1", "7")}},
			want:  []string{"MODIFIED blue/a at 7"},
		},
		"two changes are reported, each with the new state": {
			known: objects{object("blue/a", "uid-1", "1")},
			lists: []objects{{object("blue/a", "uid-1", "7")}, {object("blue/a", "uid-1", "8")}},
			want:  []string{"MODIFIED blue/a at 7", "MODIFIED blue/a at 8"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			known := map[types.NamespacedName]metav1.PartialObjectMetadata{}
			for _, object := range test.known {
				known[keyOf(&object)] = object
			}

			var reported []string
			for _, list := range test.lists {
				reported = append(reported, relist(known, list)...)
			}

			if !slices.Equal(reported, test.want) {
				t.Errorf("Relist reported %s, want %s", describe(reported), describe(test.want))
			}
		})
	}
}

// relist returns the events that one call reports. The order of the deletions doesn't matter, and
// neither does the order of the other events, so it sorts each of these two groups. If the groups
// are mixed, which is wrong, it leaves them as they are.
func relist(known map[types.NamespacedName]metav1.PartialObjectMetadata, listed objects) []string {
	var reported []string
	Relist(known, listed, func(eventType watch.EventType, object metav1.PartialObjectMetadata) {
		reported = append(reported, fmt.Sprintf("%s %s/%s at %s", eventType, object.Namespace, object.Name, object.ResourceVersion))
	})
	deleted := func(event string) bool { return strings.HasPrefix(event, string(watch.Deleted)) }
	rest := slices.IndexFunc(reported, func(event string) bool { return !deleted(event) })
	if rest < 0 {
		rest = len(reported)
	}
	if slices.ContainsFunc(reported[rest:], deleted) {
		return reported
	}
	slices.Sort(reported[:rest])
	slices.Sort(reported[rest:])
	return reported
}

func describe(events []string) string {
	if len(events) == 0 {
		return "nothing"
	}
	return "[" + strings.Join(events, ", ") + "]"
}

// object returns an object as it is in a list. key is its namespace and name.
func object(key, uid, resourceVersion string) metav1.PartialObjectMetadata {
	namespace, name, _ := strings.Cut(key, "/")
	return metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: name, UID: types.UID(uid), ResourceVersion: resourceVersion,
	}}
}
