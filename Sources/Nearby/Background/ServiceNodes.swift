import NearbyCore
import NearbyDTLS
import NearbyEngine
import NearbyLinux
import NearbyWire

extension Limits {
    /// Services that one peer advertises or browses at a time.
    static let serviceNodesMax = 16
}

/// The nodes of one of our peers, one for each service that is used: which of them carries each
/// peer, whom they were told to call, and whose names they are asked for.
final class ServiceNodes {
    /// A channel over which a peer's sessions are reached.
    struct Carrier {
        let node: ServiceNode
        let run: RunID
        let isEncrypted: Bool

        var runs: RunPair { RunPair(own: node.node.configuration.run, theirs: run) }
    }

    private let own: Peer
    private let identity: NodeIdentity
    private let usesBluetooth: Bool
    private let loop: EventLoop
    /// With every batch of inputs of a node, and when it is due.
    var onInputs: ((ServiceNode, [Node.Input], Instant) -> Void)?
    /// A message goes, or a fresh one came, perhaps to be passed on.
    var onMessage: ((Instant) -> Void)?
    /// Some bulk was opened, and others may have their turn; says whether messages pass.
    var onBulk: ((Instant) -> Bool)?
    private(set) var all: [ServiceNode] = []
    /// One that is not used has still something to say.
    private(set) var isStopDelayed = false
    private(set) var carriers: [PeerID: Carrier] = [:]
    /// For sessions.
    private var dialed: Set<PeerID> = []
    /// Those that were dialed only to hear their names.
    private var lookedUp: [PeerID: LookUp] = [:]
    /// When those were first asked for that only routing knew.
    private var noticed: [PeerID: Instant] = [:]

    init(of own: Peer, _ identity: NodeIdentity, usesBluetooth: Bool, loop: EventLoop) {
        self.own = own
        self.identity = identity
        self.usesBluetooth = usesBluetooth
        self.loop = loop
    }

    subscript(service: Service) -> ServiceNode? { all.first { $0.service == service } }

    /// The node of a service, made where there is none. The first beacons already show the info.
    func make(
        _ service: Service, advertising info: DiscoveryInfo? = nil, _ now: Instant
    ) throws(NearbyError) -> ServiceNode {
        if let node = self[service] { return node }
        guard all.count < Limits.serviceNodesMax else {
            throw NearbyError(
                .unavailable,
                "a peer uses at most \(Limits.serviceNodesMax) services at a time: stop some")
        }
        let node = try ServiceNode(
            service, of: own, identity, Background.shared.preference(of: own.id),
            usesBluetooth: usesBluetooth && service.isDiscoverable
                && !all.contains { $0.service.isDiscoverable }, loop: loop)
        node.onInputs = { [unowned self] in onInputs?($0, $1, $2) }
        node.sockets.onMessage = { [unowned self] in onMessage?($0) }
        node.sockets.onBulk = { [unowned self] in onBulk?($0) ?? false }
        all.append(node)
        do throws(NearbyError) {
            try node.start(advertising: info, now)
        } catch {
            all.removeAll { $0 === node }
            throw error
        }
        for peer in dialed.sorted() { node.node.handle(.application(.dial(peer)), now: now) }
        return node
    }

    /// Some peer may not have yet what it was told, that it is declined for one.
    var isSaying: Bool { all.contains(where: \.isSaying) }

    /// Stops those whose service is not used, as soon as they have said what they had to say.
    ///
    /// - Returns: the stopped ones; their channels are still told of.
    func stop(but used: [Service], _ now: Instant) -> [ServiceNode] {
        let unused = all.filter { !used.contains($0.service) }
        isStopDelayed = unused.contains(where: \.isSaying)
        let stopped = unused.filter { !$0.isSaying }
        for node in stopped { node.stop(now) }
        all.removeAll { node in stopped.contains { $0 === node } }
        return stopped
    }

    func stopAll(_ now: Instant) {
        for node in all { node.stop(now) }
        all = []
    }

    /// Sends what the nodes have to send.
    ///
    /// - Returns: what they have to tell.
    func flush(_ now: Instant) -> [(node: ServiceNode, event: Node.Event)] {
        all.flatMap { node in node.flush(now).map { (node, $0) } }
    }

    // MARK: Peers

    /// What became of a channel, as seen from the peer's sessions.
    enum CarrierChange { case none, found, restarted, encryption }

