package museum

// This file is the declaration: every exhibit that there is.

const (
	// sampleController is sample-controller as it is released with the Kubernetes that the workshop's control plane is built from. It is
	// developed there, and copied into a repository of its own.
	sampleController = "https://github.com/kubernetes/kubernetes/blob/v1.36.3/staging/src/k8s.io/sample-controller/"
	// tdsetOperator is the operator of the article about TDSets. The two files that were changed since are taken from the later commit.
	tdsetOperator      = "https://github.com/BackAged/tdset-operator/blob/9960c545f2daf6759381b258fb2cac9c023e71a3/"
	tdsetOperatorLater = "https://github.com/BackAged/tdset-operator/blob/b6fc9a9cda2ebd7b53d49c18cba23b4507a3f72b/"

	clientGo          = "https://github.com/kubernetes/client-go/blob/v0.37.2/"
	apimachinery      = "https://github.com/kubernetes/apimachinery/blob/v0.37.2/"
	cliRuntime        = "https://github.com/kubernetes/cli-runtime/blob/v0.36.3/"
	controllerRuntime = "https://github.com/kubernetes-sigs/controller-runtime/blob/v0.25.2/"

	contract      = "scripts/acceptance/contract_test.go"
	tdsetContract = "scripts/acceptance/tdset_contract_test.go"
	fooMuseum     = "04-codegen/museum_test.go"
	tdsetMuseum   = "07-tdset-operator/internal/controller/museum_test.go"
	crdPitfalls   = "05-controller-runtime/pitfalls_crd_test.go"

	wrongWay, ourWay = "/the wrong way", "/our way"
)

// Origins are all exhibits, by where they are from.
func Origins() []Origin {
	return []Origin{
		{"From sample-controller", fromSampleController()},
		{"From BackAged's tdset-operator", fromTDSetOperator()},
		{"From everywhere", fromEverywhere()},
	}
}

// chapter is a section of a chapter's README, and exercise the text of one.
func chapter(folder, heading, words string) Section {
	return Section{folder + "/README.md", heading, words}
}

func exercise(folder, words string) Section { return Section{folder + "/README.md", "", words} }

// checked is a test of an exercise: it fails as given and passes as solved, so it shows both.
func checked(folder, name string) []Test { return []Test{{folder + "/exercise_test.go", name}} }

