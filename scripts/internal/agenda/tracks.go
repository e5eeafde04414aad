package agenda

// The written tracks. Their minutes are for what is shown, read and run together; an exercise's are its own.

// Track is a workshop of a certain length.
type Track struct {
	Name    string // as it is called on the command line
	Title   string
	Minutes int // how long it has, breaks included
	Parts   []Part
	// GoOn is what a leader says at the end, a sentence or two each.
	GoOn []string
}

// Part is a stretch of a track.
type Part struct {
	Chapter string // its number; "": it belongs to none, as a break
	Say     string // what bridges the gap to what was shown before; "": nothing has to
	Steps   []Step
}

// Step is one thing that the room does. It is an exercise, a section of the chapter's README, a look at what came of the exercises,
// or else What says it.
type Step struct {
	Minutes  int    // 0 for an exercise
	Exercise int    // its number
	Show     string // a heading in the chapter's README
	TalkOver bool
	What     string
	Run      string // a command: the workshop's arguments, or a whole one that begins with "./"
}

// The steps that tracks are made of.

func does(minutes int, what, run string) Step { return Step{Minutes: minutes, What: what, Run: run} }
func show(minutes int, heading string) Step   { return Step{Minutes: minutes, Show: heading} }
func exercise(number int) Step                { return Step{Exercise: number} }
func talk(minutes int) Step                   { return Step{Minutes: minutes, TalkOver: true} }
func pause(minutes int, what string) Part     { return Part{Steps: []Step{does(minutes, what, "")}} }

// What is said at the end of every track.
const (
	ownWork = "What catch-up has put aside is yours: ./scripts/workshop catch-up --restore puts it back, and the exercises that you never " +
		"touched are as they were given again."
	whereNext = "./scripts/workshop check, without a name, goes to the first exercise that you haven't passed; " +
		"progress shows them all. hint helps on, three times."
)

// Tracks are all of them, the shortest first.
func Tracks() []Track { return []Track{ninetyMinutes(), threeHours(), oneDay()} }

func ninetyMinutes() Track {
	return Track{
		Name:    "90m",
		Title:   "90 minutes: what an operator is, and why it has a queue",
		Minutes: 90,
		Parts: []Part{
			{Steps: []Step{
				does(5, "welcome; every laptop has a cluster", "status"),
				does(5, "an operator at work, in front", "demo 01"),
			}},
			{Chapter: "01", Steps: []Step{
				show(15, "A controller at work"),
				show(5, "Run it"),
				show(5, "What fails is lost"),
				exercise(1),
				talk(5),
			}},
			{
				Chapter: "03",
				Say: "Chapter 02 hands the watching to client-go's informers: a library lists, watches and resumes, and keeps a cache that is read without a " +
					"request. The work is still lost when it fails. Now it gets a queue.",
				Steps: []Step{
					does(10, "read the diff aloud: events.go, then queue.go", "diff 02 03"),
					exercise(1),
					talk(5),
				},
			},
			{Steps: []Step{does(5, "questions; where to go on", "progress")}},
		},
		GoOn: []string{
			"You have seen both ends of every operator: a watch, and a queue of keys. Chapter 02 is what stands between them, and chapter 05 the " +
				"framework that has all three.",
			"Begin with what was left out of chapter 01: its exercise 2 is the other half of today's.",
			ownWork, whereNext,
		},
	}
}

