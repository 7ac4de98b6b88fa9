import Fleet
import NearbyCore
import Telemetry
import Testing

@testable import FleetTerminal

enum Sample {
    static let north = PeerID(high: 0x1111_0000_0000_0000, low: 1)
    static let relay = PeerID(high: 0x2222_0000_0000_0000, low: 2)
    static let south = PeerID(high: 0x3333_0000_0000_0000, low: 3)

    static func channel(_ name: String, _ value: Int64, at second: Int64 = 99) -> FleetChannel {
        FleetChannel(
            name: name, unit: .celsius, scale: -1,
            last: .value(DecimalValue(coefficient: value, exponent: -1)),
            utc: second * 1_000_000_000, hops: 1)
    }

    /// north (2 channels), attic (relay), and south, which is silent.
    static func snapshot(value: Int64 = 215, at second: Int64 = 100) -> FleetSnapshot {
        var snapshot = FleetSnapshot()
        snapshot.collector.name = "house"
        snapshot.collector.network = "garden"
        snapshot.collector.utc = second * 1_000_000_000
        snapshot.collector.peer = PeerID(high: 9, low: 9)
        var north = FleetNode(peer: north, name: "north", role: "agent")
        north.isOnline = true
        north.channels = [channel("air.temperature", value, at: second), channel("soil", 130)]
        north.signal = -61
        north.labels = [Label(key: "site", value: "hill")]
        var relay = FleetNode(peer: relay, name: "attic", role: "relay")
        relay.isOnline = true
        var south = FleetNode(peer: south, name: "south", role: "agent")
        south.age = .seconds(180)
        south.channels = [
            FleetChannel(
                name: "door", unit: .none, scale: 0, last: .null(.timeout),
                utc: 20_000_000_000, hops: 2)
        ]
        snapshot.nodes = [relay, north, south]
        snapshot.links = [
            FleetLink(
                from: snapshot.collector.peer, to: Self.relay, link: "wifi", cost: 128,
                lossPercent: 25),
            FleetLink(
                from: Self.relay, to: Self.north, link: "bluetooth", cost: 256, lossPercent: nil),
        ]
        snapshot.collector.drops = [FleetCount(reason: "duplicate", count: UInt64(second))]
        return snapshot
    }
}

struct TopScreenTests {
    private var screen = TopScreen(columns: 100, lines: 20, hasColours: false, source: "x")

