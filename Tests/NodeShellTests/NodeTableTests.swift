import NearbyCore
import Testing

@testable import NodeShell

struct NodeTableTests {
    @Test func columnsAreAsWideAsTheirWidestCell() {
        let table = NodeTable(rows: [
            .init(
                name: "greenhouse-north", peer: "53hz5-hrw7r", role: "agent", reached: "this node",
                seen: "online", version: "0.1.0"),
            .init(
                name: "größer", peer: "o5avu-hxozu", role: "collector",
                reached: "was via relay", seen: "5 min ago", version: "-"),
        ])
        #expect(
            table.lines == [
                "NODE              PEER         ROLE       REACHED        SEEN       VERSION",
                "greenhouse-north  53hz5-hrw7r  agent      this node      online     0.1.0",
                "größer            o5avu-hxozu  collector  was via relay  5 min ago  -",
            ])
    }

    /// A terminal gives them two columns, and the marks of a letter none.
    @Test func wideNamesAndMarksKeepTheColumnsInLine() {
        let rows = ["温室 🌱", "gro\u{308}ßer", "north"].map {
            NodeTable.Row(
                name: $0, peer: "53hz5-hrw7r", role: "agent", reached: "-", seen: "online",
                version: "-")
        }
        let lines = NodeTable(rows: rows).lines
        let starts = lines.dropFirst().map { line in
            TextWidth.columns(String(line.prefix { $0 != "5" }))
        }
        #expect(starts == [9, 9, 9])
        #expect(TextWidth.columns("温室 🌱") == 7)
        #expect(TextWidth.columns("gro\u{308}ßer") == 6)
    }
}
