/// What a node is for, as written in the configuration.
public enum ConfiguredRole: String, CaseIterable, Sendable { case agent, relay, collector, viewer }

/// Whether frames are encrypted; the other side has a say too.
public enum ConfiguredEncryption: String, CaseIterable, Sendable { case none, optional, required }

/// The one file that configures a node, decoded and checked.
public struct Settings: Sendable {
    public var name: String
    public var network: String
    /// Raw secrets, 16 bytes each; the first is used, all are accepted.
    public var secrets: [[UInt8]] = []
    public var secretFile: String?
    public var trustsAnybody = false
    public var role = ConfiguredRole.agent
    public var encryption = ConfiguredEncryption.required
    public var state = "/var/lib/rivulet"
    public var control = "/run/rivulet/agent.sock"
    /// Sorted by key.
    public var labels: [(key: String, value: String)] = []
    public var udp = UDPSettings()
    public var sensors: [SensorSettings] = []
    public var reportSize = 400
    public var reportWait = Duration.milliseconds(250)
    public var window = Duration.seconds(10)

    static let keys = [
        Key("name", "text, 1 to 63 bytes", "the host name", "Shown to people; identifies nothing."),
        Key("network", "text, 1 to 63 bytes", "rivulet", "The same on all nodes that shall meet."),
        Key(
            "secret", "a line from `rivulet secret`", "", "The secret itself. Better in a file."),
        Key(
            "secret-file", "path", "/etc/rivulet/secret",
            "A file with one secret a line: the first is used, all are accepted."),
        Key(
            "trust", "secret or any", "secret",
            "Who is let in: whoever knows the secret, or anybody (for trying out)."),
        Key("role", "agent, relay, collector or viewer", "agent", "What this node is for."),
        Key(
            "encryption", "none, optional or required", "required",
            "none and required refuse each other; none with optional is readable by others."),
        Key("state", "path", "/var/lib/rivulet", "Where the identity is kept."),
        Key("control", "path", "/run/rivulet/agent.sock", "Where `rivulet status` asks."),
        Key("labels", "mapping of text to text", "none", "Told to the collector with the birth."),
        Key("links", "section", "", "The ways to other nodes."),
        Key("sensors", "list of sections", "none", "What is read here."),
        Key("report", "section", "", "How readings are put together."),
        Key("collector", "section", "", "How a collector aggregates."),
    ]
    static let linkKeys = [Key("udp", "section", "", "Wi-Fi and Ethernet.")]
    static let reportKeys = [
        Key("size", "100 to 900", "400", "A report leaves when it has so many bytes."),
        Key(
            "wait", "duration up to 1min", "250ms",
            "A report leaves when its oldest reading is so old."),
    ]
    static let collectorKeys = [
        Key("window", "duration, 1s to 1h", "10s", "The span that one row of the table covers.")
    ]
}

/// Wi-Fi and Ethernet.
public struct UDPSettings: Sendable {
    public var port: UInt16 = 0
    public var interfaces: [String] = []
    public var beacon = true
    /// Addresses as written, with their places.
    public var peers: [(text: String, mark: Mark)] = []

    static let keys = [
        Key("port", "0 to 65535", "0", "Where to listen; 0 takes any free port."),
        Key(
            "interfaces", "list of names", "all that lead to neighbours",
            "The only interfaces to use."),
        Key("beacon", "true or false", "true", "Whether to look for others by multicast."),
        Key(
            "peers", "list of address:port", "none", "Nodes to try, where multicast does not reach."
        ),
    ]
}

/// One entry under `sensors`.
public struct SensorSettings: Sendable {
    public enum Driver: Sendable {
        case system(SystemSettings)
        case command(CommandSettings)
        case replay(ReplaySettings)
    }

    public struct SystemSettings: Sendable {
        public var disks: [String] = ["/"]
    }

    public struct CommandSettings: Sendable {
        public var run: [String]
        public var timeLimit: Duration
        public var name: String?
        public var unit: String
    }

    public struct ReplaySettings: Sendable {
        public var file: String
        public var speed: Int
    }

    public var driver: Driver
    public var every: Duration
    public var mark: Mark

    static let driverKey = Key("driver", "system, command or replay", "", "Which driver reads.")
    static let everyKey = Key("every", "duration, 10ms to 1d", "10s", "How often.")
    static let keysByDriver: [(name: String, keys: [Key])] = [
        (
            "system",
            [
                driverKey, everyKey,
                Key("disks", "list of paths", "[/]", "File systems whose use is read."),
            ]
        ),
        (
            "command",
            [
                driverKey, everyKey,
                Key(
                    "run", "list: program and arguments", "",
                    "Prints a number, a JSON object of numbers, or InfluxDB lines. No shell."),
                Key("time-limit", "duration, 10ms to 10min", "10s", "Longer is an error."),
                Key(
                    "name", "text", "the program's name", "The channel of a lone number."),
                Key("unit", "SenML unit", "1", "The unit, where a number is printed."),
            ]
        ),
        (
            "replay",
            [
                driverKey, everyKey,
                Key(
                    "file", "path", "", "CSV: a first column `time` in seconds, a column a channel."
                ),
                Key("speed", "1 to 1000", "1", "How many times as fast as it was recorded."),
            ]
        ),
    ]
    /// Drivers of versions to come.
    static let laterDrivers = ["iio", "hwmon", "thermal", "w1", "gpio", "ble", "serial", "i2c"]
}
