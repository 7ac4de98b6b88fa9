import NearbyCore
import NearbyWire

/// How a node and its neighbours come together: whom discovery finds, whom of them the tie-break
/// invites, whom we refuse, and what beacons say of us.
///
/// What one part says the other hears before anybody else is told of anything.
struct RendezvousMachine {
    enum Input {
        case discovery(DiscoveryMachine.Input)
        case invitation(InvitationMachine.Input)
        /// One with a frame of discovery.
        case datagram([UInt8], from: Endpoint, isMulticast: Bool)
        /// A frame of a channel that we do not have came from there.
        case unknownChannel(at: Endpoint)
        // How an attempt at a channel ended.
        case declined(PeerChannel, DecisionFrame)
        case failed(PeerChannel, DropReason, text: String)
        /// The peer of this channel invites us: what to answer?
        case asked(on: PeerChannel)
        /// The peer was admitted, whatever was said of it before.
        case opened(PeerID)
        /// What our route to the nearest collector costs; nil: there is none.
        case costToCollector(UInt16?)
        /// What beacons show to people from now on; nil: we are hidden.
        case advertise(DiscoveryInfo?)
        /// What beacons say of encryption from now on.
        case prefer(EncryptionPreference)
        case deadlineReached
    }

    enum Output {
        case transmit(Transmission)
        /// Begin a handshake with the peer there.
        case invite(PeerID, at: Endpoint, attempt: UInt16)
        /// It has no address: the tie-break is to hear that the attempt failed.
        case unreachable(PeerID, attempt: UInt16)
        /// Ask over the channel that is open whether the peer answers there.
        case resume(PeerID, at: Endpoint, attempt: UInt16)
        case abandon(PeerID, attempt: UInt16)
        // As the tie-break says.
        case use(ChannelToken)
        case keepForOpening(ChannelToken, until: Instant)
        case close(ChannelToken, CloseFrame.Reason)
        case decided(ChannelToken, DecisionFrame)
        case probe(ChannelToken)
        /// Where this peer was heard, best first.
        case sighted(PeerID, [Endpoint])
        /// Have whoever sends beacons in our name from there prove our key.
        case detectClone(at: Endpoint)
        case event(NodeEvent)
        case drop(DropReason)
    }

    /// What it sees of the rest of the node.
    struct View {
        let links: LinkTable
        let peers: Peers
        /// What a neighbour offers routes to.
        let reach: (PeerID) -> NeighbourReach
    }

    private let own: PeerID
    private let membership: Membership
    /// What beacons say of us whatever happens in the network.
    private var constant: DiscoveryMachine.OwnState
    /// The program wants to know whom we see.
    private let tellsSightings: Bool
    private let beacons: BeaconCodec
    private(set) var discovery: DiscoveryMachine
    private(set) var invitation: InvitationMachine
    private(set) var refusals = RefusedNodes()
    private var costToCollector: UInt16?
    /// What beacons were told of us last: it follows from `costToCollector` and the tie-break.
    private var presence: DiscoveryMachine.OwnState?
    /// Kept, since it is asked for after each datagram, and few are for this machine.
    private(set) var nextDeadline: Instant?
    /// Between handshakes with those who send beacons in our name.
    private var cloneBackoff = GrowingPause(
        first: Limits.cloneBackoffFirst, longest: Limits.cloneBackoffMax)

    init(
        _ configuration: NodeConfiguration, _ cryptography: any Cryptography,
        random: inout SeededGenerator
    ) {
        own = cryptography.ownPeer
        membership = configuration.membership
        constant = .init(
            dataPort: configuration.dataPort, role: configuration.role,
            flags: configuration.preference.flags, info: configuration.info)
        tellsSightings = configuration.application != nil
        if tellsSightings {
            constant.name = BeaconName(configuration.name)
            constant.flags.insert(.hidden)
        }
        beacons = BeaconCodec(configuration, cryptography)
        costToCollector = configuration.role == .collector ? 0 : nil
        discovery = configuration.makeDiscovery(own: own, seed: random.next())
        invitation = InvitationMachine(
            own: own, role: configuration.role, seed: random.next(),
            accepting: configuration.application?.neighboursAccepted)
        nextDeadline = earliest
    }

