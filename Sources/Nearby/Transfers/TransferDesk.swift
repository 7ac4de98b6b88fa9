import Glibc
import NearbyCore
import NearbyEngine
import NearbyGroups
import NearbyLinux
import NearbyTransfers
import NearbyWire

/// The streams and resources of an own peer: what the program wants of them, and the machines that
/// have them, one for each other peer.
final class TransferDesk {
    unowned let station: Station
    private(set) var peers: [PeerID: PeerTransfers] = [:]
    private var messageToldAt: Instant?
    /// Before that the processor is not left to others again.
    private var yieldsAt = Instant.zero

    init(_ station: Station) { self.station = station }

    /// When a machine has something to do next.
    var nextDeadline: Instant {
        peers.values.reduce(.distantFuture) {
            min($0, $1.machine.nextDeadline ?? .distantFuture)
        }
    }

    /// Files are to be read or hashed.
    var isBusy: Bool { peers.values.contains(where: \.isBusy) }

    // MARK: The program

    /// At once, or when others have ended.
    func openStream(_ pipe: OutgoingPipe, _ now: Instant) throws(NearbyError) {
        let (transfers, group) = try transfers(with: pipe.peer, in: pipe.session)
        if transfers.unopened.isEmpty, transfers.machine.mayOpenStream {
            return open(pipe, group, transfers, now)
        }
        guard transfers.unopened.count < Limits.unopenedStreamsMax else {
            throw NearbyError(.full, of: pipe.peer)
        }
        transfers.unopened.append(pipe)
    }

    private func open(
        _ pipe: OutgoingPipe, _ group: UInt16, _ transfers: PeerTransfers, _ now: Instant
    ) {
        let id = transfers.machine.nextStream
        transfers.written[id] = pipe
        tell(transfers, .openStream(name: pipe.name, group: group), now)
        write(pipe, id, transfers, now)
    }

    /// As many streams and files as have a place now. A session that the peer has left has ended
    /// its own before.
    func beginMore(_ transfers: PeerTransfers, _ now: Instant) {
        guard !transfers.isOpening else { return }
        transfers.isOpening = true
        defer { transfers.isOpening = false }
        while let pipe = transfers.unopened.first, transfers.machine.mayOpenStream {
            transfers.unopened.removeFirst()
            if let group = theirNumber(of: transfers.peer, in: pipe.session) {
                open(pipe, group, transfers, now)
            } else {
                pipe.end(NearbyError(.abandoned, of: pipe.peer))
            }
        }
        while transfers.machine.mayOffer, let (file, group) = nextUnsent(of: transfers) {
            offer(file, group, transfers, now)
        }
    }

    /// Those of a session that is being connected again wait on.
    private func nextUnsent(of transfers: PeerTransfers) -> (FileToSend, UInt16)? {
        for (index, file) in transfers.unsent.enumerated() {
            guard let group = theirNumber(of: transfers.peer, in: file.session) else { continue }
            return (transfers.unsent.remove(at: index), group)
        }
        return nil
    }

    /// What the peer's session calls ours.
    private func theirNumber(of peer: PeerID, in session: OpenedSession) -> UInt16? {
        station.group.status.theirNumber(of: peer, in: session.number)
    }

    func write(_ pipe: OutgoingPipe, _ now: Instant) {
        guard let transfers = peers[pipe.peer.id],
            let id = transfers.written.first(where: { $0.value === pipe })?.key
        else { return }
        write(pipe, id, transfers, now)
    }

    func write(
        _ pipe: OutgoingPipe, _ id: StreamID, _ transfers: PeerTransfers, _ now: Instant
    ) {
        while let room = transfers.machine.room(of: id) {
            switch pipe.next(upTo: room) {
            case .write(let bytes): tell(transfers, .write(id, bytes), now)
            case .finish:
                transfers.written[id] = nil
                return tell(transfers, .finish(id), now)
            case .reset:
                transfers.written[id] = nil
                return tell(transfers, .reset(id, .cancelled), now)
            // The machine tells of room once a write did not fit.
            case .room: return tell(transfers, .write(id, [0]), now)
            case .nothing: return
            }
        }
    }

