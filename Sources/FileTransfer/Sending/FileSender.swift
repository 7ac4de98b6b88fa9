import Nearby
import NearbyCore
import NearbyLinux
import Synchronization

/// Sends one file, over as many connections as it takes.
public final class FileSender: Sendable {
    let order: SendOrder
    let own: Peer
    let tell: @Sendable (SendNews) -> Void
    let browser: Browser
    private let receivers = Mutex(Receivers())
    /// Whom the file goes to, found by name.
    private let chosen = Mutex<Peer?>(nil)
    private let sent = Mutex<(first: Int64?, last: Int64)>((nil, 0))

    /// - Parameter peer: our own; the receiver goes on only with the same one.
    public init(
        _ order: SendOrder, as peer: Peer, tell: @escaping @Sendable (SendNews) -> Void
    ) throws(NearbyError) {
        self.order = order
        self.tell = tell
        own = peer
        browser = try Browser(peer: peer, service: order.service)
    }

    /// Returns when the receiver has the file on its disk, under the name in the receipt.
    public func run() async throws(TransferFault) -> SentFile {
        let file = try FileToOffer(order.file)
        let session: Session
        do throws(NearbyError) {
            // Made first: the node asks for the encryption that sessions ask for.
            session = try Session(peer: own)
            try browser.start()
        } catch {
            throw TransferFault(.unavailable, error.description)
        }
        defer {
            browser.stop()
            session.disconnect()
        }
        let watching = Task { [self, events = browser.events] in
            for await event in events { note(event) }
        }
        defer { watching.cancel() }
        return try await send(file)
    }

    private func note(_ event: Browser.Event) {
        let before = namesakes
        receivers.withLock { receivers in
            switch event {
            case .found(let peer, let info), .changed(let peer, let info):
                receivers.found(peer, info: info)
            case .lost(let peer): receivers.lost(peer)
            case .failed: break
            }
        }
        guard let chosen = chosen.withLock({ $0 }) else { return }
        for other in namesakes where !before.contains(other) && other != chosen {
            tell(.namesake(other, of: chosen))
        }
    }

    /// Those whom the name may mean, if they are several.
    private var namesakes: [Peer] {
        guard case .several(let peers) = receivers.withLock({ $0.choice(for: order.target) })
        else { return [] }
        return peers
    }

    /// For an attempt of which nothing is sent yet: one may have come who is meant as much.
    func checkIsAlone() throws(TransferFault) {
        let peers = namesakes
        if sent.withLock({ $0.first }) == nil, !peers.isEmpty { throw severalFault(peers) }
    }

    /// Tries until it is done, or until for the time of patience nothing has moved.
    private func send(_ file: FileToOffer) async throws(TransferFault) -> SentFile {
        var giveUp = MonotonicClock.now() + order.patience
        var previous: Peer?
        while true {
            let isResuming = previous != nil
            let peer = try await find(until: giveUp, after: previous)
            previous = peer
            chosen.withLock { $0 = peer }
            let before = sent.withLock { $0.last }
            let attempt = SendAttempt(self, file, to: peer, isResuming)
            // One that has come back at another place is found by looking again.
            let patience = isResuming ? .seconds(5) : order.patience
            let outcome = try await attempt.run(patience)
            switch outcome {
            case .stored(let name):
                let first = sent.withLock { $0.first } ?? 0
                return SentFile(
                    receiver: peer, name: name, byteCount: file.byteCount,
                    sentByteCount: file.byteCount - first)
            case .brokenOff(let reason):
                let now = MonotonicClock.now()
                if sent.withLock({ $0.last }) > before || !isResuming {
                    giveUp = now + order.patience
                    tell(.brokenOff(reason))
                }
                guard now < giveUp else { throw gone(peer, reason) }
                try await pause(.milliseconds(300))
            }
        }
    }