    mutating func handle(_ input: Input, seeing view: View, now: Instant) -> [Output] {
        defer { nextDeadline = earliest }
        switch input {
        case .discovery(.start):
            return tell(.start, view, now) + presenceChanged(view, now)
        case .discovery(let input): return tell(input, view, now)
        case .invitation(let input): return tell(input, view, now)
        case .datagram(let bytes, let endpoint, let isMulticast):
            return received(bytes, from: endpoint, isMulticast: isMulticast, view, now)
        case .unknownChannel(let endpoint):
            return tell(.nudge(nil, attempt: 0, at: endpoint, isCollector: false), view, now)
        case .declined(let channel, let decision):
            return declined(channel, decision, view, now)
        case .failed(let channel, let reason, let text):
            return failed(channel, reason, text, view, now)
        case .asked(let channel): return asked(on: channel, view, now)
        case .opened(let peer):
            refusals.remove(peer)
            return []
        case .costToCollector(let cost):
            costToCollector = cost
            let outputs = tell(InvitationMachine.Input.costToCollector(cost), view, now)
            return outputs + presenceChanged(view, now)
        case .advertise(let info):
            constant.info = info ?? .empty
            constant.flags.remove(.hidden)
            if info == nil { constant.flags.insert(.hidden) }
            return presenceChanged(view, now)
        case .prefer(let preference):
            constant.flags.subtract([.offersPlain, .offersEncryption])
            constant.flags.formUnion(preference.flags)
            return presenceChanged(view, now)
        case .deadlineReached:
            var outputs: [Output] = []
            if discovery.nextDeadline ?? .distantFuture <= now {
                outputs += tell(DiscoveryMachine.Input.deadlineReached, view, now)
            }
            if invitation.nextDeadline ?? .distantFuture <= now {
                outputs += tell(InvitationMachine.Input.deadlineReached, view, now)
            }
            return outputs
        }
    }

    private var earliest: Instant? {
        let earliest = min(
            discovery.nextDeadline ?? .distantFuture, invitation.nextDeadline ?? .distantFuture)
        return earliest == .distantFuture ? nil : earliest
    }

    func endpoints(of peer: PeerID) -> [Endpoint] {
        discovery.sighting(of: peer)?.endpoints ?? []
    }

    /// Where to try first: the best address; where that has not helped, each in its turn.
    private func firstEndpoint(of peer: PeerID, _ links: LinkTable) -> Endpoint? {
        links.reachable(endpoints(of: peer), tries: invitation.tries(of: peer)).first
    }

    // MARK: The parts and what they say

    @inline(never)
    private mutating func tell(
        _ input: DiscoveryMachine.Input, _ view: View, _ now: Instant
    ) -> [Output] {
        discovery.handle(input, now: now).flatMap { perform($0, view, now) }
    }

    @inline(never)
    private mutating func tell(
        _ input: InvitationMachine.Input, _ view: View, _ now: Instant
    ) -> [Output] {
        invitation.handle(input, now: now).flatMap { perform($0, view, now) }
    }

    private mutating func perform(
        _ output: DiscoveryMachine.Output, _ view: View, _ now: Instant
    ) -> [Output] {
        switch output {
        case .multicast(let frame, let link):
            return [.transmit(.multicast(beacons.emit(frame), on: link))]
        case .broadcast(let frame, let link):
            return [.transmit(.broadcast(beacons.emit(frame), on: link))]
        case .unicast(let frame, let endpoint):
            return [.transmit(.unicast(beacons.emit(frame), to: endpoint))]
        case .heard(let sighting): return sighted(sighting, view, now)
        case .forgotten(let peer): return tell(.lost(peer), view, now)
        case .found(let sighting), .changed(let sighting):
            return tellsSightings ? [.event(.application(.sighted(sighting)))] : []
        case .lost(let peer): return tellsSightings ? [.event(.application(.vanished(peer)))] : []
        case .nudged(let peer, let run, let attempt):
            return nudged(by: peer, run, attempt, view, now)
        case .nudgeHeldBack(let peer):
            return tell(InvitationMachine.Input.nudgeHeldBack(peer), view, now)
        case .suspicion(_, let endpoint): return detectClone(at: endpoint, now)
        case .drop(let reason): return [.drop(reason)]
        }
    }