func fromSampleController() []Exhibit {
	const (
		renamed = "TestMuseum/a rename leaves two Deployments with one selector"
		deleted = "TestMuseum/a Foo that is being deleted gets its Deployment back"

		rename     = "01-raw-watch/exercises/4-rename"
		lostUpdate = "01-raw-watch/exercises/3-lost-update"
		resync     = "02-informers/exercises/4-resync"
		owner      = "03-workqueue/exercises/2-owner"
		hurry      = "03-workqueue/exercises/4-hurry"

		byKind   = "TestOwnerOf/a Foo of somebody else's group controls it"
		limited  = "TestClientConfig/a thousand requests leave at once"
		settled  = "TestOnUpdate/nothing has changed: resyncs send nothing"
		wiped    = "TestUpdate/what others have set stays"
		endpoint = "TestAStatusWithoutItsSubresource"
	)
	return []Exhibit{{
		Bug: "A rename leaves two Deployments with one selector",
		Shown: []Section{
			chapter("04-codegen", "What sample-controller does", "two Deployments with one selector"),
			exercise(rename, "makes a Deployment of the new name and forgets the old one"),
		},
		Fails:    []Test{{fooMuseum, renamed + wrongWay}},
		Mended:   []Test{{fooMuseum, renamed + ourWay}, {contract, "TestContract/B5 rename: the new one is made, then the old one deleted"}},
		Upstream: []Place{{sampleController + "controller.go", "syncHandler"}},
	}, {
		Bug: "An update sends the Deployment that would be made, and so wipes others' annotations and containers",
		Shown: []Section{
			chapter("04-codegen", "What others own", "sample-controller sends the Deployment that it would have made, and both are gone"),
			exercise(lostUpdate, "somebody's annotations are gone"),
		},
		Fails:    checked(lostUpdate, wiped),
		Mended:   append(checked(lostUpdate, wiped), Test{contract, "TestContract/B4 drift: other people's fields are left alone"}),
		Upstream: []Place{{sampleController + "controller.go", "syncHandler"}, {sampleController + "controller.go", "newDeployment"}},
	}, {
		Bug: "A status and an event are written for each Foo at every resync",
		Shown: []Section{
			chapter("02-informers", "Resyncs that write", "sample-controller writes a status and an event for each Foo, each time"),
			exercise(resync, "a resync calls it with every Foo"),
		},
		Fails:    checked(resync, settled),
		Mended:   append(checked(resync, settled), Test{contract, "TestContract/B9 quiet: events that change nothing cause no write"}),
		Upstream: []Place{{sampleController + "controller.go", "updateFooStatus"}, {sampleController + "main.go", "main"}},
	}, {
		Bug:      "A Foo that is being deleted gets its Deployment back",
		Shown:    []Section{chapter("04-codegen", "What sample-controller does", "The Foo that is being deleted gets its Deployment back")},
		Fails:    []Test{{fooMuseum, deleted + wrongWay}},
		Mended:   []Test{{fooMuseum, deleted + ourWay}, {contract, "TestContract/B7 delete: a Foo that is being deleted gets nothing"}},
		Upstream: []Place{{sampleController + "controller.go", "syncHandler"}},
	}, {
		Bug: "Whose a Deployment is, is judged by its owner's kind alone",
		Shown: []Section{
			chapter("03-workqueue", "Someone else's Deployment", "it looks at the owner's kind alone"),
			exercise(owner, "judges ownership as sample-controller does, by the owner's kind"),
		},
		Fails:    checked(owner, byKind),
		Mended:   append(checked(owner, byKind), Test{contract, "TestContract/B6 refusal: another Foo's Deployment"}),
		Upstream: []Place{{sampleController + "controller.go", "handleObject"}},
	}, {
		Bug: "The client sends 5 requests a second: three hundred Deployments take a minute",
		Shown: []Section{
			chapter("03-workqueue", "A limit on all keys together", "5 requests a second unless config.QPS says otherwise"),
			exercise(hurry, "it takes minutes until the last Deployment is there"),
		},
		Fails:    checked(hurry, limited),
		Mended:   append(checked(hurry, limited), Test{"03-workqueue/main_test.go", "TestLoadConfigSetsNoLimit"}),
		Upstream: []Place{{sampleController + "main.go", "main"}},
	}, {
		Bug:      "One of its CRDs lacks the subresource status, so the status can't be written",
		Shown:    []Section{chapter("05-controller-runtime", "A status without its subresource", "lacks the subresource status")},
		Fails:    []Test{{crdPitfalls, endpoint + "/the CRD has no subresource status"}},
		Mended:   []Test{{crdPitfalls, endpoint + "/the CRD has one"}, {contract, "TestContract/B3 status: follows the Deployment"}},
		Upstream: []Place{{sampleController + "artifacts/examples/crd.yaml", ""}, {sampleController + "controller.go", "updateFooStatus"}},
	}}
}

