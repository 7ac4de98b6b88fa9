import NearbyCore
import NearbyLinux
import NearbyWire

/// Nodes that one member invents: each has a key, knows the secret and is admitted over the mesh,
/// and none is anywhere.
final class Ghosts {
    private let member: Member
    private let count: Int
    private var begun: [RogueChannel] = []
    private var byShortID: [ShortID: RogueChannel] = [:]

    /// `count=` of them, `each=` so many a second.
    static func attack(_ options: Options) throws {
        let ghosts = Ghosts(try Member(options), count: Int(try options.number("count", or: 400)))
        let each = max(1, min(500, try options.number("each", or: 50)))
        try ghosts.run(pause: .milliseconds(1_000 / each))
    }

    private init(_ member: Member, count: Int) {
        self.member = member
        self.count = count
    }

    private func run(pause: Duration) throws {
        member.channel.onPacket = { [unowned self] packet, now in
            byShortID[packet.destination]?.receive(Array(packet.inside), now)
        }
        try member.attack { [unowned self] _ in
            member.shell.every(pause) { [unowned self] now in
                if begun.count < count { invent(now) }
            }
            member.shell.every(.milliseconds(50)) { [unowned self] now in
                for ghost in begun { ghost.tick(now) }
            }
        }
        let open = begun.filter { $0.stage == .open }.count
        say("\(begun.count) ghosts, \(open) admitted")
    }

    private func invent(_ now: Instant) {
        guard let target = member.channel.peer else { return }
        let link = member.channel
        var transmit: (([UInt8]) -> Void)?
        let ghost = RogueChannel(
            member.network, role: .agent, name: "ghost-\(begun.count)", isOnLink: false
        ) { transmit?($0) }
        let source = ghost.identity.ownPeer.short
        transmit = { inside in
            var writer = ByteWriter(reserving: inside.count + MeshPacket.headerByteCount + 1)
            writer.write(FrameKind.packet.rawValue)
            MeshPacket(
                priority: .control, source: source, destination: target.short, inside: inside[...]
            ).emit(into: &writer)
            link.send(writer.bytes)
        }
        begun.append(ghost)
        byShortID[source] = ghost
        link.announce([
            .update(
                .init(destination: ghost.identity.ownPeer, seqno: 1, metric: 96, kind: .node))
        ])
        ghost.begin(now)
    }
}
