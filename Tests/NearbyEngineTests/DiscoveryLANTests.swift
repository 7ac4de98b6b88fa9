import NearbyCore
import NearbyWire
import Testing

@testable import NearbyEngine

@Suite struct DiscoveryLANTests {
    static func info(_ name: String) throws -> DiscoveryInfo { try DiscoveryInfo([("name", name)]) }

    @Test func twoHundredNodesStartingAtOnceStayWithinTenFramesInTheFirstSecond() throws {
        var lan = DiscoveryLAN()
        for index in 0..<200 {
            _ = lan.start(index == 7 ? .collecting() : .wanting(info: try Self.info("n\(index)")))
        }
        lan.run(until: .zero + .seconds(1))
        #expect(lan.sent.map(\.count).max() ?? 0 <= Limits.discoveryFramesPerSecond)
        #expect(lan.sent.map(\.count).min() ?? 0 >= 3)
        #expect((0..<200).allSatisfy { lan.machine($0).peerCount == 199 })
        lan.run(until: .zero + .seconds(2))
        #expect((0..<200).allSatisfy { lan.machine($0).sightings.count == 199 })
    }

    @Test func noNodeSendsMoreThanTenFramesInAnySecond() throws {
        var lan = DiscoveryLAN()
        for index in 0..<40 {
            _ = lan.start(.wanting(info: try Self.info("n\(index)")))
            lan.run(until: lan.now + .milliseconds(70))
        }
        lan.run(until: lan.now + .seconds(60))
        for frames in lan.sent {
            for (index, frame) in frames.enumerated() {
                let inSecond = frames[index...].prefix { $0.time - frame.time < .seconds(1) }
                #expect(inSecond.count <= Limits.discoveryFramesPerSecond)
            }
        }
        let complete = (0..<40).map { lan.machine($0).sightings.count { !$0.info.isEmpty } }
        #expect(complete.allSatisfy { $0 == 39 })
    }

    @Test func newcomerIsFoundAndFindsWithinTwentyMilliseconds() throws {
        var lan = DiscoveryLAN()
        let collector = lan.start(.collecting(info: try Self.info("cellar")))
        lan.run(until: .zero + .seconds(100))
        let newcomer = lan.start(.wanting(info: try Self.info("bench")))
        lan.run(until: lan.now + .milliseconds(20))
        #expect(try lan.machine(collector).sightings.map(\.info) == [Self.info("bench")])
        #expect(try lan.machine(newcomer).sightings.map(\.info) == [Self.info("cellar")])
        #expect(
            lan.machine(newcomer).sightings.first?.endpoints == [DiscoveryLAN.endpoint(collector)])
    }

    @Test func staticPeersFindEachOtherWhereMulticastBringsNothing() throws {
        var lan = DiscoveryLAN()
        lan.multicastWorks = false
        let collector = lan.start(.collecting())
        let agent = lan.start(.wanting(), statics: [DiscoveryLAN.endpoint(collector)])
        lan.run(until: .zero + .milliseconds(20))
        #expect(lan.machine(collector).sightings.map(\.peer) == [DiscoveryLAN.peer(agent)])
        #expect(lan.machine(agent).sightings.map(\.peer) == [DiscoveryLAN.peer(collector)])
        lan.run(until: .zero + .seconds(5))
        #expect(lan.machine(agent).links.isSilent(DiscoveryLAN.link, now: lan.now))
    }

    /// 900 s at one beacon in 30 s, or in 10 s; some are left out.
    @Test(arguments: [(nil, 10...40), (.seconds(5), 40...120)] as [(Duration?, ClosedRange<Int>)])
    func contentNodesBecomeQuietAndStayKnown(_ lostPeerTime: Duration?, _ count: ClosedRange<Int>) {
        var lan = DiscoveryLAN()
        lan.lostPeerTime = lostPeerTime
        for _ in 0..<30 { _ = lan.start(.wanting()) }
        lan.run(until: .zero + .seconds(2))
        for index in 0..<30 { lan.handle(.content(true), by: index) }
        lan.run(until: .zero + .seconds(1_000))
        let late = lan.sent.map { frames in frames.count { $0.time - .zero >= .seconds(100) } }
        #expect(late.allSatisfy(count.contains))
        let lost = lan.news.flatMap { $0 }.count {
            if case .lost = $0.output { true } else { false }
        }
        #expect(lost == 0)
    }

    @Test func sameSeedsGiveTheSameFramesAtTheSameTimes() throws {
        func trace() throws -> [[String]] {
            var lan = DiscoveryLAN()
            for index in 0..<20 { _ = lan.start(.wanting(info: try Self.info("n\(index)"))) }
            lan.run(until: .zero + .seconds(10))
            let sent = lan.sent.map { $0.map { "\($0.time.nanoseconds) \($0.frame.bytes)" } }
            let news = lan.news.map { $0.map { "\($0.time.nanoseconds) \($0.output)" } }
            return sent + news
        }
        #expect(try trace() == trace())
    }
}
