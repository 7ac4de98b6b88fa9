import Testing

@testable import CollectorConfiguration
@testable import Configuration

/// What `rivulet check` says: `file:line:column: message; what to do`.
struct MistakeTests {
    @Test func allMistakesAreNamedInTheOrderOfTheFile() {
        let text = """
            nmae: north
            role: colector
            network: Green House
            links:
              udp: {port: 99999, beacon: maybe}
            sensors:
              - {driver: giop, pin: GPIO17}
              - {driver: system, every: 10}
              - {driver: command, every: 5s}
            report: {size: 5MiB, wait: soon}
            collector: {window: 10s, sinks: []}
            """
        #expect(
            Sample.mistakes(text) == [
                "2:1: unknown key nmae in the configuration; did you mean name?",
                "3:7: role is 'colector'; it must be one of agent, relay, collector, viewer",
                "4:10: network is 'Green House'; it must be 1 to 15 of a–z, 0–9 and hyphen, "
                    + "with a letter, and hyphens only between others",
                "6:15: port is '99999'; it must be a whole number from 0 to 65535",
                "6:30: beacon is 'maybe'; it must be true or false",
                "8:14: unknown driver giop; did you mean gpio?",
                "9:29: every is '10'; it must be a duration such as 250ms, 10s, 5min, 2h or 90d, "
                    + "10ms to 1d",
                "10:5: the command sensor needs the key run; it must be a list of at most 64, "
                    + "each text, the first the program's full path",
                "11:16: size is '5MiB'; it must be a size such as 400, 64KiB or 4MiB, 100 to 900",
                "11:28: wait is 'soon'; it must be a duration such as 250ms, 10s, 5min, 2h or "
                    + "90d, 0 to 1min",
                "12:26: unknown key sinks in collector; known are store, keep, window, "
                    + "series-per-agent, readings-per-agent, store-per-agent",
            ])
    }

    @Test(arguments: [
        "links: {udp: {multicast: ff02::1}}", "links: {udp: {beacon-port: 4577}}",
    ])
    func keysOfLaterVersionsAreNotAccepted(_ text: String) {
        let mistakes = Sample.mistakes(text)
        #expect(mistakes.count == 1)
        #expect(mistakes.first?.contains("not in this version") == true)
    }

    /// With its type said: Swift 6.0 does not find it out of so long a list.
    private static let onlyMistakes: [(String, String)] = [
        ("name: [a]", "2:7: name must be text of 1 to 63 bytes without control characters"),
        (
            "name:",
            "2:6: name has no value; it must be text of 1 to 63 bytes without control characters"
        ),
        (
            "name: \"a\\nb\"",
            "2:7: name is 'a?b'; it must be text of 1 to 63 bytes without control characters"
        ),
        ("links: yes", "2:8: links must be a mapping of keys to values"),
        ("links: {avahi: maybe}", "2:16: avahi is 'maybe'; it must be one of auto, off"),
        ("links: {udp: 4577}", "2:14: links.udp must be a mapping of keys to values, or off"),
        (
            "links: {udp: {port: \"80\"}}",
            "2:21: port is '80'; it must be a whole number from 0 to 65535, without quotation marks"
        ),
        (
            "sensors: {driver: system}",
            "2:10: sensors must be a list of at most 64 mappings, each beginning with -"
        ),
        (
            "sensors: [system]",
            "2:11: a sensor must be a mapping such as {driver: system, every: 10s}"
        ),
        (
            "sensors: [{every: 1s}]",
            "2:11: a sensor needs the key driver; it must be one of " + Sample.drivers
        ),
        (
            "sensors: [{every: 1s, drivr: system}]",
            "2:23: unknown key drivr in a sensor; did you mean driver?"
        ),
        (
            "sensors: [{driver:system, every: 1s}]",
            "2:12: unknown key driver:system in a sensor; write a space after the colon"
        ),
        (
            "sensors: [{driver: command, run: co2}]",
            "2:34: run must be a list of at most 64, each text, the first the program's full path"
        ),
        (
            "sensors: [{driver: command, run: [co2]}]",
            "2:34: run must begin with the program's full path, such as /usr/local/bin/co2"
        ),
        (
            "sensors: [{driver: command, run: [/bin/x], unit: \"a b\"}]",
            "2:50: unit has a space; write a unit's name such as Cel, %RH or ppm"
        ),
        (
            "sensors: [{driver: replay}]",
            "2:11: the replay sensor needs the key file; it must be a path of at most 4095 bytes"
        ),
        (
            "sensors: [{driver: system, disks: [boot]}]",
            "2:36: disks has 'boot'; it must be a full path such as /"
        ),
        (
            "sensors: [{driver: system}, {driver: system}]",
            "2:29: the system is read already by the sensor in line 2; leave one out or name it "
                + "otherwise"
        ),
        ("labels: {a: 1, a: 2}", "2:16: label a comes twice; leave one out"),
        ("labels: [a]", "2:9: labels must be a mapping of at most 16 pairs of text"),
        ("name: a\nname: b", "3:1: name comes twice, first in line 2; leave one out"),
        ("[a]: b", "2:1: a key of the configuration must be a plain word"),
        (
            "zzzzzzzzzzzz: 1",
            "2:1: unknown key zzzzzzzzzzzz in the configuration; known are name, network, secret, "
                + "secret-file, trust, role, collectors, encryption, state, control, labels, "
                + "links, sensors, status-led, report, journal, collector, alarms, outputs, "
                + "web, agents"
        ),
        (
            "links: {udp: {interfaces: [a/b]}}",
            "2:28: interfaces has 'a/b'; it must be an interface's name such as wlan0"
        ),
    ]

    @Test(arguments: onlyMistakes)
    func mistake(_ text: String, _ message: String) {
        #expect(Sample.mistakes(text) == [message])
    }

    @Test(arguments: ["10.0.0.5:4577", "[fd00::5]:4577", "[fe80::1%eth0]:65535", "1.0.0.1:1"])
    func peerIsTaken(_ text: String) {
        #expect(Sample.mistakes("links: {udp: {peers: [\"\(text)\"]}}").isEmpty)
    }

    @Test(arguments: [
        "10.0.0.5", "10.0.0.5:0", "10.0.0.5:65536", "10.0.0:4577", "fd00::5:4577", "[fe80::1]:4577",
        "[fd00::5]", "[fd00::5%]:4577", "host:4577", ":", "", "[]:1", "10.0.0.5:4577x",
    ])
    func peerIsRefused(_ text: String) {
        let mistakes = Sample.mistakes("links: {udp: {peers: [\"\(text)\"]}}")
        #expect(mistakes.count == 1)
        let start = "2:23: peers has '\(text)'; it must be an address"
        #expect(mistakes.first?.hasPrefix(start) == true)
    }

    @Test func collectorsAreNamedByTheirPeerIDs() {
        let peer = "aaaqe-ayeau-daoca-jbifq-ydiob4"
        let settings = Sample.decode("collectors: [\(peer)]").settings
        #expect(settings?.collectors.map(\.description) == [peer])
        let form = "it must be a PeerID as `rivulet status` shows it"
        #expect(
            Sample.mistakes("collectors: [\(peer), north]")
                == ["2:46: collectors has 'north'; \(form)"])
        #expect(
            Sample.mistakes("collectors: []")
                == ["2:13: collectors is empty; name one at least, or leave it out"])
        #expect(
            Sample.mistakes("collektors: [\(peer)]")
                == ["2:1: unknown key collektors in the configuration; did you mean collectors?"])
    }

    @Test(arguments: ["a", "green-house-2", "4a", "abcdefghijklmno"])
    func networkNameIsTaken(_ name: String) { #expect(NetworkName.isValid(name)) }

    @Test(arguments: [
        "", "-a", "a-", "a--b", "12", "A", "a_b", "a b", "abcdefghijklmnop", "ä", "1-2",
    ])
    func networkNameIsRefused(_ name: String) { #expect(!NetworkName.isValid(name)) }

    @Test(arguments: [
        ("250ms", Duration.milliseconds(250)), ("10s", .seconds(10)), ("5min", .seconds(300)),
        ("2h", .seconds(7_200)), ("90d", .seconds(7_776_000)), ("0", .zero), ("0s", .zero),
    ])
    func durationIsRead(_ text: String, _ duration: Duration) {
        #expect(Quantity.duration(text) == duration)
    }

    @Test(arguments: ["", "s", "1", "-1s", "+1s", "1.5s", "1 s", "1S", "9999999999s", "1sms", "٣s"])
    func durationIsRefused(_ text: String) { #expect(Quantity.duration(text) == nil) }

    @Test(arguments: [("400", 400), ("400B", 400), ("64KiB", 65_536), ("4MiB", 4_194_304)])
    func sizeIsRead(_ text: String, _ bytes: Int) { #expect(Quantity.bytes(text) == bytes) }

    @Test(arguments: ["", "B", "4MB", "4 MiB", "-4MiB", "1e3", "9999999999GiB"])
    func sizeIsRefused(_ text: String) { #expect(Quantity.bytes(text) == nil) }

    @Test func editDistanceAgreesWithItsDefinition() {
        #expect(Suggestion.editDistance("", "abc") == 3)
        #expect(Suggestion.editDistance("kitten", "sitting") == 3)
        #expect(Suggestion.editDistance("sensros", "sensors") == 2)
        #expect(Suggestion.editDistance("same", "same") == 0)
    }
}