    func read(_ pipe: IncomingPipe, _ now: Instant) {
        for transfers in peers.values {
            guard let id = transfers.read.first(where: { $0.value === pipe })?.key else { continue }
            return read(pipe, id, transfers, now)
        }
    }

    /// Tells the machine what the program read. A stream that has ended counts as one of the
    /// peer's until then, and its bytes as unread.
    func read(_ pipe: IncomingPipe, _ id: StreamID, _ transfers: PeerTransfers, _ now: Instant) {
        let news = pipe.news()
        if news.consumed > 0 { tell(transfers, .consumed(id, news.consumed), now) }
        if news.isStopped { tell(transfers, .stop(id, .cancelled), now) }
        guard news.isStopped || news.isReadToEnd else { return }
        transfers.read[id] = nil
        transfers.sessions[id] = nil
    }

    /// At once, or when others have arrived.
    func offer(_ file: FileToSend, _ now: Instant) throws(NearbyError) {
        let (transfers, group) = try transfers(with: file.peer, in: file.session)
        guard !file.state.isCancelled else { return file.state.end() }
        if transfers.unsent.isEmpty, transfers.machine.mayOffer {
            return offer(file, group, transfers, now)
        }
        guard transfers.unsent.count < Limits.unsentFilesMax else {
            throw NearbyError(.full, of: file.peer)
        }
        transfers.unsent.append(file)
    }

    private func offer(
        _ file: FileToSend, _ group: UInt16, _ transfers: PeerTransfers, _ now: Instant
    ) {
        let offer = ResourceOffer(
            name: file.name, group: group, byteCount: file.file.byteCount,
            key: file.file.key)
        transfers.sending[transfers.machine.nextResource] = SendingFile(
            file.file.descriptor, offer, in: file.session, file.state, file.outcome)
        tell(transfers, .offer(offer), now)
    }

    func cancel(_ state: TransferState, _ now: Instant) {
        for transfers in peers.values {
            if let index = transfers.unsent.firstIndex(where: { $0.state === state }) {
                transfers.unsent.remove(at: index).end(.cancelled)
            }
            if let (id, file) = transfers.sending.first(where: { $0.value.state === state }) {
                transfers.sending[id] = nil
                file.outcome.resolve(.failure(.cancelled))
                tell(transfers, .cancel(id, .cancelled), now)
            }
            if let (id, file) = transfers.receiving.first(where: { $0.value.state === state }) {
                transfers.receiving[id] = nil
                file.outcome.resolve(.failure(.cancelled))
                state.keepsPart ? file.part.truncate() : file.part.remove()
                tell(transfers, .cancel(id, .cancelled), now)
            }
        }
        state.end()
    }

    // MARK: Peers

    /// With what the peer's session calls ours.
    private func transfers(
        with peer: Peer, in session: OpenedSession
    ) throws(NearbyError) -> (PeerTransfers, UInt16) {
        guard let number = theirNumber(of: peer.id, in: session),
            let transfers = transfers(with: peer.id)
        else { throw NearbyError(.notConnected, "\(peer) is not connected in this session") }
        return (transfers, number)
    }

    /// Made for a peer that has a channel and something to do with a session.
    func transfers(with peer: PeerID) -> PeerTransfers? {
        if let transfers = peers[peer] { return transfers }
        guard let carrier = station.nodes.carriers[peer], station.group.status.isInvolved(peer)
        else {
            return nil
        }
        let transfers = PeerTransfers(peer, carrier.runs)
        peers[peer] = transfers
        return transfers
    }

    func received(_ bytes: [UInt8], from peer: PeerID, _ now: Instant) {
        guard let transfers = transfers(with: peer) else { return }
        tell(transfers, .received(bytes), now)
        // Acknowledgements and ends are heard, and nothing that it begins is kept.
        guard transfers.idleSince != nil, !station.group.status.isInvolved(peer) else { return }
        endAll(with: transfers, now)
    }