    private mutating func perform(
        _ output: InvitationMachine.Output, _ view: View, _ now: Instant
    ) -> [Output] {
        switch output {
        case .invite(let peer, let attempt): return invite(peer, attempt, view, now)
        case .nudge(let peer, let attempt):
            guard let endpoint = firstEndpoint(of: peer, view.links) else { return [] }
            let isCollector = discovery.sighting(of: peer)?.role == .collector
            let input = DiscoveryMachine.Input.nudge(
                peer, attempt: attempt, at: endpoint, isCollector: isCollector)
            return tell(input, view, now)
        case .abandon(let peer, let attempt): return [.abandon(peer, attempt: attempt)]
        case .use(let token, _): return [.use(token)]
        case .keepForOpening(let token, let until): return [.keepForOpening(token, until: until)]
        case .close(let token, let reason): return [.close(token, reason)]
        case .decided(let token, let decision): return [.decided(token, decision)]
        case .probe(let token): return [.probe(token)]
        case .drop(let reason): return [.drop(reason)]
        case .tooMany: return tell(.weighed(reaches(view)), view, now)
        case .wantsChanged: return presenceChanged(view, now)
        }
    }

    // MARK: Who is found

    /// A neighbour whose sealed frames of the same run arrive has our channel: then somebody
    /// replays nudges, or makes it send them.
    private mutating func nudged(
        by peer: PeerID, _ run: RunID, _ attempt: UInt16, _ view: View, _ now: Instant
    ) -> [Output] {
        if let neighbour = view.peers.neighbour(peer), view.peers[peer]?.terms.run == run,
            neighbour.hop.wasJustHeard(now: now)
        {
            return [.drop(.beaconUnneeded)]
        }
        return tell(.nudged(peer, run, attempt: attempt), view, now)
    }

    private mutating func sighted(
        _ sighting: Sighting, _ view: View, _ now: Instant
    ) -> [Output] {
        let best = view.links.reachable(sighting.endpoints).first
        let input = InvitationMachine.Input.sighted(
            sighting.peer,
            .init(
                run: sighting.run, role: sighting.role, costToCollector: sighting.costToCollector,
                linkCost: best.map { view.links.path(to: $0).linkClass.cost } ?? 0,
                links: view.links.toCover(by: sighting.endpoints)))
        return [.sighted(sighting.peer, sighting.endpoints)] + tell(input, view, now)
    }

    /// At most now and then: they may be a replay of our own past, and only a key that was proved
    /// there is told.
    private mutating func detectClone(at endpoint: Endpoint, _ now: Instant) -> [Output] {
        guard cloneBackoff.isOver(now) else { return [.drop(.beaconEcho)] }
        cloneBackoff.begin(now)
        return [.detectClone(at: endpoint)]
    }

    // MARK: Who is invited

    /// A neighbour needs a place in our table; over the mesh only collectors and viewers are
    /// called.
    private mutating func asked(
        on channel: PeerChannel, _ view: View, _ now: Instant
    ) -> [Output] {
        guard let peer = channel.peer, let terms = channel.peerTerms,
            let endpoint = channel.path.endpoint, !view.peers.isNeighbour(peer)
        else { return [.decided(channel.token, .init(verdict: .accepted, retryAfter: .zero))] }
        let request = PlaceRequest(
            link: view.links.toCover(by: [endpoint]).first, hasRoute: terms.hasRoute,
            seeksShortcut: terms.seeksShortcut, neighbourCount: Int(terms.neighbourCount))
        let reaches = invitation.isFull ? reaches(view) : []
        return tell(.asked(channel.token, by: peer, request, reaches: reaches), view, now)
    }

    private func reaches(_ view: View) -> [NeighbourReach] {
        invitation.connectedPeers.map(view.reach)
    }

    /// A channel that is open already needs no handshake: it gains the link, if the peer answers
    /// there. A full peer would close it; in an invitation it can decline.
    private mutating func invite(
        _ peer: PeerID, _ attempt: UInt16, _ view: View, _ now: Instant
    ) -> [Output] {
        guard let endpoint = firstEndpoint(of: peer, view.links) else {
            return [.unreachable(peer, attempt: attempt)]
        }
        if attempt % 2 == 1, view.peers[peer] != nil, !view.peers.isNeighbour(peer),
            discovery.sighting(of: peer)?.flags.contains(.full) != true
        {
            return [.resume(peer, at: endpoint, attempt: attempt)]
        }
        return [.invite(peer, at: endpoint, attempt: attempt)]
    }

    /// Tells beacons what changed about us.
    private mutating func presenceChanged(_ view: View, _ now: Instant) -> [Output] {
        var state = constant
        if invitation.wantsNeighbours { state.flags.insert(.wantsNeighbours) }
        if invitation.isFull { state.flags.insert(.full) }
        if costToCollector != nil { state.flags.insert(.hasRoute) }
        state.costToCollector = costToCollector
        guard state != presence else { return [] }
        presence = state
        let outputs = tell(.ownChanged(state), view, now)
        return outputs + tell(.content(!invitation.wantsNeighbours), view, now)
    }

