import NearbyCore
import Testing

@testable import NearbyEngine
@testable import NodeShell

struct NodeListingTests {
    private static let now = Instant(nanoseconds: 1_000_000_000_000)

    /// - Parameters:
    ///   - name: as it says itself; nil: it never said.
    ///   - hop: the neighbour on the way to it; nil: it is one.
    ///   - gone: how long ago it went out of reach.
    private func node(
        _ number: UInt64, _ name: String?, hop: UInt64? = nil, hops: Int? = nil,
        gone: Duration? = nil
    ) -> KnownNode {
        KnownNode(
            peer: PeerID(high: number << 56, low: 0), name: name, role: name == nil ? nil : .agent,
            kind: .collector, nextHop: PeerID(high: (hop ?? number) << 56, low: 0), hops: hops,
            isReachable: gone == nil, lastReachable: Self.now - (gone ?? .seconds(7)))
    }

    /// All neighbours are so over eth0.
    private func listing(_ nodes: [KnownNode]) -> NodeListing {
        NodeListing(
            nodes: nodes, name: { peer in nodes.first { $0.peer == peer }?.name },
            interface: { _ in "eth0" }, now: Self.now)
    }

    @Test func thoseInReachComeByNameThenThoseGoneTheLastSeenFirst() {
        let listing = listing([
            node(1, "north"), node(2, "gone long", gone: .seconds(7_200)),
            node(3, "gone", gone: .seconds(60)), node(4, "east"),
        ])
        #expect(listing.rows.map(\.name) == ["east", "north", "gone", "gone long"])
        #expect(listing.rows.map(\.seen) == ["online", "online", "1 min ago", "2 h ago"])
    }

    @Test func thoseOfBeforeThisStartComeLast() {
        var listing = listing([node(1, "north", gone: .seconds(7_200))])
        let row = NodeTable.Row(
            name: "before", peer: "-", role: "agent", reached: "-", seen: "9 d ago", version: "-")
        listing.former = [FormerNode(row: row, member: .null)]
        #expect(listing.rows.map(\.name) == ["north", "before"])
        #expect(listing.json.description.hasSuffix("},null]"))
    }

    @Test func howANodeIsReachedIsSaidOfThoseInReachAndOfThoseGone() {
        let listing = listing([
            node(1, "a\u{1b}"), node(2, "b", hop: 1, hops: 2), node(3, "c", hop: 1, hops: 1),
            node(4, "d", gone: .seconds(1)), node(5, "e", hop: 1, hops: 2, gone: .seconds(2)),
        ])
        #expect(
            listing.rows.map(\.reached) == [
                "direct eth0", "via a?, 2 hops", "via a?", "was direct eth0", "was via a?",
            ])
    }

    @Test func aNodeWithoutANameIsKnownByItsPeerIDAndByWhatRoutingSays() {
        let row = listing([node(1, nil)]).rows.first
        #expect(row?.name == "-" && row?.role == "collector" && row?.version == "-")
        let behind = listing([node(2, "b", hop: 1)]).rows.first
        #expect(behind?.reached == "via " + PeerID(high: 1 << 56, low: 0).shortText)
    }

    @Test func programsLearnTheWayOfThoseBehindOthersAndTheLinkOfNeighbours() {
        let nodes = [node(1, "a"), node(2, "b", hop: 1, hops: 2, gone: .seconds(90))]
        #expect(
            listing(nodes).json.description
                == "[{\"peer\":\"\(nodes[0].peer)\",\"name\":\"a\",\"role\":\"agent\","
                + "\"online\":true,\"lastSeenSeconds\":0,\"neighbour\":true,"
                + "\"interface\":\"eth0\",\"via\":null,\"viaName\":null,\"hops\":1,"
                + "\"version\":null},{\"peer\":\"\(nodes[1].peer)\",\"name\":\"b\","
                + "\"role\":\"agent\",\"online\":false,\"lastSeenSeconds\":90,"
                + "\"neighbour\":false,\"interface\":null,\"via\":\"\(nodes[0].peer)\","
                + "\"viaName\":\"a\",\"hops\":null,\"version\":null}]")
    }
}