func fromTDSetOperator() []Exhibit {
	const (
		seven      = "07-tdset-operator"
		unit       = seven + "/internal/controller/"
		reconciler = tdsetOperatorLater + "controllers/tdset_controller.go"
		deployment = tdsetOperatorLater + "controllers/deployment.go"
		types      = tdsetOperator + "api/v1/tdset_types.go"
	)
	// exhibit is one of chapter 07's museum, of that name there. What else shows the mend is more.
	exhibit := func(bug string, shown Section, name string, more Test, upstream ...Place) Exhibit {
		return Exhibit{
			Bug:      bug,
			Shown:    []Section{shown},
			Fails:    []Test{{tdsetMuseum, "TestMuseum/" + name + wrongWay}},
			Mended:   []Test{{tdsetMuseum, "TestMuseum/" + name + ourWay}, more},
			Upstream: upstream,
		}
	}
	return []Exhibit{
		exhibit("A Deployment that has the name is scaled, whoever owns it",
			chapter(seven, "Whose Deployment is it?", "looks the Deployment up by its name, finds one, and scales it"),
			"a Deployment of somebody else is scaled",
			Test{tdsetContract, "TestTDSets/T8 refusal: somebody else's Deployment"},
			Place{deployment, "UpdateDeploymentReplica"}),
		exhibit("An update's error is swallowed, so one conflict costs a whole interval",
			chapter(seven, "An error that nobody heard", "Whoever swallows an error"),
			"one conflict costs a whole interval",
			Test{unit + "errors_test.go", "TestAConflict"},
			Place{deployment, "UpdateDeploymentReplica"}),
		exhibit("After a build that has failed, the Deployment is nil and is used",
			chapter(seven, "Nothing was built", "It panics, at the next line that touches the Deployment"),
			"a Deployment that could not be built is used",
			Test{unit + "tdset_controller_test.go", "TestAnInvalidScheduleFromTheStart"},
			Place{deployment, "DeploymentIfNotExist"}),
		exhibit("A changed image is never rolled out",
			chapter(seven, "Half of the spec", "an image counts when the Deployment is made and never again"),
			"an image that was changed is ignored",
			Test{tdsetContract, "TestTDSets/T5 image: a change of image or port is rolled out"},
			Place{reconciler, "Reconcile"}, Place{deployment, "UpdateDeploymentReplica"}),
		exhibit("The hour 23 is in no window, and one that ends at midnight or after it never matches",
			chapter(seven, "Midnight", "which window can have the hour from 23 to 24"),
			"hour 23 and windows up to midnight never match",
			Test{tdsetContract, "TestTDSets/T3 midnight: a window that ends there, and the hour after it"},
			Place{tdsetOperator + "controllers/schedule.go", "GetExpectedReplica"}, Place{types, "Scheduling"}),
		exhibit("Conditions are stuck at Unknown",
			chapter(seven, "Unknown for ever", "Available=Unknown"),
			"conditions are stuck at Unknown",
			Test{unit + "conditions_test.go", "TestConditionsOfADeployment"},
			Place{tdsetOperator + "controllers/tdset.go", "SetCondition"}),
		exhibit("A Service can be asked for, and is never made",
			chapter(seven, "Half of the spec", "the Service was in the types alone"),
			"a Service is declared and never made",
			Test{tdsetContract, "TestTDSets/T6 service: comes, changes and goes with spec.service"},
			Place{types, "Service"}, Place{reconciler, "Reconcile"}),
		exhibit("A TDSet that is being deleted gets a new Deployment",
			chapter(seven, "Up while going down", "It makes a new one, whose owner is going"),
			"a Deployment is made while its TDSet is being deleted",
			Test{tdsetContract, "TestTDSets/T9 delete: a TDSet that is being deleted gets nothing"},
			Place{reconciler, "Reconcile"}),
		exhibit("It looks again after an interval, whatever the schedule says: up to a day late",
			chapter(seven, "A day late", "At the next of its visits"),
			"scaling is late by up to a day",
			Test{tdsetContract, "TestTDSets/T2 boundary: the Deployment is scaled when a window begins"},
			Place{reconciler, "Reconcile"}),
	}
}