    // MARK: Who is refused

    private mutating func declined(
        _ channel: PeerChannel, _ decision: DecisionFrame, _ view: View, _ now: Instant
    ) -> [Output] {
        guard let peer = channel.peer else { return [] }
        let outputs = notConnected(peer, view)
        guard channel.isClient, channel.path.endpoint != nil else { return outputs }
        let input = InvitationMachine.Input.declined(
            peer, channel.attemptNumber, retryAfter: decision.retryAfter)
        return outputs + tell(input, view, now)
    }

    private mutating func failed(
        _ channel: PeerChannel, _ reason: DropReason, _ text: String, _ view: View, _ now: Instant
    ) -> [Output] {
        let peer = channel.peer ?? channel.expectedPeer
        var outputs: [Output] = []
        if let peer, let endpoint = channel.path.endpoint, let cause = RefusedNode.Cause(reason) {
            outputs = refuse(peer, at: endpoint, cause, now)
        } else {
            outputs = [
                .event(
                    .diagnostic(.refused(peer, reason, at: channel.path.endpoint, text: text)))
            ]
        }
        guard let peer else { return outputs }
        outputs += notConnected(peer, view)
        guard channel.isClient, channel.key.path.endpoint != nil else { return outputs }
        return outputs + tell(.ended(channel, reason, with: peer), view, now)
    }

    private func notConnected(_ peer: PeerID, _ view: View) -> [Output] {
        view.peers[peer] == nil ? [.event(.peer(peer, .notConnected))] : []
    }

    private mutating func received(
        _ bytes: [UInt8], from endpoint: Endpoint, isMulticast: Bool, _ view: View, _ now: Instant
    ) -> [Output] {
        func refuse(_ frame: DiscoveryFrame, _ cause: RefusedNode.Cause) -> [Output] {
            // A peer with a channel is none of these, whatever is said in its name.
            guard frame.peer != own, view.peers[frame.peer] == nil else { return [] }
            let address = isMulticast ? frame.dataEndpoint(from: endpoint) : endpoint
            return self.refuse(frame.peer, at: address, cause, now)
        }
        do throws(BeaconCodec.Refusal) {
            let frame = try beacons.parse(bytes)
            guard frame.peer == own || membership.mayAdmit(frame.peer) else {
                return [.drop(.admissionNotListed)] + refuse(frame, .notListed)
            }
            let isOther = WireVersion.agreed(WireVersion.spoken, frame.versions) == nil
            let outputs = isOther ? refuse(frame, .version) : []
            let input = DiscoveryMachine.Input.received(
                frame, from: endpoint, multicast: isMulticast)
            return outputs + tell(input, view, now)
        } catch {
            switch error {
            case .malformed: return [.drop(.beaconMalformed)]
            case .unsupportedVersion: return [.drop(.beaconVersion)]
            case .otherNetwork(let frame):
                return [.drop(.beaconForeignNetwork)] + refuse(frame, .otherNetwork)
            case .unproved(let frame):
                let cause: RefusedNode.Cause = frame.proof == nil ? .noSecret : .otherSecret
                return [.drop(.beaconBadProof)] + refuse(frame, cause)
            }
        }
    }

    /// Told once, with the address at which it takes data.
    private mutating func refuse(
        _ peer: PeerID, at endpoint: Endpoint, _ cause: RefusedNode.Cause, _ now: Instant
    ) -> [Output] {
        guard refusals.record(peer, at: endpoint, cause, now: now), let node = refusals[peer] else {
            return []
        }
        return [.event(.diagnostic(.nodeRefused(node)))]
    }
}

extension DiscoveryFrame {
    /// Where its sender takes data, if it came by multicast from there.
    fileprivate func dataEndpoint(from source: Endpoint) -> Endpoint {
        var endpoint = source
        switch body {
        case .beacon(let beacon), .answer(let beacon):
            endpoint.address = source.address.withPort(beacon.dataPort)
        case .nudge, .infoRequest, .infoReply: break
        }
        return endpoint
    }
}

extension Limits {
    /// Between two handshakes with whoever uses our name.
    static let cloneBackoffFirst = Duration.seconds(10)
    static let cloneBackoffMax = Duration.seconds(640)
}