    /// A channel of the node was opened, or another takes over.
    func carrierFound(_ peer: PeerID, at node: ServiceNode) -> CarrierChange {
        guard let channel = node.channels[peer] else { return .none }
        let before = carriers[peer]
        // Another service's channel carries it as well.
        if let before, before.node !== node { return .none }
        carriers[peer] = Carrier(node: node, run: channel.run, isEncrypted: channel.isEncrypted)
        guard let before else { return .found }
        guard before.run == channel.run else { return .restarted }
        return before.isEncrypted == channel.isEncrypted ? .none : .encryption
    }

    /// What the nodes say of encryption follows what the peer's sessions want.
    func prefer(_ preference: EncryptionPreference, _ now: Instant) {
        for node in all { node.prefer(preference, now) }
    }

    /// - Returns: whether it carried the peer.
    func carrierLost(_ peer: PeerID, of node: ServiceNode) -> Bool {
        node.channels[peer] = nil
        guard carriers[peer]?.node === node else { return false }
        carriers[peer] = nil
        return true
    }

    /// Over the node that carries the peer; nowhere without one.
    func send(_ bytes: [UInt8], to peer: PeerID, isReliable: Bool, _ now: Instant) {
        onMessage?(now)
        carriers[peer]?.node.send(bytes, to: peer, isReliable: isReliable, now)
    }

    func dial(_ peer: PeerID, _ now: Instant) {
        guard dialed.insert(peer).inserted else { return }
        for node in all { node.node.handle(.application(.dial(peer)), now: now) }
    }

    /// Channels that nobody wants any more.
    func release(where isUnwanted: (PeerID) -> Bool, _ now: Instant) {
        for peer in dialed.sorted() where isUnwanted(peer) {
            dialed.remove(peer)
            for node in all {
                node.node.handle(.application(.release(peer)), now: now)
                node.forget(peer, now)
            }
        }
    }

    // MARK: Looking up

    /// A node that was dialed to hear its name.
    private struct LookUp {
        let began: Instant
        var isOver = false
    }

    /// Peers that only relays see: routing knows that they are there, and nobody has heard their
    /// names. Returns those whose names are known by now. The others are dialed, a few at a time,
    /// and say theirs; whoever asks again hears of them. Not at once: those within reach are seen
    /// soon, and a channel with each of a hundred would be for nothing.
    func lookUp(_ service: Service, _ now: Instant) -> [(peer: PeerID, name: String)] {
        guard let node = self[service] else { return [] }
        endLookUps(isOver: false, now)
        var named: [(peer: PeerID, name: String)] = []
        for known in node.node.knownNodes
        where known.isReachable && known.peer != own.id && node.sightings[known.peer] == nil {
            if let name = known.name {
                named.append((known.peer, name))
            } else if wasNoticed(known.peer, now), mayLookUp(known.peer) {
                lookedUp[known.peer] = LookUp(began: now)
                node.node.handle(.application(.dial(known.peer)), now: now)
            }
        }
        return named
    }

    /// Whether it was asked for some time ago, and has not been seen since.
    private func wasNoticed(_ peer: PeerID, _ now: Instant) -> Bool {
        if let since = noticed[peer] { return now - since >= Limits.lookUpGrace }
        if noticed.count < Limits.lookedUpMax { noticed[peer] = now }
        return false
    }

    private func mayLookUp(_ peer: PeerID) -> Bool {
        !dialed.contains(peer) && lookedUp[peer] == nil
            && lookedUp.values.count { !$0.isOver } < Limits.lookUpsMax
            && lookedUp.count < Limits.lookedUpMax
    }

    /// Lets go of those that have said their names, or had their time; of all, if nobody looks.
    func endLookUps(isOver: Bool, _ now: Instant) {
        for (peer, lookUp) in lookedUp.sorted(by: { $0.key < $1.key }) where !lookUp.isOver {
            let isNamed = all.contains { $0.node.knownNode(peer)?.name != nil }
            guard isNamed || isOver || now - lookUp.began > Limits.lookUpTime else { continue }
            lookedUp[peer]?.isOver = true
            guard !dialed.contains(peer) else { continue }
            for node in all { node.node.handle(.application(.release(peer)), now: now) }
        }
        if isOver { (lookedUp, noticed) = ([:], [:]) }
    }
}

extension Limits {
    /// Nodes dialed at a time to hear their names, and in all.
    static let lookUpsMax = 16
    static let lookedUpMax = 1_024
    static let lookUpTime = Duration.seconds(5)
    static let lookUpGrace = Duration.milliseconds(1_500)
}
