import NearbyCore
import NearbyEngine
import NearbySimulator
import NearbyWire

/// A member that lies: a real node whose frames are altered just before they are sealed. It knows
/// the secret, and says of others what is not so.
public final class Liar: LyingForger {
    /// What it announces of the collector, always as the nearest to it.
    public enum Lie: CaseIterable, Sendable {
        /// The highest number there is.
        case highestSeqno
        /// As far ahead as a seqno can be and count as newer.
        case halfACircle
        /// Each time a step further, as far as nobody takes for a leap.
        case climbing
        /// Each time a third of the circle further.
        case whirling
        case anySeqno
        /// The true seqno: only the metric is wrong.
        case nearest
        /// Others that have its short ID.
        case squatting
        /// Collectors and nodes that do not exist, others in each message.
        case inventing
        /// A hundred collectors that do not exist, again and again.
        case crowding
        /// The true seqno and that there is no way, by turns.
        case flapping
        /// That there is no way to anybody.
        case retracting
        /// In the name of others, that they have the seqno that is asked of them.
        case answering
        /// That it is a collector itself.
        case promoted
        /// That everybody else is one.
        case appointing

        /// Seqnos that leap leave no order in which to be loop-free: packets may circle until
        /// their hop limit while the liar lies, and for a few seconds after.
        var leaps: Bool {
            switch self {
            case .highestSeqno, .halfACircle, .whirling, .anySeqno: true
            default: false
            }
        }
    }

    private var spoils: Bool { lie != .promoted && lie != .appointing }

    package var leaps: Bool { isLying && lie.leaps }

    let lie: Lie
    /// Until then it is a member like any other.
    public var isLying = true
    /// Of the collector that it speaks of.
    private let target: PeerID
    private let own: PeerID
    /// The seqno that the liar's own node knows, and the one that it said last.
    private var known: UInt32 = 1
    private var said: UInt32 = 1
    private var random: SeededGenerator
    /// Messages altered.
    private var count = 0
    private let crowd: [PeerID]

    init(_ lie: Lie, about target: PeerID, own: PeerID, seed: UInt64) {
        self.lie = lie
        self.target = target
        self.own = own
        var random = SeededGenerator(seed: seed)
        crowd = (0..<100).map { _ in PeerID(high: random.next(), low: random.next()) }
        self.random = SeededGenerator(seed: seed)
    }

    /// What leaves instead of a frame's payload.
    public func altered(_ payload: ArraySlice<UInt8>) -> [UInt8] {
        guard isLying else { return Array(payload) }
        let altered = alteredFrame(payload)
        return altered.count <= Limits.frameBytesMax ? altered : Array(payload)
    }

    private func alteredFrame(_ payload: ArraySlice<UInt8>) -> [UInt8] {
        let body = payload.dropFirst()
        switch payload.first.flatMap(FrameKind.init) {
        case .bundle:
            guard let bundle = try? FrameBundle(parsing: body) else { return Array(payload) }
            return FrameBundle(frames: bundle.frames.map { alteredFrame($0)[...] }).bytes
        case .routing:
            guard let message = try? RoutingMessage(parsing: body) else { return Array(payload) }
            // An answer to each answer would never end.
            return message.number == 0 ? Array(payload) : altered(message).bytes
        case .liveness where Array(payload) == LivenessFrame.hello.bytes, .empty:
            return altered(RoutingMessage(number: 0, acknowledged: 0, items: [])).bytes
        case .packet:
            // What others send through it disappears.
            guard let packet = try? MeshPacket(parsing: body), packet.source != own.short, spoils
            else {
                return Array(payload)
            }
            return [FrameKind.empty.rawValue]
        default: return Array(payload)
        }
    }

    private func altered(_ message: RoutingMessage) -> RoutingMessage {
        var altered = message
        count += 1
        if !spoils {
            altered.items = message.items.map(promoted)
            return altered
        }
        for case .update(let update) in message.items where update.destination == target {
            if update.metric != RoutingMessage.metricInfinite { known = update.seqno }
        }
        altered.items.removeAll {
            if case .update(let update) = $0 { update.destination == target } else { false }
        }
        let lies = lies()
        altered.items = lies + altered.items.prefix(37 - lies.count).map(turned)
        return altered
    }

    private func lies() -> [RoutingMessage.Item] {
        switch lie {
        case .highestSeqno: return [update(target, .max)]
        case .halfACircle:
            return [update(target, known &+ (1 << 31 - 1)), .known(seqno: known &+ 1 << 30)]
        case .climbing:
            said = said.isBehind(known) ? known : said &+ 1 << 16
            return [update(target, said), request(said &+ 1)]
        case .whirling:
            said &+= .max / 3
            return [update(target, said), request(said)]
        case .anySeqno:
            said = UInt32.random(in: 0...(.max), using: &random)
            return [update(target, said), request(random32), .known(seqno: random32)]
        case .nearest: return [update(target, known)]
        case .promoted, .appointing, .answering: return []
        case .crowding:
            return (0..<30).map { update(crowd[(count * 30 + $0) % crowd.count], 1) }
        case .flapping:
            return [update(target, known, count % 2 == 0 ? 0 : RoutingMessage.metricInfinite)]
        case .retracting: return [update(target, known, RoutingMessage.metricInfinite)]
        case .squatting:
            let squatter = PeerID(high: target.short.value, low: random.next())
            return [update(squatter, random32)]
        case .inventing:
            return [.collector, .node, .viewer].map {
                update(PeerID(high: random.next(), low: random.next()), random32, 0, $0)
            }
        }
    }

    /// What is said of others turned round.
    private func turned(_ item: RoutingMessage.Item) -> RoutingMessage.Item {
        switch (item, lie) {
        case (.update(var update), .retracting) where update.destination != own:
            update.metric = RoutingMessage.metricInfinite
            return .update(update)
        case (.request(let destination, let seqno, _), .answering):
            return update(destination, seqno, 0, destination == target ? .collector : .node)
        default: return item
        }
    }

    private func promoted(_ item: RoutingMessage.Item) -> RoutingMessage.Item {
        guard case .update(var update) = item,
            (update.destination == own) == (lie == .promoted)
        else { return item }
        update.kind = .collector
        return .update(update)
    }

    private var random32: UInt32 { UInt32.random(in: 0...(.max), using: &random) }

    private func request(_ seqno: UInt32) -> RoutingMessage.Item {
        .request(destination: target, seqno: seqno, hopLimit: 64)
    }

    private func update(
        _ destination: PeerID, _ seqno: UInt32, _ metric: UInt16 = 0,
        _ kind: DestinationKind = .collector
    ) -> RoutingMessage.Item {
        .update(.init(destination: destination, seqno: seqno, metric: metric, kind: kind))
    }
}

extension UInt32 {
    fileprivate func isBehind(_ other: UInt32) -> Bool {
        self != other && other &- self < 1 << 31
    }
}

extension Simulator {
    /// - Parameter liars: members that lie about the first collector, by number.
    public convenience init(
        seed: UInt64, world: World, faults: Faults = Faults(), liars: [Int: Liar.Lie]
    ) {
        self.init(seed: seed, world: world, faults: faults)
        let target = hosts.first { $0.role == .collector } ?? hosts[0]
        for (number, lie) in liars.sorted(by: { $0.key < $1.key }) {
            hosts[number].liar = Liar(
                lie, about: target.peer, own: hosts[number].peer, seed: seed &+ UInt64(number))
        }
    }
}
