package stored

// Tests with a fake etcd. TestStored in cmd/workshop reads a real one.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"

	"example.com/operators/scripts/internal/apitest"
)

// fakeEtcd answers ranges as etcd does: keys from "key" on and before "range_end", in order.
func fakeEtcd(t *testing.T, entries map[string][]byte) *Etcd {
	t.Helper()
	_, config := apitest.Start(t, func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Key   []byte `json:"key"`
			End   []byte `json:"range_end"`
			Limit int    `json:"limit"`
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || r.URL.Path != "/v3/kv/range" {
			t.Errorf("%s: %v", r.URL, err)
		}
		var found []entry
		for key, value := range entries {
			if key >= string(asked.Key) && key < string(asked.End) {
				found = append(found, entry{[]byte(key), value})
			}
		}
		slices.SortFunc(found, func(a, b entry) int { return bytes.Compare(a.Key, b.Key) })
		found = found[:min(len(found), asked.Limit)]
		if err := json.NewEncoder(w).Encode(map[string]any{"kvs": found}); err != nil {
			t.Error(err)
		}
	})
	etcd, err := Connect(config)
	if err != nil {
		t.Fatal(err)
	}
	return etcd
}

func TestAllPagesAreRead(t *testing.T) {
	entries := map[string][]byte{}
	for i := range 2*pageSize + 1 {
		entries[fmt.Sprintf("/registry/example.com/foos/shop/foo-%03d", i)] = []byte(`{"apiVersion":"example.com/v1","kind":"Foo"}`)
	}
	entries["/registry/example.com/foosball/shop/other"] = []byte(`{"apiVersion":"example.com/v2"}`)
	got, err := fakeEtcd(t, entries).Objects(t.Context(), schema.GroupResource{Group: "example.com", Resource: "foos"})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2*pageSize+1 {
		t.Fatalf("%d objects", len(got))
	}
	for i, object := range got {
		if object.Namespace != "shop" || object.Name != fmt.Sprintf("foo-%03d", i) || object.APIVersion != "example.com/v1" {
			t.Errorf("object %d: %+v", i, object)
		}
	}
}

func TestBuiltInObjectsAreProtobuf(t *testing.T) {
	service := &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       corev1.ServiceSpec{ClusterIP: "10.0.0.7"},
	}
	var value bytes.Buffer
	if err := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(service, &value); err != nil {
		t.Fatal(err)
	}
	etcd := fakeEtcd(t, map[string][]byte{"/registry/services/specs/shop/web": value.Bytes()})
	got, err := etcd.Objects(t.Context(), schema.GroupResource{Resource: "services"})
	if err != nil || len(got) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	content, err := got[0].YAML()
	if err != nil || got[0].APIVersion != "v1" {
		t.Fatalf("%+v, %v", got[0], err)
	}
	for _, want := range []string{"apiVersion: v1\n", "kind: Service\n", "clusterIP: 10.0.0.7\n"} {
		if !strings.Contains(string(content), want) {
			t.Errorf("no %q in:\n%s", want, content)
		}
	}
}

func TestAnUnreadableObjectIsNamed(t *testing.T) {
	etcd := fakeEtcd(t, map[string][]byte{"/registry/example.com/foos/a": []byte("encrypted")})
	_, err := etcd.Objects(t.Context(), schema.GroupResource{Group: "example.com", Resource: "foos"})
	if err == nil || !strings.Contains(err.Error(), "/registry/example.com/foos/a") {
		t.Errorf("got %v", err)
	}
}

func TestKeys(t *testing.T) {
	for resource, want := range map[schema.GroupResource]string{
		{Resource: "pods"}:                                         "/registry/pods/",
		{Resource: "nodes"}:                                        "/registry/minions/",
		{Group: "schedule.rs", Resource: "tdsets"}:                 "/registry/schedule.rs/tdsets/",
		{Group: "apps", Resource: "deployments"}:                   "/registry/apps/deployments/ /registry/deployments/",
		{Group: "apiregistration.k8s.io", Resource: "apiservices"}: "/registry/apiregistration.k8s.io/apiservices/ /registry/apiservices/",
	} {
		if got := strings.Join(prefixes(resource), " "); got != want {
			t.Errorf("%s: %s, want %s", resource, got, want)
		}
	}
}
