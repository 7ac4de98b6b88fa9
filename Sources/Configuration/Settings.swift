import NearbyCore
import Telemetry

/// What a node is for, as written in the configuration.
public enum ConfiguredRole: String, CaseIterable, Sendable { case agent, relay, collector, viewer }

/// Whether frames are encrypted; the other side has a say too.
public enum ConfiguredEncryption: String, CaseIterable, Sendable { case none, optional, required }

/// Whether Avahi's daemon is used where it runs.
public enum ConfiguredAvahi: String, CaseIterable, Sendable { case auto, off }

/// The one file that configures a node, decoded and checked.
public struct Settings: Sendable {
    /// Where this was read; for messages.
    public var file = ""
    /// 1–63 bytes.
    public var name: String
    /// 1–15 of a–z, 0–9 and hyphen.
    public var network: String
    public var trust: TrustSettings
    public var role: ConfiguredRole
    /// Those that count as collectors, at most 32; empty: all that are admitted as such.
    public var collectors: [PeerID] = []
    public var encryption: ConfiguredEncryption
    public var state: String
    public var control: String
    /// Sorted by key; at most 16.
    public var labels: [(key: String, value: String)] = []
    /// What is allowed, and hardly meant; in the file's order.
    public var warnings: [Mistake] = []
    public var udp: UDPSettings
    public var avahi: ConfiguredAvahi
    public var bluetooth: BluetoothSettings
    /// At most 64.
    public var sensors: [SensorSettings] = []
    public var statusLED: StatusLEDSettings?
    var secret = SecretSettings()
    /// What an agent does with readings.
    var sending = SendingSettings()
    /// What a collector does with them.
    var collecting = CollectingSettings()

    /// The whole file's keys. What is below `alarms`, `outputs`, `web` and `agents` is decoded by
    /// `CollectorSettings`.
    package static let file = KeyTable(
        "the configuration",
        [
            Key(
                "name", .text(1...63), .described("the host name"),
                "Shown to people; identifies nothing."),
            Key(
                "network", .networkName, .value("rivulet"),
                "The same on all nodes that are to find each other."),
            Key(
                "secret", .secret, .described("none"), "The network's secret. Better in a file."),
            Key(
                "secret-file", .path, .value("/etc/rivulet/secret"),
                "A file with one secret a line: the first is used, all are accepted. "
                    + "Only its owner may be able to read it."),
            Key(
                "trust", .sectionOrWord(["secret", "any"]), .value("secret"),
                "Who is let in: whoever knows the secret, or anybody (for trying out); as a "
                    + "section, only certain nodes, by their keys or certificates. These need to "
                    + "know the secret too where `secret` or `secret-file` is given."),
            Key(
                "role", .choice(ConfiguredRole.allCases.map(\.rawValue)), .value("agent"),
                "What this node is for. A viewer receives copies of readings, and stores and "
                    + "confirms nothing."),
            Key(
                "collectors", .list(element: "a PeerID as `rivulet status` shows it", most: 32),
                .described("all that call themselves so"),
                "The only nodes that count as collectors here: readings go to no other, and no "
                    + "other's receipts count; a collector goes by no clock but its own and "
                    + "theirs. Without it every member that calls itself a collector is one."),
            Key(
                "encryption", .choice(ConfiguredEncryption.allCases.map(\.rawValue)),
                .value("required"),
                "none and required refuse each other; none with optional is readable by others."),
            Key(
                "state", .path, .value("/var/lib/rivulet"),
                "Where identity and spool are kept; each process needs a directory of its own."),
            Key(
                "control", .text(1...107), .value("/run/rivulet/agent.sock"),
                "The socket where `rivulet status` asks."),
            Key(
                "labels", .pairs(most: 16), .described("none"),
                "Sent to the collector when the agent starts. At most 63 bytes each."),
            Key("links", .section, .described(""), "Links to other nodes."),
            Key("sensors", .sections(most: 64), .described("none"), "What is read here."),
            Key(
                "status-led", .section, .described("none"),
                "A light that shows what the agent does: a flash a second while it starts, even "
                    + "blinking without a collector, steady with one, fast for a fault."),
            Key("report", .section, .described(""), "How readings are put together."),
            Key(
                "journal", .section, .described(""),
                "Where readings wait until a collector has stored them."),
            Key("collector", .section, .described(""), "How a collector stores and aggregates."),
            Key(
                "alarms", .sections(most: 64), .described("none"),
                "At a collector or viewer: conditions on channels and on the silence of nodes, and "
                    + "who is notified. Reloaded with SIGHUP."),
            Key(
                "outputs", .sections(most: 16), .described("none"),
                "Where a collector delivers the readings of its store: files, databases, brokers. "
                    + "Reloaded with SIGHUP."),
            Key(
                "web", .section, .described("none"),
                "At a collector or viewer: a web page with the nodes, their readings and the mesh. "
                    + "Reloaded with SIGHUP."),
            Key(
                "agents", .sections(most: 512), .described("as they say"),
                "At a collector or viewer: other names, labels and units for agents whose own "
                    + "configuration is not to be changed. The database keeps what agents send; "
                    + "tables, the page, outputs and `rivulet query` show this. Reloaded with "
                    + "SIGHUP."),
        ])