func threeHours() Track {
	return Track{
		Name:    "3h",
		Title:   "3 hours: a watch, a cache, a queue, a framework",
		Minutes: 180,
		Parts: []Part{
			{Steps: []Step{
				does(5, "welcome; every laptop has a cluster", "status"),
				does(5, "an operator at work, in front", "demo 01"),
			}},
			{Chapter: "01", Steps: []Step{
				show(15, "A controller at work"),
				show(5, "Run it"),
				show(5, "What fails is lost"),
				exercise(1),
				talk(5),
			}},
			{Chapter: "02", Steps: []Step{
				does(5, "read the diff aloud: read.go, then events.go", "diff 01 02"),
				show(5, "A deletion that nobody saw"),
				exercise(1),
				talk(5),
			}},
			pause(15, "break"),
			{Chapter: "03", Steps: []Step{
				does(10, "read the diff aloud: events.go, then queue.go", "diff 02 03"),
				show(5, "Someone else's Deployment"),
				exercise(1),
				talk(5),
			}},
			{
				Chapter: "05",
				Say: "Chapter 04 generates the clients that chapters 02 and 03 have by hand, and writes by server-side apply: a write says which fields it " +
					"means, and nobody else's are touched. Take both for given here.",
				Steps: []Step{
					show(10, "What changed"),
					show(5, "A read after a write"),
					show(5, "When does it come again?"),
					exercise(1),
					talk(5),
				},
			},
			{Steps: []Step{does(10, "which chapter survives what; questions", "test --matrix")}},
		},
		GoOn: []string{
			"You have built the same controller four times, and know what each layer takes off your hands. What you will use at work is chapter 05; " +
				"what you will debug is chapters 01 to 03.",
			"Chapter 04 was left out: read its second half, on server-side apply, before you write an operator of your own. Then chapter 06, which is " +
				"the project around it.",
			"The last exercise of chapters 01 to 06 is TDSet, the course's second operator: whoever does all of them has built it at every layer.",
			ownWork, whereNext,
		},
	}
}

func oneDay() Track {
	return Track{
		Name:    "1day",
		Title:   "One day: from the wire to a project that ships",
		Minutes: 480,
		Parts: []Part{
			{Steps: []Step{
				does(15, "welcome; every laptop has a cluster", "status"),
				does(5, "an operator at work, in front", "demo 01"),
			}},
			{Chapter: "01", Steps: []Step{
				show(15, "A controller at work"),
				show(5, "Run it"),
				show(15, "2. List, then watch from there"),
				show(5, "What fails is lost"),
				show(5, "The second writer"),
				exercise(1),
				exercise(2),
				talk(5),
			}},
			pause(15, "break"),
			{Chapter: "02", Steps: []Step{
				does(10, "read the diff aloud: read.go, then events.go", "diff 01 02"),
				show(5, "A deletion that nobody saw"),
				show(5, "The cache lags behind"),
				exercise(1),
				exercise(2),
				talk(5),
			}},
			pause(60, "lunch"),
			{Chapter: "03", Steps: []Step{
				does(10, "read the diff aloud: events.go, then queue.go", "diff 02 03"),
				show(5, "Someone else's Deployment"),
				show(5, "Two copies"),
				exercise(1),
				exercise(2),
				talk(5),
			}},
			{Chapter: "04", Steps: []Step{
				does(10, "read the diff aloud: write.go", "diff 03 04"),
				show(10, "Who owns replicas?"),
				exercise(1),
				talk(5),
			}},
			pause(15, "break"),
			{Chapter: "05", Steps: []Step{
				show(10, "What changed"),
				show(5, "A read after a write"),
				show(5, "When does it come again?"),
				show(5, "Who woke me?"),
				exercise(1),
				exercise(2),
				talk(5),
			}},
			pause(10, "break"),
			{Chapter: "06", Steps: []Step{
				show(10, "From nothing to here"),
				show(5, "A webhook that is down"),
				exercise(1),
				talk(5),
			}},
			{Chapter: "07", Steps: []Step{
				does(5, "a production operator at work, in front", "demo 07"),
				show(10, "1. The schedule"),
			}},
			{Steps: []Step{does(15, "which chapter survives what; questions", "test --matrix")}},
		},
		GoOn: []string{
			"You have built one controller at six layers. What you will use at work is chapters 05 and 06; what you will debug is chapters 01 to 04.",
			"Chapter 07 is code to copy from: time zones, a finalizer, conditions, a webhook. Read its README from the beginning.",
			"The last exercise of chapters 01 to 06 is TDSet, the operator of chapter 07: whoever does all of them has built it at every layer.",
			ownWork, whereNext,
		},
	}
}
