// What an App asks for. Given: there is nothing to do here.

package applyconfig

// App asks for a Deployment of its name. It has more to say than a Foo, and doesn't always say it.
type App struct {
	Namespace, Name string
	// Image is what the container runs. The container is called app.
	Image string
	// Replicas is the number of Pods. nil: the App doesn't mind, and somebody else may choose, such as an autoscaler.
	Replicas *int32
	// Paused holds rollouts back. An App always minds: false says that they go on.
	Paused bool
}

// fieldManager is the name under which the controller owns fields.
const fieldManager = "app-controller"