    /// If there is anything with the peer.
    func tell(_ peer: PeerID, _ input: TransferInput, _ now: Instant) {
        if let transfers = peers[peer] { tell(transfers, input, now) }
    }

    /// A message came, goes or is passed on: what else is under way lets it pass, to whomever it
    /// goes.
    func messagePassed(_ now: Instant) {
        if let messageToldAt, now - messageToldAt < Limits.messageMemory / 4 { return }
        messageToldAt = now
        for transfers in peers.values { tell(transfers, .messagePassed, now) }
    }

    /// Whether messages pass.
    private func isShared(_ now: Instant) -> Bool {
        messageToldAt.map { now - $0 < Limits.messageMemory } ?? false
    }

    /// While messages pass, resources leave the processor after each few packets to whoever waits
    /// for it: to our own program, which may be the one with a message, or to a relay beside us.
    /// Where others compute without end that would be most of the time, so they work for as long
    /// as a third of their wait before they do it again.
    ///
    /// - Returns: whether messages pass.
    @discardableResult
    func giveWay(_ now: Instant) -> Bool {
        guard isShared(now) else { return false }
        let began = MonotonicClock.now()
        guard began >= yieldsAt else { return true }
        sched_yield()
        let ended = MonotonicClock.now()
        yieldsAt = ended + (ended - began) / 3
        return true
    }

    /// The peer has a channel again, perhaps with another run, or another of ours.
    func returned(_ peer: PeerID, _ runs: RunPair, _ now: Instant) {
        guard let transfers = peers[peer] else { return }
        if transfers.runs == runs { return tell(transfers, .reachable, now) }
        transfers.runs = runs
        transfers.endUnopened(NearbyError(.restarted, of: station.names.peer(peer)))
        tell(transfers, .restarted, now)
        transfers.forgetIncoming()
    }

    /// Ends what is open with peers with whom nobody has anything to do any more.
    ///
    /// The machine stays, whether the peer has a channel or not, until another run begins anew: the
    /// peer's machine may stay as well, and if one of the two numbered its packets from 0 again,
    /// the other would take them for copies, and refuse its acknowledgements, for ever.
    func tidy(_ now: Instant) {
        let status = station.group.status
        for (peer, transfers) in peers.sorted(by: { $0.key < $1.key }) {
            if status.isInvolved(peer) {
                transfers.idleSince = nil
            } else if transfers.idleSince == nil {
                transfers.idleSince = now
                endAll(with: transfers, now)
            }
        }
        forgetOldest(now)
    }

    private func endAll(with transfers: PeerTransfers, _ now: Instant) {
        transfers.endWaiting(NearbyError(.abandoned, of: station.names.peer(transfers.peer)))
        tell(transfers, .endAll, now)
        transfers.forgetIncoming()
    }

    /// Of those that are idle and without a channel; how many have one the nodes bound.
    private func forgetOldest(_ now: Instant) {
        let away = peers.values.compactMap { transfers -> (since: Instant, peer: PeerID)? in
            guard station.nodes.carriers[transfers.peer] == nil else { return nil }
            return transfers.idleSince.map { ($0, transfers.peer) }
        }
        guard away.count > Limits.idleTransfersMax else { return }
        let oldest = away.sorted { ($0.since, $0.peer) < ($1.since, $1.peer) }
        for (_, peer) in oldest.prefix(away.count - Limits.idleTransfersMax) {
            abandon(with: peer, now)
        }
    }

    private func abandon(with peer: PeerID, _ now: Instant) {
        guard let transfers = peers[peer] else { return }
        transfers.endWaiting(NearbyError(.abandoned, of: station.names.peer(peer)))
        tell(transfers, .abandoned, now)
        peers[peer] = nil
    }

    func abandonAll(_ now: Instant) {
        for peer in peers.keys.sorted() { abandon(with: peer, now) }
    }

    func deadlineReached(_ now: Instant) {
        for peer in peers.keys.sorted() {
            guard let transfers = peers[peer],
                transfers.machine.nextDeadline ?? .distantFuture <= now
            else { continue }
            tell(transfers, .deadlineReached, now)
        }
    }
}
