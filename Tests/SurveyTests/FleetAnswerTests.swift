import Fleet
import NearbyCore
import Telemetry
import Testing

@testable import Survey

struct FleetAnswerTests {
    private let peer = PeerID(high: 7, low: 7)

    private func snapshot(nodes count: Int) -> FleetSnapshot {
        var snapshot = FleetSnapshot()
        snapshot.collector.peer = PeerID(high: 9, low: 9)
        snapshot.collector.name = "house \"1\"\u{1b}"
        snapshot.collector.network = "garden"
        snapshot.collector.utc = 1_000_000_000_000
        snapshot.collector.uptime = .seconds(90)
        snapshot.collector.readingCount = 12
        snapshot.collector.storeBytes = 4_096
        snapshot.collector.drops = [FleetCount(reason: "duplicate", count: 3)]
        snapshot.nodes = (0..<count).map { number in
            var node = FleetNode(
                peer: PeerID(high: UInt64(number + 1), low: 0), name: "n\(number)", role: "agent")
            node.storedName = number == 0 ? "old" : nil
            node.isOnline = number % 2 == 0
            node.age = number % 2 == 0 ? .zero : .seconds(60)
            node.via = number == 0 ? nil : peer
            node.hops = 2
            node.link = "wifi"
            node.signal = -61.5
            node.labels = [Label(key: "site", value: "a\\b")]
            node.channels = (0..<20).map { channel in
                FleetChannel(
                    name: "channel.\(channel)", unit: .celsius, scale: -2,
                    last: channel == 3
                        ? .null(.commandFailed)
                        : .value(DecimalValue(coefficient: -2_150, exponent: -2)),
                    utc: 999_000_000_000, hops: 1)
            }
            return node
        }
        snapshot.links = [
            FleetLink(
                from: snapshot.collector.peer, to: peer, link: "ethernet", cost: 96,
                lossPercent: 12.5)
        ]
        snapshot.links[0].isDirect = false
        var output = OutputStatus(name: "db", kind: "postgres", target: "10.0.0.2:5432")
        output.phase = .failing
        output.lastFault = "no"
        output.failingSince = .seconds(5)
        snapshot.outputs = [output]
        return snapshot
    }

    private func whole(_ snapshot: FleetSnapshot) throws -> (FleetSnapshot, requests: Int) {
        var pages = FleetPages()
        var count = 0
        let result = try FleetAnswer.whole { request in
            count += 1
            let place = Int(request.dropFirst("fleet ".count)) ?? 0
            return pages.page(from: place) { snapshot }
        }
        return (result, count)
    }

    @Test func whatACollectorSaysIsWhatIsRead() throws {
        let snapshot = snapshot(nodes: 3)
        let (read, requests) = try whole(snapshot)
        #expect(read == snapshot)
        #expect(requests == 1)
    }

    @Test func aThousandNodesComeInPieces() throws {
        let snapshot = snapshot(nodes: 1_000)
        let (read, requests) = try whole(snapshot)
        #expect(read.nodes == snapshot.nodes)
        #expect(requests > 3)
    }

    @Test func whatIsNoAnswerIsToldAsSuch() {
        for line in ["", "unknown request", "{}", "{\"collector\":{}}", "[1"] {
            #expect(FleetAnswer(line: line) == nil)
            #expect(throws: SurveyError.noFleet) { try FleetAnswer.whole { _ in line } }
        }
    }

    /// As of a collector that lies, or of a later version.
    @Test func aCollectorThatNeverEndsIsNotFollowedForEver() throws {
        var pages = FleetPages()
        let first = pages.page(from: 0) { snapshot(nodes: 1) }
        let endless = first.replacing("\"next\":null", with: "\"next\":1")
        var requests = 0
        _ = try FleetAnswer.whole { _ in
            requests += 1
            return endless
        }
        #expect(requests == 2)
    }
}

extension String {
    fileprivate func replacing(_ text: String, with other: String) -> String {
        guard let range = firstRange(of: text) else { return self }
        return String(self[..<range.lowerBound]) + other + String(self[range.upperBound...])
    }

    private func firstRange(of text: String) -> Range<Index>? {
        indices.first { self[$0...].hasPrefix(text) }
            .flatMap { start in
                index(start, offsetBy: text.count, limitedBy: endIndex).map { start..<$0 }
            }
    }
}