func fromEverywhere() []Exhibit {
	const (
		tombstone = "02-informers/exercises/1-tombstone"
		mutated   = "02-informers/exercises/2-mutated-cache"
		stale     = "03-workqueue/exercises/3-stale-read"

		aTombstone = "TestOnDelete/a tombstone: the Foo of the last state that the cache had"
		aLabel     = "TestSync/no label yet, beside others: both are set"
		tooMany    = "TestSyncWithACacheThatIsBehind/the Foo's turn comes again and again before any event"
		tooLate    = "TestMuseum/a finalizer is added to a TDSet that is being deleted"

		five   = "05-controller-runtime"
		noCRD  = "Before the CRD is there"
		before = "TestBeforeTheCRDIsThere"
	)
	return []Exhibit{{
		Bug: "A delete handler panics at its first tombstone",
		Shown: []Section{
			chapter("02-informers", "A deletion that nobody saw", "A handler that begins with obj.(appsv1.Deployment), as in many examples, works for years and then panics"),
			exercise(tombstone, "a Deployment is deleted meanwhile, and the program panics"),
		},
		Fails:    checked(tombstone, aTombstone),
		Mended:   append(checked(tombstone, aTombstone), Test{"02-informers/informers_test.go", "TestAMissedDeletionComesAsATombstone"}),
		Upstream: []Place{{clientGo + "tools/cache/delta_fifo.go", "DeletedFinalStateUnknown"}},
	}, {
		Bug: "An object in the cache is changed, and everybody who reads it is told what was never so",
		Shown: []Section{
			chapter("02-informers", "A cache that somebody changed", "KUBE_CACHE_MUTATION_DETECTOR=true"),
			exercise(mutated, "a template in the cache was found changed"),
		},
		Fails:    checked(mutated, aLabel),
		Mended:   append(checked(mutated, aLabel), Test{"02-informers/informers_test.go", "TestNoCachedObjectIsChanged"}),
		Upstream: []Place{{clientGo + "tools/cache/mutation_detector.go", "NewCacheMutationDetector"}},
	}, {
		Bug: "A cache that doesn't have yet what was just written is believed, and what it lacks is made twice",
		Shown: []Section{
			chapter(five, "A read after a write", "Whoever concludes \"there is none, so make one\" makes two"),
			exercise(stale, "Foos get too many Pods"),
		},
		Fails:    append([]Test{{five + "/pitfalls_test.go", "TestAReadAfterAWrite/may not find what was written"}}, checked(stale, tooMany)...),
		Mended:   append(checked(stale, tooMany), Test{five + "/stale_test.go", "TestAStaleCacheMakesNothingTwice"}),
		Upstream: []Place{{controllerRuntime + "FAQ.md", "My cache might be stale"}},
	}, {
		Bug:   "CreateOrUpdate updates each time, since what it reads has defaults",
		Shown: []Section{chapter(five, "An update each time", "It updates each time, for ever")},
		Fails: []Test{{five + "/pitfalls_test.go", "TestAnUpdateEachTime/the whole spec is set"}},
		Mended: []Test{
			{five + "/pitfalls_test.go", "TestAnUpdateEachTime/the fields that are meant are set"},
			{five + "/apply_test.go", "TestNothingIsAppliedForNothing"},
		},
		Upstream: []Place{{controllerRuntime + "pkg/controller/controllerutil/controllerutil.go", "CreateOrUpdate"}},
	}, {
		Bug: "A finalizer is added to an object that is being deleted, and refused for ever",
		Shown: []Section{
			chapter("07-tdset-operator", "Up while going down", "the API server refuses a new one on an object that is being deleted"),
		},
		Fails:    []Test{{tdsetMuseum, tooLate + wrongWay}},
		Mended:   []Test{{tdsetMuseum, tooLate + ourWay}},
		Upstream: []Place{{apimachinery + "pkg/api/validation/objectmeta.go", "ValidateNoNewFinalizers"}},
	}, {
		Bug:      "An object is applied along with its CRD, and refused: its kind isn't served yet",
		Shown:    []Section{chapter(five, noCRD, "the CRD is created, and the object refused")},
		Fails:    []Test{{crdPitfalls, before + "/an object that is applied along with it"}},
		Mended:   []Test{{crdPitfalls, before + "/an object that is applied once its kind is served"}},
		Upstream: []Place{{cliRuntime + "pkg/resource/mapper.go", "infoForData"}},
	}, {
		Bug:   "A program that is started before its CRD is there ends",
		Shown: []Section{chapter(five, noCRD, "without the CRD its index can't be made, and it ends")},
		Fails: []Test{{crdPitfalls, before + "/a program that is started before it"}},
		Mended: []Test{
			{five + "/manager_test.go", "TestWaitForCRD"},
			{"scripts/acceptance/missing_crd_test.go", "TestMissingCRD/B10 bad input: a CRD that is missing is waited for"},
		},
		Upstream: []Place{{controllerRuntime + "pkg/internal/source/kind.go", "Kind.Start"}},
	}}
}
