import NearbyCore
import NodeShell
import Survey
import Testing

struct NearListTests {
    private func near(
        _ peer: PeerID, _ name: String?, seconds: Int64 = 3, isConnected: Bool = false,
        info: [(String, String)] = []
    ) -> JSONValue {
        .object([
            ("peer", .string("\(peer)")), ("name", name.map { .string($0) } ?? .null),
            ("role", .string("agent")),
            ("interfaces", .array([.string("eth0"), .string("wlan0")])),
            ("sinceSeconds", .number(seconds)), ("connected", .flag(isConnected)),
            ("info", .object(info.map { ($0.0, .string($0.1)) })),
        ])
    }

    private func text(_ entries: JSONValue...) -> String { JSONValue.array(entries).description }

    private func texts(_ changes: [(NearList.Change, NearList.Entry)]) -> [String] {
        changes.map { NearList.line($0, $1) }
    }

    @Test func whoComesChangesAndGoesIsSaidOnce() throws {
        let info = [("site", "barn"), ("row", "2")]
        var list = NearList()
        var changes = try list.update(
            text(near(Fixtures.north, "north", info: info), near(Fixtures.barn, nil)))
        let north = "\(Fixtures.north)  agent  eth0,wlan0  near"
        #expect(
            texts(changes) == [
                "found  -  \(Fixtures.barn)  agent  eth0,wlan0  near  3 s",
                "found  north  \(north)  3 s  site=barn  row=2",
            ])
        // Only the time has passed.
        changes = try list.update(
            text(
                near(Fixtures.north, "north", seconds: 4, info: info),
                near(Fixtures.barn, nil, seconds: 4)))
        #expect(changes.isEmpty)
        changes = try list.update(
            text(near(Fixtures.barn, nil, seconds: 65, isConnected: true)))
        #expect(
            texts(changes) == [
                "changed  -  \(Fixtures.barn)  agent  eth0,wlan0  connected  1 min",
                "lost  north  \(north)  4 s  site=barn  row=2",
            ])
    }

    @Test func theTableFitsTheTerminal() throws {
        var list = NearList()
        let peers = (0..<40).map { PeerID(high: UInt64($0) << 50, low: 0) }
        let entries = peers.map {
            near($0, "node\($0.high >> 50)", info: [("a", "1"), ("b", "2")])
        }
        _ = try list.update(JSONValue.array(entries).description)
        for columns in [40, 80, 200] {
            let table = list.table(columns: columns, rows: 24)
            #expect(table.count <= 24)
            #expect(table.allSatisfy { $0.count <= columns })
        }
        let table = list.table(columns: 100, rows: 24)
        #expect(table.first == "40 nodes are near; Ctrl-C ends this")
        #expect(table.last == "and 20 others")
        #expect(table[3].hasPrefix("node0            aaaaa-aaaaa agent     eth0,wlan0 3 s"))
        #expect(table[3].hasSuffix("near      a=1 b=2"))
    }

    @Test(arguments: Fixtures.hostileNames) func hostileWordsHarmNothing(name: String) throws {
        var list = NearList()
        let changes = try list.update(
            text(near(Fixtures.barn, name, info: [("k", "\u{1b}[2J"), ("l", name)])))
        #expect(list.entries.first?.name == name)
        for text in texts(changes) + list.table(columns: 80, rows: 24) {
            #expect(!text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7f })
        }
        let json = changes.map { "\(NearList.json($0, $1))" }.joined()
        #expect(!json.unicodeScalars.contains { $0.value < 0x20 })
    }

    @Test func anOlderNodeIsTold() {
        var list = NearList()
        #expect(throws: SurveyError.tooOld) { try list.update("unknown request") }
    }
}
