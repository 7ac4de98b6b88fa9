import Configuration
import Fleet
import NearbyCore
import NearbyLinux
import NodeShell
import Store

/// Reads from the store who was heard before this start, on a thread that may wait for it.
final class FleetRecall {
    enum Answer: Sendable {
        case nodes([RecalledNode])
        case fault(String)
    }

    /// So long after its newest reading a node is shown, nanoseconds.
    private static let span: Int64 = 30 * 86_400 * 1_000_000_000

    let answers: Mailbox<Answer>
    private let path: String
    private let worker = WorkerPool(threads: 1, most: 1)
    private var hasBegun = false

    init(path: String) throws(SystemError) {
        self.path = path
        answers = try Mailbox()
    }

    /// The store is there: it is asked, once.
    func begin() {
        guard !hasBegun else { return }
        hasBegun = worker.run { [path, answers] in _ = answers.post(Self.read(path)) }
    }

    private static func read(_ path: String) -> Answer {
        let since = WallClock.read().unixNanoseconds.subtractingSaturating(span)
        do throws(StoreError) {
            let nodes = StoredNodes(try StoreReader(path))
            return .nodes(try nodes.recalled(since: since, limit: Limits.fleetAgentsMax))
        } catch {
            return .fault(
                "the nodes heard before this start cannot be read: \(error); each appears once "
                    + "it is heard again")
        }
    }
}

extension FormerNode {
    /// As those that are in reach are listed.
    init(_ node: FleetNode) {
        let name = node.storedName ?? node.name
        let age = node.age ?? .zero
        self.init(
            row: NodeTable.Row(
                name: PlainText.shown(name), peer: node.peer.shortText, role: node.role,
                reached: "-", seen: "\(AgeText.text(age)) ago", version: "-"),
            member: .object([
                ("peer", .string(node.peer.description)), ("name", .string(name)),
                ("role", .string(node.role)), ("online", .flag(false)),
                ("lastSeenSeconds", .integer(age.milliseconds / 1_000)),
                ("neighbour", .flag(false)), ("interface", .null), ("via", .null),
                ("viaName", .null), ("hops", .null), ("version", .null),
            ]))
    }
}
