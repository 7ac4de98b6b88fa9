import NearbyCore
import Survey
import Testing

struct NamesTests {
    private let map: NetworkMap

    init() throws { map = try Fixtures.map() }

    @Test func aNodeIsMeantByNameOrPeerID() throws {
        #expect(try map.peer(named: "relay") == Fixtures.relay)
        #expect(try map.peer(named: "\(Fixtures.barn)") == Fixtures.barn)
        #expect(try map.peer(named: "\(Fixtures.barn)".uppercased()) == Fixtures.barn)
        #expect(try map.peer(named: String("\(Fixtures.east)".prefix(11))) == Fixtures.east)
    }

    @Test func aPeerIDThatIsNotKnownIsTakenAsItIs() throws {
        let other = PeerID(high: 77, low: 77)
        #expect(try map.peer(named: "\(other)") == other)
    }

    @Test func anUnknownNameComesWithTheNearest() {
        let error = SurveyError.unknown("nroth", advice: "did you mean north?")
        #expect(throws: error) { try map.peer(named: "nroth") }
        #expect("\(error)" == "no node nroth is known here; did you mean north?")
    }

    @Test func aNameWithoutANearOneSaysWhereToLook() {
        do throws(SurveyError) {
            _ = try map.peer(named: "something quite different")
            Issue.record("it was found")
        } catch {
            #expect("\(error)".contains("`rivulet status` lists"))
        }
    }

    @Test func twoNodesOfOneNameAreBothListed() throws {
        let twins = try Fixtures.map(names: [Fixtures.north: "relay"])
        do throws(SurveyError) {
            _ = try twins.peer(named: "relay")
            Issue.record("one was chosen")
        } catch {
            let lines = "\(error)".split(separator: "\n").map(String.init)
            #expect(lines.first == "2 nodes are called relay; give the PeerID:")
            #expect(lines.dropFirst().first == "  \(Fixtures.relay)  neighbour")
            #expect(lines.last == "  \(Fixtures.north)  neighbour")
        }
        #expect(twins.label(of: Fixtures.north) == "relay (\(Fixtures.short(Fixtures.north)))")
    }

    /// `rivulet send` beside a node has its name, and is gone afterwards.
    @Test func whoIsOutOfReachIsNotMeantWhereAnotherIsThere() throws {
        let twins = try Fixtures.map(names: [Fixtures.west: "relay"])
        #expect(try twins.peer(named: "relay") == Fixtures.relay)
        let gone = try Fixtures.map(names: [Fixtures.west: "away"])
        #expect(try gone.peer(named: "away") == Fixtures.west)
    }

    @Test func theNodeItselfIsNoTarget() {
        #expect(throws: SurveyError.own("south")) { try map.peer(named: "south") }
    }

    @Test func anOlderNodeIsTold() {
        #expect(throws: SurveyError.tooOld) {
            try NetworkMap(status: "unknown request; there are status, summary")
        }
        #expect(throws: SurveyError.tooOld) { try EchoReply(line: "unknown request") }
    }
}
