import NearbyCore
import NearbyGroups
import NearbyTransfers

/// What peers open and offer, and what becomes of it as they come and go.
extension TransferDesk {
    func opened(
        _ id: StreamID, _ name: String, _ group: UInt16, _ transfers: PeerTransfers, _ now: Instant
    ) {
        guard let session = session(group, of: transfers.peer) else {
            return tell(transfers, .stop(id, .unknownGroup), now)
        }
        let pipe = IncomingPipe()
        transfers.read[id] = pipe
        transfers.sessions[id] = session
        let stream = EarlyTransfer.Kind.stream(id, IncomingStream(pipe), name: name)
        begin(EarlyTransfer(session: session, kind: stream), transfers, now)
    }

    func offered(
        _ id: ResourceID, _ offer: ResourceOffer, _ transfers: PeerTransfers, _ now: Instant
    ) {
        guard let session = session(offer.group, of: transfers.peer) else {
            return tell(transfers, .cancel(id, .unknownGroup), now)
        }
        begin(EarlyTransfer(session: session, kind: .resource(id, offer)), transfers, now)
    }

    /// The session that something of the peer's is for, connected or about to be; nil: none.
    private func session(_ group: UInt16, of peer: PeerID) -> OpenedSession? {
        station.group.status.session(for: group, from: peer).flatMap { station.sessions[$0] }
    }

    private func begin(_ new: EarlyTransfer, _ transfers: PeerTransfers, _ now: Instant) {
        let status = station.group.status
        if status.theirNumber(of: transfers.peer, in: new.session.number) != nil {
            return tellProgram(of: new, transfers, now)
        }
        guard transfers.early.count < Limits.earlyTransfersMax else {
            station.count(.transferTableFull)
            return refuse(new, .full, transfers, now)
        }
        transfers.early.append(new)
    }

    private func refuse(
        _ new: EarlyTransfer, _ reason: TransferEnd, _ transfers: PeerTransfers, _ now: Instant
    ) {
        switch new.kind {
        case .stream(let id, _, _):
            transfers.read.removeValue(forKey: id)?.stop()
            transfers.sessions[id] = nil
            tell(transfers, .stop(id, reason), now)
        case .resource(let id, _): tell(transfers, .cancel(id, reason), now)
        }
    }

    private func tellProgram(
        of new: EarlyTransfer, _ transfers: PeerTransfers, _ now: Instant
    ) {
        switch new.kind {
        case .stream(_, let stream, let name):
            let peer = station.names.peer(transfers.peer)
            let event = Session.Event.stream(stream, name: name, from: peer)
            if !new.session.events.push(event, bytes: 1_024) { refuse(new, .full, transfers, now) }
        case .resource(let id, let offer): receive(id, offer, in: new.session, transfers, now)
        }
    }

    /// Begins to receive a file.
    private func receive(
        _ id: ResourceID, _ offer: ResourceOffer, in session: OpenedSession,
        _ transfers: PeerTransfers, _ now: Instant
    ) {
        let part: PartFile
        let peer = station.names.peer(transfers.peer)
        do throws(NearbyError) {
            part = try PartFile(of: peer, offer, in: session.folder)
        } catch {
            session.events.push(.failure(peer, error), .news)
            return tell(transfers, .cancel(id, error.end ?? .writeFailed), now)
        }
        let (state, outcome) = (TransferState(byteCount: offer.byteCount), Reply<String>())
        state.begin(at: part.byteCount)
        let resource = IncomingResource(
            name: plainFileName(offer.name), from: peer, byteCount: offer.byteCount, state, outcome)
        // Whoever names a folder of its own sees to the room there.
        guard session.folder != nil || part.hasRoom(for: offer.byteCount) else {
            part.truncate()
            let text =
                "the disk has no room for “\(resource.name)” (\(offer.byteCount) bytes); free some "
                + "space"
            outcome.resolve(.failure(NearbyError(.unavailable, text, end: .writeFailed)))
            state.end()
            session.events.push(.resource(resource), bytes: 1_024)
            return tell(transfers, .cancel(id, .writeFailed), now)
        }
        transfers.receiving[id] = ReceivingFile(
            part, byteCount: offer.byteCount, in: session, state, outcome)
        guard session.events.push(.resource(resource), bytes: 1_024) else {
            // Letting it go cancels it.
            return
        }
        tell(transfers, .accept(id, from: part.byteCount), now)
    }

    // MARK: Members

    func memberConnected(_ peer: PeerID, _ number: SessionNumber, _ now: Instant) {
        guard let transfers = peers[peer] else { return }
        for new in takeEarly(of: number, transfers) { tellProgram(of: new, transfers, now) }
        guard let group = station.group.status.theirNumber(of: peer, in: number) else { return }
        for (id, file) in transfers.sending.sorted(by: { $0.key < $1.key })
        where file.isInterrupted && file.session.number == number {
            tell(transfers, .offerAgain(id, group: group), now)
        }
        beginMore(transfers, now)
    }

    private func takeEarly(
        of number: SessionNumber, _ transfers: PeerTransfers
    ) -> [EarlyTransfer] {
        let taken = transfers.early.filter { $0.session.number == number }
        transfers.early.removeAll { $0.session.number == number }
        return taken
    }

    /// For good: what was on its way in this session is over.
    func memberLeft(_ peer: PeerID, _ number: SessionNumber, _ now: Instant) {
        guard let transfers = peers[peer] else { return }
        let error = NearbyError(.unknownGroup, of: station.names.peer(peer))
        for new in takeEarly(of: number, transfers) { refuse(new, .unknownGroup, transfers, now) }
        transfers.endWaiting(error, of: number)
        for (id, pipe) in transfers.written.sorted(by: { $0.key < $1.key })
        where pipe.session.number == number {
            transfers.written[id] = nil
            pipe.end(error)
            tell(transfers, .reset(id, .unknownGroup), now)
        }
        for (id, session) in transfers.sessions.sorted(by: { $0.key < $1.key })
        where session.number == number {
            transfers.sessions[id] = nil
            transfers.read.removeValue(forKey: id)?.end(error)
            tell(transfers, .stop(id, .unknownGroup), now)
        }
        for (id, file) in transfers.sending.sorted(by: { $0.key < $1.key })
        where file.session.number == number {
            transfers.sending[id] = nil
            file.outcome.resolve(.failure(error))
            file.state.end()
            tell(transfers, .cancel(id, .unknownGroup), now)
        }
        for (id, file) in transfers.receiving.sorted(by: { $0.key < $1.key })
        where file.session.number == number {
            transfers.receiving[id] = nil
            file.outcome.resolve(.failure(error))
            file.state.end()
            tell(transfers, .cancel(id, .unknownGroup), now)
        }
    }
}
