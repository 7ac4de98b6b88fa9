import NearbyCore
import NodeShell

extension Topology {
    /// A line for each node, indented below the one before it; at most 80 columns.
    public var lines: [String] {
        let network = NetworkMap.printable(map.network)
        let title = "network \(network), as \(map.label(of: map.own.peer)) knows it"
        var lines = [
            Column.trimmed(Column.fitted(title, 80)), "",
            Self.line("NODE", "ROLE", "LINK", "COST", "LOSS", "TIME"),
        ]
        add(root, to: &lines, before: "", own: "")
        if !gone.isEmpty { lines += ["", "out of reach"] }
        for member in gone {
            let was = member.via.map {
                $0 == member.peer ? "was a neighbour" : "was via \(map.label(of: $0))"
            }
            lines.append(
                Column.trimmed(
                    Column.fitted(map.label(of: member.peer), 28) + " "
                        + Column.fitted(member.role, 9) + " "
                        + Column.fitted(
                            AgeText.text(.seconds(member.ageSeconds)) + " ago"
                                + (was.map { ", \($0)" } ?? ""), 41)))
        }
        return lines
    }

    private func add(
        _ branch: Branch, to lines: inout [String], before: String, own: String
    ) {
        let isRoot = branch.member.peer == map.own.peer
        lines.append(
            Self.line(
                before + own + map.label(of: branch.member.peer), branch.member.role,
                isRoot ? "this node" : link(branch), branch.cost.map { "\($0)" } ?? "",
                branch.lossPercent.map { "\($0) %" } ?? "",
                branch.nanoseconds.map { EchoReply.time($0) } ?? ""))
        let below = before + (own.isEmpty ? "" : own == Self.last ? "   " : "│  ")
        for (index, child) in branch.children.enumerated() {
            let isLast = index == branch.children.count - 1
            add(child, to: &lines, before: below, own: isLast ? Self.last : "├─ ")
        }
    }

    /// Over what it is reached from the node above; for one that is only somewhere behind that,
    /// how far away it is.
    private func link(_ branch: Branch) -> String {
        guard branch.isCertain else {
            return branch.hops.map { "behind, \($0) hops" } ?? "behind it"
        }
        return [branch.link, branch.interface].compactMap { $0 }.joined(separator: " ")
    }

    private static let last = "└─ "

    private static func line(
        _ node: String, _ role: String, _ link: String, _ cost: String, _ loss: String,
        _ time: String
    ) -> String {
        let cells = [
            Column.fitted(node, 30), Column.fitted(role, 9), Column.fitted(link, 17),
            Column.right(cost, 5), Column.right(loss, 5), Column.right(time, 9),
        ]
        return Column.trimmed(cells.joined(separator: " "))
    }

    public var json: JSONValue {
        .object([
            ("network", .string(map.network)),
            ("root", .string(map.own.peer.description)),
            ("nodes", .array(members(root, parent: nil) + gone.map(member))),
        ])
    }

    private func members(_ branch: Branch, parent: PeerID?) -> [JSONValue] {
        let member = branch.member
        let own = JSONValue.object([
            ("peer", .string(member.peer.description)),
            ("name", .shown(member.name)),
            ("role", .string(member.role)),
            ("online", .flag(true)),
            ("parent", parent.map { .string($0.description) } ?? .null),
            ("parentIsCertain", .flag(branch.isCertain)),
            ("via", member.via.map { .string($0.description) } ?? .null),
            ("hops", branch.hops.map { .number(Int64($0)) } ?? .null),
            ("link", branch.link.map { .string($0) } ?? .null),
            ("interface", branch.interface.map { .string($0) } ?? .null),
            ("cost", branch.cost.map { .number(Int64($0)) } ?? .null),
            ("linkCost", branch.linkCost.map { .number(Int64($0)) } ?? .null),
            ("lossPercent", branch.lossPercent.map { .number(Int64($0)) } ?? .null),
            ("microseconds", branch.nanoseconds.map { .microseconds($0) } ?? .null),
        ])
        return [own] + branch.children.flatMap { members($0, parent: member.peer) }
    }

    private func member(_ member: NetworkMap.MappedNode) -> JSONValue {
        .object([
            ("peer", .string(member.peer.description)),
            ("name", .shown(member.name)),
            ("role", .string(member.role)),
            ("online", .flag(false)),
            ("lastSeenSeconds", .number(member.ageSeconds)),
            ("via", member.via.map { .string($0.description) } ?? .null),
        ])
    }
}