    func gone(_ peer: Peer, _ reason: String) -> TransferFault {
        TransferFault(
            .tryAgain,
            "\(reason). What \(ReadableText.shown(peer.displayName)) has of the file is kept "
                + "there: run the same command again to continue")
    }

    /// The receiver begins; it had so many bytes.
    func began(at completed: Int64) {
        sent.withLock { sent in sent.first = sent.first ?? completed }
        if completed > 0 { tell(.resumed(completed)) }
    }

    /// So many bytes are there.
    func progressed(_ completed: Int64, of total: Int64) {
        sent.withLock { sent in sent.last = max(sent.last, completed) }
        tell(.progress(completed, of: total))
    }

    // MARK: Looking for the receiver

    private func find(
        until deadline: Instant, after previous: Peer?
    ) async throws(TransferFault) -> Peer {
        let began = MonotonicClock.now()
        // Others of the same name may be a little slower.
        var settled: Instant?
        var nextQuestion = began + .seconds(1)
        var isTold = previous != nil
        while true {
            let now = MonotonicClock.now()
            let choice = receivers.withLock { $0.choice(for: order.target) }
            switch choice {
            case .one(let peer):
                if let previous, peer.id != previous.id {
                    // Not what was begun for one to another who is called the same.
                    if now >= deadline { throw namesakeFault(previous, peer) }
                    break
                }
                if previous != nil || PeerID(text: order.target) == peer.id { return peer }
                if let settled, now >= settled { return peer }
            case .several(let peers):
                if let previous, peers.contains(previous) { return previous }
                if let settled, now >= settled { throw severalFault(peers) }
            case .other, .nobody:
                if let far = addressed(now - began) { return far }
                if now >= deadline { throw nobodyFault(choice) }
            }
            if settled == nil, choice != .nobody { settled = now + Self.settleTime }
            if now >= nextQuestion {
                nextQuestion = now + .milliseconds(500)
                await askRelays()
                if !isTold, choice == .nobody { tell(.looking) }
                isTold = true
            }
            try await pause(.milliseconds(50))
        }
    }

    /// Who is named by a PeerID can be called without having been seen.
    private func addressed(_ waited: Duration) -> Peer? {
        guard waited > .seconds(2), let id = PeerID(text: order.target) else { return nil }
        return Peer(displayName: id.description, id: id)
    }

    private func askRelays() async {
        do throws(NearbyError) {
            let peers = try await browser.peersBehindRelays()
            receivers.withLock { $0.found(behindRelays: peers) }
        } catch {}
    }

    /// Within it, whoever hears us has answered.
    private static let settleTime = Duration.milliseconds(1_500)

    private func severalFault(_ peers: [Peer]) -> TransferFault {
        let ids = peers.map { "  \($0.id)" }.joined(separator: "\n")
        return TransferFault(
            .ambiguous,
            "\(peers.count) receivers are called \(ReadableText.shown(order.target)); give the "
                + "PeerID of one of them, as `rivulet receive` shows it there:\n\(ids)")
    }

    private func namesakeFault(_ previous: Peer, _ other: Peer) -> TransferFault {
        TransferFault(
            .tryAgain,
            "\(ReadableText.shown(order.target)) (\(previous.id)) is gone. Another one of this "
                + "name has come, \(other.id): if the file is meant for it, give the same command "
                + "again")
    }

    private func nobodyFault(_ choice: Receivers.Choice) -> TransferFault {
        let name = ReadableText.shown(order.target)
        guard case .other = choice else {
            let advice = receivers.withLock { $0.advice(for: order.target) }
            return TransferFault(
                .unavailable, "nobody called \(name) receives files nearby; \(advice)")
        }
        return TransferFault(
            .unavailable,
            "\(name) is nearby and does not receive files; run `rivulet receive` there")
    }
}

/// Sleeps; a task that is cancelled ends.
func pause(_ duration: Duration) async throws(TransferFault) {
    do {
        try await Task.sleep(for: duration)
    } catch {
        throw .cancelled
    }
}
