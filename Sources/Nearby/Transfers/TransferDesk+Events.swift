import NearbyCore
import NearbyEngine
import NearbyGroups
import NearbyTransfers

/// What streams and resources want done.
extension TransferDesk {
    func tell(_ transfers: PeerTransfers, _ input: TransferInput, _ now: Instant) {
        transfers.inputs.append(input)
        guard !transfers.isTelling else { return }
        transfers.isTelling = true
        var next = 0
        while next < transfers.inputs.count {
            for output in transfers.machine.handle(transfers.inputs[next], now: now) {
                perform(output, of: transfers, now)
            }
            next += 1
        }
        transfers.inputs.removeAll(keepingCapacity: true)
        transfers.isTelling = false
        while let id = transfers.roomy.popLast() {
            if let pipe = transfers.written[id] { write(pipe, id, transfers, now) }
        }
        beginMore(transfers, now)
    }

    private func perform(
        _ output: TransferOutput, of transfers: PeerTransfers, _ now: Instant
    ) {
        switch output {
        case .send(let bytes, let priority):
            station.nodes.carriers[transfers.peer]?.node.node.handle(
                .sendUnreliable(bytes, to: transfers.peer, priority), now: now)
        case .opened(let id, let name, let group):
            opened(id, name, group, transfers, now)
        case .bytes(let id, let bytes): transfers.read[id]?.received(bytes)
        case .ended(let id):
            transfers.written[id] = nil
            guard let pipe = transfers.read[id] else { return }
            pipe.end()
            // The program may have read all of it already.
            read(pipe, id, transfers, now)
        case .wasReset(let id, let reason):
            let error = NearbyError(reason, of: station.names.peer(transfers.peer))
            transfers.read.removeValue(forKey: id)?.end(error)
            transfers.written.removeValue(forKey: id)?.end(error)
            transfers.sessions[id] = nil
            transfers.early.removeAll { $0.isStream(id) }
        case .wrote: break
        case .room(let id): transfers.roomy.append(id)
        case .offered(let id, let offer): offered(id, offer, transfers, now)
        case .drop(let reason): station.count(reason)
        default: performOnFile(output, of: transfers, now)
        }
    }

    private func performOnFile(
        _ output: TransferOutput, of transfers: PeerTransfers, _ now: Instant
    ) {
        switch output {
        case .accepted(let id, let offset): transfers.sending[id]?.accepted(from: offset)
        case .read(let id, let offset, let count):
            guard let file = transfers.sending[id] else { return }
            file.wants(count, at: offset)
            work(on: file, id, transfers, now)
        case .write(let id, let offset, let bytes):
            guard let file = transfers.receiving[id] else { return }
            let isWritten = file.write(bytes, at: offset)
            tell(transfers, isWritten ? .written(id) : .writeFailed(id), now)
            if isWritten { file.state.update(offset + Int64(bytes.count)) }
        case .complete(let id, let sha256):
            guard let file = transfers.receiving[id] else { return }
            file.isComplete(sha256: sha256)
            if let verdict = file.work(id) { tell(transfers, verdict, now) }
        case .interrupted(let id):
            guard let file = transfers.sending[id] else { return }
            for _ in 0..<file.interrupted() { tell(transfers, .readFailed(id), now) }
        case .finished(let id, let outcome): finished(id, outcome, transfers)
        default: break
        }
    }

    // MARK: Files

    /// One question at once; what is behind it waits for its turn.
    private func work(
        on file: SendingFile, _ id: ResourceID, _ transfers: PeerTransfers, _ now: Instant
    ) {
        guard let answer = file.work(id) else { return }
        tell(transfers, answer, now)
        if let progress = transfers.machine.progress(of: id) {
            file.state.update(progress.completed)
        }
    }

    func workOnFiles(_ now: Instant) {
        for transfers in peers.values {
            for (id, file) in transfers.sending.sorted(by: { $0.key < $1.key }) {
                work(on: file, id, transfers, now)
            }
            for (id, file) in transfers.receiving.sorted(by: { $0.key < $1.key }) {
                if let verdict = file.work(id) { tell(transfers, verdict, now) }
            }
        }
    }

    private func finished(
        _ id: ResourceID, _ outcome: TransferOutcome, _ transfers: PeerTransfers
    ) {
        if let file = transfers.sending.removeValue(forKey: id) {
            switch outcome {
            case .success:
                file.state.update(file.offer.byteCount)
                file.outcome.succeed()
            case .failure(let reason):
                file.outcome.resolve(
                    .failure(NearbyError(reason, of: station.names.peer(transfers.peer))))
            }
            file.state.end()
        }
        if let file = transfers.receiving.removeValue(forKey: id) {
            finished(file, outcome, transfers.peer)
            file.state.end()
        }
        transfers.early.removeAll { $0.isResource(id) }
    }

    /// What may go on later stays; what was wrong or is not wanted goes.
    private func finished(
        _ file: ReceivingFile, _ outcome: TransferOutcome, _ peer: PeerID
    ) {
        switch outcome {
        case .success:
            guard let path = file.part.complete() else {
                file.outcome.resolve(
                    .failure(NearbyError(.unavailable, "the file could not be put in place")))
                return
            }
            if !file.outcome.resolve(.success(path)) { removeFile(path) }
        case .failure(let reason):
            switch reason {
            case .restarted, .abandoned, .unknownGroup, .full: break
            // In a folder for all, others need the room.
            case .writeFailed: if file.session.folder == nil { file.part.truncate() }
            // What cannot be read, or has changed, does not come again under the same key.
            case .cancelled, .refused, .readFailed, .sizeMismatch, .digestMismatch, .violation:
                file.part.remove()
            }
            file.outcome.resolve(.failure(NearbyError(reason, of: station.names.peer(peer))))
        }
    }
}

extension NearbyError {
    /// For people: why a stream or a resource ended before its time.
    init(_ reason: TransferEnd, of peer: Peer) {
        let (code, text) = Self.text(reason, of: peer)
        self.init(code, text, end: reason)
    }

    private static func text(_ reason: TransferEnd, of peer: Peer) -> (Code, String) {
        switch reason {
        case .cancelled: (.cancelled, "\(peer) cancelled it")
        case .refused: (.unavailable, "\(peer) does not want it")
        case .full: (.unavailable, "too many are on their way to \(peer): wait for some")
        case .unknownGroup, .abandoned: (.notConnected, "\(peer) is no longer in the session")
        case .readFailed: (.unavailable, "the file cannot be read, or has changed meanwhile")
        case .writeFailed:
            (.unavailable, "the receiver cannot write the file: its disk may be full")
        case .sizeMismatch, .violation:
            (.unavailable, "\(peer) did not keep to what it had announced")
        case .digestMismatch:
            (
                .unavailable,
                "what arrived is not what was sent: the file has changed meanwhile, or what was "
                    + "there of it was damaged"
            )
        case .restarted: (.notConnected, "\(peer) has begun anew")
        }
    }
}