    package static let links = KeyTable(
        "links",
        [
            Key("udp", .sectionOrWord(["off"]), .described(""), "Wi-Fi and Ethernet."),
            Key(
                "avahi", .choice(ConfiguredAvahi.allCases.map(\.rawValue)), .value("auto"),
                "Whether to be found, and to find others, through Avahi's daemon (DNS-SD, "
                    + "`_<network>._udp`) while it runs."),
            Key(
                "bluetooth", .sectionOrWord(["auto", "off"]), .value("auto"),
                "Bluetooth LE; auto uses it where there is a controller and the permissions "
                    + "(CAP_NET_ADMIN and CAP_NET_RAW)."),
        ])

    package static let report = KeyTable(
        "report",
        [
            Key(
                "size", .size(100...900), .value("400"),
                "A report leaves when it has so many bytes."),
            Key(
                "wait", .duration(.zero ... .seconds(60)), .value("250ms"),
                "A report leaves when its oldest reading is so old, or at once if no sensor is due "
                    + "by then."),
        ])

    package static let journal = KeyTable(
        "journal",
        [
            Key(
                "memory", .size((64 << 10)...(256 << 20)), .value("4MiB"),
                "What waiting readings may take in memory; then the oldest go to disk, or are lost."
            ),
            Key(
                "spool", .size(0...(16 << 30)), .value("64MiB"),
                "What they may take on disk, below `state`; then the oldest are lost. "
                    + "0: nothing goes to disk."),
            Key(
                "spool-after", .duration(.seconds(1) ... .seconds(3_600)), .value("30s"),
                "How long readings wait in memory only. Shorter loses less to a power cut while "
                    + "no collector is in reach, and wears the card more."),
        ])

    package static let collector = KeyTable(
        "collector",
        [
            Key(
                "store", .pathOrOff, .described("`readings.sqlite` in `state`"),
                "The database; `off` stores nothing, and then agents keep their readings."),
            Key(
                "keep", .duration(.seconds(3_600) ... .seconds(36_500 * 86_400)), .value("90d"),
                "Older readings are deleted, but only while the clock is known to be right."),
            Key(
                "window", .duration(.seconds(1) ... .seconds(3_600)), .value("10s"),
                "The span that one row of the table covers."),
            Key(
                "series-per-agent", .integer(1...65_536), .value("4096"),
                "Channels of one agent that windows are shown for, those of its last runs "
                    + "included. What is beyond is stored only."),
            Key(
                "readings-per-agent", .integer(1...1_000_000), .value("10000"),
                "Readings a second that one agent may bring. Beyond, they are not taken: the agent "
                    + "keeps them, and sends them again."),
            Key(
                "store-per-agent", .size((1 << 20)...(1 << 40)), .value("4GiB"),
                "What one agent may add to the database in a day, by 64 bytes a reading; never "
                    + "more than a quarter of what is free on its disk. Counted anew when the "
                    + "collector starts."),
        ])
}

/// Wi-Fi and Ethernet.
public struct UDPSettings: Sendable {
    public var isOn: Bool
    /// 0 takes any free port.
    public var port: UInt16
    /// Empty: all that lead to neighbours. At most 16.
    public var interfaces: [String]
    public var beacon: Bool
    /// Addresses as written, with their places; each has a host and a port. At most 64.
    public var peers: [(text: String, mark: Mark)]

    static let table = KeyTable(
        "links.udp",
        [
            Key(
                "port", .integer(0...65_535), .value("0"),
                "Where to listen; 0 takes any free port."),
            Key(
                "interfaces", .list(element: "an interface's name such as wlan0", most: 16),
                .described("all that lead to neighbours"),
                "The only interfaces to use: nothing is received or sent over others."),
            Key("beacon", .flag, .value("true"), "Whether to look for others by multicast."),
            Key(
                "peers",
                .list(
                    element: "an address with a port such as \"10.0.0.5:4577\", "
                        + "\"[fd00::5]:4577\" or \"[fe80::1%eth0]:4577\"", most: 64),
                .described("none"), "Nodes to try, where multicast does not reach."),
        ], later: ["beacon-port", "multicast"])
}