    /// The lines that a person sees.
    static func seen(_ output: TopScreen.Output) -> [String] {
        var text = ""
        var isInSequence = false
        for scalar in output.text.unicodeScalars {
            if scalar == "\u{1b}" {
                isInSequence = true
            } else if isInSequence {
                if scalar != "[", (0x40...0x7e).contains(scalar.value) { isInSequence = false }
            } else if scalar != "\r" {
                text.unicodeScalars.append(scalar)
            }
        }
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            var line = String(line)
            while line.hasSuffix(" ") { line.removeLast() }
            return line
        }
    }

    private mutating func press(_ keys: String) -> [String] {
        var last: [String] = []
        for character in keys {
            let key: TopKey =
                switch character {
                case "\n": .enter
                case "\t": .tab
                case "^": .escape
                default: .character(character)
                }
            last = Self.seen(screen.handle(.key(key)))
        }
        return last
    }

    @Test mutating func beforeTheFirstAnswerItSaysWhatItWaitsFor() {
        let lines = Self.seen(screen.handle(.resized(columns: 80, lines: 24)))
        #expect(lines[0] == "rivulet top · waiting for x")
    }

    @Test mutating func whoLooksInIsNotCounted() {
        var snapshot = Sample.snapshot()
        var viewer = FleetNode(peer: PeerID(high: 7, low: 7), name: "desk", role: "viewer")
        viewer.isOnline = true
        snapshot.nodes.append(viewer)
        let lines = Self.seen(screen.handle(.snapshot(snapshot)))
        #expect(lines[0].hasPrefix("house in garden · 2 of 3 nodes online"))
    }

    @Test mutating func nodesComeFirstByName() {
        let lines = Self.seen(screen.handle(.snapshot(Sample.snapshot())))
        #expect(lines[0].hasPrefix("house in garden · 2 of 3 nodes online"))
        #expect(lines[1].hasPrefix(" 1 Nodes"))
        #expect(lines[2].hasPrefix("NODE▲"))
        #expect(lines[3].hasPrefix("attic"))
        #expect(lines[4].hasPrefix("north"))
        #expect(lines[4].contains("online"))
        #expect(lines[4].contains("-61"))
        #expect(lines[5].contains("3m"))
        #expect(lines.count == 20)
        #expect(lines.last?.contains("q quit") == true)
    }

    @Test mutating func eachViewIsShownByItsNumberAndByTab() {
        _ = screen.handle(.snapshot(Sample.snapshot()))
        let channels = press("2")
        #expect(channels[3].contains("air.temperature"))
        #expect(channels[3].contains("21.5"))
        #expect(channels.contains { $0.contains("door") && $0.contains("timeout") })
        let links = press("\t")
        #expect(links.contains { $0.hasPrefix("attic") && $0.contains("bluetooth") })
        #expect(links.contains { $0.hasPrefix("house") && $0.contains("25") })
        #expect(press("4")[3].contains("no outputs are configured"))
        #expect(press("5")[3].contains("no alarm holds"))
        #expect(press("6")[3].hasPrefix("duplicate"))
    }

    @Test mutating func rowsAreSortedBothWaysByAnyColumn() {
        _ = screen.handle(.snapshot(Sample.snapshot()))
        var lines = press("r")
        #expect(lines[2].hasPrefix("NODE▼"))
        #expect(lines[3].hasPrefix("south"))
        lines = press("s")
        // By how long they were silent: the online ones first.
        #expect(lines[2].contains("SEEN▲"))
        #expect(lines[5].hasPrefix("south"))
        #expect(press("r")[3].hasPrefix("south"))
        #expect(press("S")[2].hasPrefix("NODE▲"))
    }

    @Test mutating func aFilterNarrowsRowsWhileItIsTyped() {
        _ = screen.handle(.snapshot(Sample.snapshot()))
        var lines = press("/so")
        #expect(lines[3].hasPrefix("south"))
        #expect(lines[4] == "")
        #expect(lines.last?.hasPrefix("/so") == true)
        lines = press("\n")
        #expect(lines.last?.contains("filter \"so\"") == true)
        // Labels are looked through too; what a key means outside is only text here.
        lines = press("/^/site=h")
        #expect(lines[3].hasPrefix("north"))
        lines = press("^")
        #expect(lines[3].hasPrefix("attic"))
        #expect(press("/zzz")[3].contains("nothing matches \"zzz\""))
    }

    @Test mutating func oneNodeIsFollowedAndTheMarkStaysOnIt() {
        _ = screen.handle(.snapshot(Sample.snapshot()))
        var lines = press("j\n")
        #expect(lines[1].hasPrefix("north"))
        #expect(lines[2].contains("online · agent · direct"))
        #expect(lines[3].contains("site=hill"))
        #expect(lines[5].hasPrefix("air.temperature"))
        lines = press("^")
        #expect(lines[1].hasPrefix(" 1 Nodes"))
        // Another order: the marked node stays the marked one.
        #expect(screen.place.selected == Sample.north.description)
        _ = press("r")
        #expect(screen.place.selected == Sample.north.description)
    }

    @Test mutating func aChannelGetsALineOfWhatCame() {
        for (index, value) in [10, 20, 30, 40].enumerated() {
            let snapshot = Sample.snapshot(value: Int64(value), at: 100 + Int64(index))
            _ = screen.handle(.snapshot(snapshot))
        }
        let lines = press("2")
        #expect(lines[3].contains("▁▃▆█"))
        // The same reading once more is no new value.
        let again = Self.seen(screen.handle(.snapshot(Sample.snapshot(value: 40, at: 103))))
        #expect(again[3].contains("▁▃▆█"))
        #expect(!again[3].contains("██"))
    }

    @Test mutating func newDropsAreMarked() {
        _ = screen.handle(.snapshot(Sample.snapshot(at: 100)))
        _ = screen.handle(.snapshot(Sample.snapshot(at: 107)))
        #expect(press("6")[3].contains("+7"))
    }

    @Test mutating func aFaultIsShownAndWhatWasSeenStays() {
        _ = screen.handle(.snapshot(Sample.snapshot()))
        var lines = Self.seen(screen.handle(.fault("no node answers")))
        #expect(lines[1] == "no node answers")
        #expect(lines[4].hasPrefix("attic"))
        lines = Self.seen(screen.handle(.snapshot(Sample.snapshot())))
        #expect(lines[1].hasPrefix(" 1 Nodes"))
    }

    @Test(arguments: [(1, 1), (2, 2), (10, 5), (39, 7), (40, 12), (80, 24), (400, 120)])
    func everySizeIsKeptTo(_ columns: Int, _ lines: Int) {
        var screen = TopScreen(columns: columns, lines: lines, hasColours: true, source: "x")
        var outputs = [screen.handle(.snapshot(Sample.snapshot()))]
        for key in ["2", "3", "4", "5", "6", "1", "?", "x", "/", "n"] {
            outputs.append(screen.handle(.key(.character(Character(key)))))
        }
        outputs.append(screen.handle(.key(.enter)))
        outputs.append(screen.handle(.key(.enter)))
        for output in outputs {
            let seen = Self.seen(output)
            #expect(seen.count <= lines)
            // Help and cells are ASCII or one column wide each.
            #expect(seen.allSatisfy { $0.count <= columns })
        }
    }

    @Test mutating func hostileNamesAreOnlyText() {
        var snapshot = Sample.snapshot()
        snapshot.nodes[1].name = "a\u{1b}[2Jb\u{202e}c\u{7}\r\n<b>"
        snapshot.nodes[1].channels[0].name = "\u{1b}]0;x\u{7}t"
        snapshot.nodes[1].labels = [Label(key: "k", value: "\u{9b}31m")]
        for key in ["1", "2", "3"] {
            _ = screen.handle(.snapshot(snapshot))
            let output = screen.handle(.key(.character(Character(key))))
            #expect(!output.text.contains("\u{1b}[2J"))
            #expect(!output.text.contains("\u{1b}]"))
            #expect(!output.text.unicodeScalars.contains("\u{202e}"))
            #expect(!output.text.unicodeScalars.contains("\u{7}"))
            #expect(!output.text.unicodeScalars.contains("\u{9b}"))
        }
    }

    @Test mutating func aThousandNodesScroll() {
        var snapshot = FleetSnapshot()
        snapshot.nodes = (0..<1_000).map { number in
            let digits = String(number)
            let name = "n" + String(repeating: "0", count: 4 - digits.count) + digits
            return FleetNode(
                peer: PeerID(high: UInt64(number + 1), low: 0), name: name, role: "agent")
        }
        _ = screen.handle(.snapshot(snapshot))
        #expect(press("G").contains { $0.hasPrefix("n0999") })
        #expect(press("g").contains { $0.hasPrefix("n0000") })
        let page = Self.seen(screen.handle(.key(.pageDown)))
        #expect(page.contains { $0.hasPrefix("n0015") })
    }

    @Test mutating func aNarrowTerminalHasEveryKeyAndNoEmptyColumns() {
        _ = screen.handle(.snapshot(Sample.snapshot()))
        let narrow = Self.seen(screen.handle(.resized(columns: 40, lines: 12)))
        #expect(narrow[1] == " 1 Nodes  2  3  4  5  6")
        // Nobody tells of a battery, one of its signal.
        #expect(narrow[2].hasPrefix("NODE▲") && narrow[2].contains("dBm"))
        #expect(!narrow[2].contains("BAT%") && !narrow[2].contains("VIA"))
        let help = press("?")
        #expect(help.allSatisfy { !$0.contains("…") })
        #expect(help.contains("q Ctrl-C  quit"))
    }

    @Test mutating func namesWithNumbersStandInTheOrderOfThese() {
        var snapshot = Sample.snapshot()
        snapshot.nodes = [10, 9, 1].map { number in
            FleetNode(
                peer: PeerID(high: UInt64(number), low: 0), name: "board-\(number)", role: "agent")
        }
        snapshot.links = snapshot.nodes.map {
            FleetLink(
                from: snapshot.collector.peer, to: $0.peer, link: "wifi", cost: 1,
                lossPercent: nil)
        }
        _ = screen.handle(.snapshot(snapshot))
        let nodes = press("1").filter { $0.hasPrefix("board-") }
            .compactMap { $0.split(separator: " ").first }
        #expect(nodes == ["board-1", "board-9", "board-10"])
        let links = press("3").filter { $0.contains("wifi") }.map { $0.split(separator: " ")[1] }
        #expect(links == ["board-1", "board-9", "board-10"])
    }

    @Test mutating func qAndControlCEndItAndOtherKeysDoNot() {
        #expect(screen.handle(.key(.character("x"))).isDone == false)
        #expect(screen.handle(.key(.character("q"))).isDone)
        var other = TopScreen(columns: 80, lines: 24, hasColours: false, source: "x")
        _ = other.handle(.key(.character("/")))
        // Text, while a filter is typed.
        #expect(other.handle(.key(.character("q"))).isDone == false)
        #expect(other.handle(.key(.interrupt)).isDone)
    }
}
