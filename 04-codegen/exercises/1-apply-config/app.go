// What an App asks for. You don't need to change anything here.

package applyconfig

// App asks for a Deployment with the same name. It has more fields than a Foo, and one of them is
// optional.
type App struct {
	Namespace, Name string
	// Image is the image of the container, which is called app.
	Image string
	// Replicas is the number of Pods. If it is nil, someone else may choose the number, such as an
	// autoscaler.
	Replicas *int32
	// Paused pauses rollouts. It isn't optional: false means that rollouts must not be paused.
	Paused bool
}

// fieldOwner is the controller's name in managedFields.
const fieldOwner = "app-controller"
