import Foundation
import NearbyCore
import Survey
import Testing

#if canImport(FoundationXML)
    import FoundationXML
#endif

struct TopologyTests {
    private typealias Finding = Topology.Finding

    private static let findings: [PeerID: Finding] = [
        Fixtures.relay: Finding(
            parent: Fixtures.south, hops: 1, link: nil, nanoseconds: 410_000),
        Fixtures.barn: Finding(
            parent: Fixtures.relay, hops: 2, link: "ethernet", nanoseconds: 720_000),
        Fixtures.east: Finding(
            parent: Fixtures.barn, hops: 3, link: "bluetooth", nanoseconds: 25_000_000),
    ]

    @Test func theTreeFollowsTheRoutes() throws {
        let topology = Topology(try Fixtures.map(), findings: Self.findings)
        #expect(
            topology.lines == [
                "network greenhouse, as south knows it", "",
                "NODE                           ROLE      LINK               COST  LOSS      TIME",
                "south                          agent     this node",
                "├─ north                       agent     ethernet eth0        96   0 %",
                "└─ relay                       relay     wifi wlan0          261   2 %  0.410 ms",
                "   └─ gaaaa-aaaaa              node      ethernet            357        0.720 ms",
                "      └─ east                  collector bluetooth           453        25.00 ms",
                "", "out of reach",
                "west                         agent     5 min ago, was via relay",
            ])
        #expect(topology.lines.allSatisfy { $0.count <= 80 })
    }

    @Test func withoutAnswersNodesHangOnTheirNeighbour() throws {
        let topology = Topology(try Fixtures.map(), findings: [:])
        #expect(
            topology.lines[5...].prefix(3) == [
                "└─ relay                       relay     wifi wlan0          261   2 %",
                "   ├─ gaaaa-aaaaa              node      behind it           357",
                "   └─ east                     collector behind, 3 hops      453",
            ])
        let json = "\(topology.json)"
        #expect(json.contains(#""name":"east","role":"collector","online":true,"parent":""#))
        #expect(json.contains(#""parentIsCertain":false"#))
        #expect(json.contains(#""online":false,"lastSeenSeconds":300"#))
    }

    /// The last link's cost is what the routes of both differ by.
    @Test func theLastLinkHasACost() throws {
        let json = "\(Topology(try Fixtures.map(), findings: Self.findings).json)"
        #expect(json.contains(#""link":"bluetooth","interface":null,"cost":453,"linkCost":96"#))
    }

    /// Nobody's word makes a circle, or loses a node.
    @Test func liesMakeNoCircles() throws {
        let lies: [PeerID: Finding] = [
            Fixtures.barn: Finding(parent: Fixtures.east, hops: 2, link: nil, nanoseconds: nil),
            Fixtures.east: Finding(parent: Fixtures.barn, hops: 2, link: nil, nanoseconds: nil),
            Fixtures.relay: Finding(parent: Fixtures.barn, hops: 9, link: nil, nanoseconds: nil),
        ]
        let topology = Topology(try Fixtures.map(), findings: lies)
        #expect(topology.lines.count == 11)
    }

    // MARK: Asking

    /// A line south – relay – barn – east, and how many questions were asked.
    @Test func theNodeBeforeTheLastIsAskedFor() throws {
        let way = [Fixtures.relay, Fixtures.barn, Fixtures.east]
        var questions = 0
        let findings = Topology.probe(try Fixtures.map()) { peer, limit in
            questions += 1
            guard let end = way.firstIndex(of: peer) else {
                return Fixtures.answered(peer, hops: 1)
            }
            let index = min(end, (limit ?? 64) - 1)
            return Fixtures.answered(way[index], hops: index + 1, link: "ethernet")
        }
        #expect(findings[Fixtures.barn]?.parent == Fixtures.relay)
        #expect(findings[Fixtures.east]?.parent == Fixtures.barn)
        #expect(findings[Fixtures.east]?.hops == 3)
        #expect(findings[Fixtures.relay]?.nanoseconds == 1_000_000)
        #expect(questions <= 8)
    }

    @Test func silenceIsBornIn() throws {
        var questions = 0
        let findings = Topology.probe(try Fixtures.map()) { peer, limit in
            questions += 1
            // Only destinations answer: all relays are of an older version.
            return limit == 64 ? Fixtures.answered(peer, hops: 3) : .silent
        }
        #expect(findings[Fixtures.east]?.parent == nil)
        #expect(findings[Fixtures.east]?.hops == 3)
        #expect(questions <= 8)
    }

    // MARK: The picture

    @Test func thePictureIsXMLAndAlwaysTheSame() throws {
        let topology = Topology(try Fixtures.map(), findings: Self.findings)
        let text = TopologyPicture(topology).text
        try expectXML(text)
        let again = Topology(try Fixtures.map(), findings: Self.findings)
        #expect(text == TopologyPicture(again).text)
        for name in ["south", "relay", "east", "north", "west", "wifi, 261, 2 % lost, 0.410 ms"] {
            #expect(text.contains(">\(name)"), "\(name)")
        }
        #expect(!text.contains("<script") && !text.contains("href"))
    }

    @Test(arguments: Fixtures.hostileNames) func hostileNamesHarmNothing(name: String) throws {
        let map = try Fixtures.map(names: [
            Fixtures.south: name, Fixtures.relay: name, Fixtures.west: name,
        ])
        #expect(map[Fixtures.relay]?.name == name)
        let topology = Topology(map, findings: Self.findings)
        try expectXML(TopologyPicture(topology).text)
        #expect(!TopologyPicture(topology).text.contains("<script"))
        var report = TraceReport(map, Fixtures.relay)
        let echo = Fixtures.answered(Fixtures.barn, hops: 1, name: name)
        var texts = topology.lines + [report.head, report.line(.init(number: 1, replies: [echo]))]
        texts += [PingReport(map, Fixtures.relay).head, "\(topology.json)"]
        do throws(SurveyError) {
            _ = try map.peer(named: name)
        } catch {
            texts += "\(error)".split(separator: "\n").map(String.init)
        }
        for text in texts {
            #expect(
                !text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7f }, "\(text)")
        }
        for line in topology.lines {
            #expect(!line.unicodeScalars.contains("\u{202e}"))
            #expect(!line.contains("rvs1secret"))
        }
    }

    private func expectXML(_ text: String) throws {
        let parser = XMLParser(data: Data(text.utf8))
        #expect(parser.parse(), "\(String(describing: parser.parserError))")
    }
}
