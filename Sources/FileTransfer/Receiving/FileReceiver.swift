import Nearby
import NearbyCore
import NearbyLinux
import Synchronization

/// Receives files into a folder, from several senders at a time, until its task is cancelled.
public final class FileReceiver: Sendable {
    private struct State {
        var last = 0
        var active: [Int: IncomingFile] = [:]
        var sessionCount = 0
        var storedCount = 0
        var fault: TransferFault?
    }

    let order: ReceiveOrder
    let own: Peer
    let folder: ReceivingFolder
    let tell: @Sendable (ReceiveNews) -> Void
    private let advertiser: Advertiser
    private let state = Mutex(State())

    /// - Throws: `.noInput` or `.notPermitted` where files cannot be put into the folder.
    public init(
        _ order: ReceiveOrder, as peer: Peer, tell: @escaping @Sendable (ReceiveNews) -> Void
    ) throws(TransferFault) {
        self.order = order
        self.tell = tell
        own = peer
        folder = try ReceivingFolder(order.folder)
        do throws(NearbyError) {
            advertiser = try Advertiser(
                peer: peer, discoveryInfo: FileService.info, service: order.service)
        } catch {
            throw TransferFault(.unavailable, error.description)
        }
    }

    /// Returns after the first file, where that is all that is wanted.
    public func run() async throws(TransferFault) {
        let session: Session
        do throws(NearbyError) {
            // Made first: the node asks for the encryption that sessions ask for.
            session = try Session(peer: own)
            try advertiser.start()
        } catch {
            throw TransferFault(.unavailable, error.description)
        }
        defer {
            advertiser.stop()
            session.disconnect()
            folder.tidy()
        }
        let answering = Task { [self, invitations = advertiser.invitations] in
            for await invitation in invitations { answer(invitation) }
        }
        let failing = Task { [self, failures = advertiser.failures] in
            for await failure in failures { failed(failure) }
        }
        defer {
            answering.cancel()
            failing.cancel()
        }
        try await waitForEnd()
    }

    private func waitForEnd() async throws(TransferFault) {
        while true {
            let (fault, isDone) = state.withLock { state in
                (state.fault, order.once && state.storedCount > 0 && state.sessionCount == 0)
            }
            if let fault {
                // The sender hears of it, too.
                try await pause(.milliseconds(300))
                throw fault
            }
            if isDone { return }
            try await pause(.milliseconds(50))
        }
    }

    /// Files that are on their way, the oldest first.
    public var active: [ActiveFile] {
        state.withLock { state in
            state.active.sorted { $0.key < $1.key }.map { $0.value.current }
        }
    }

    // MARK: Senders

    private func answer(_ invitation: Invitation) {
        let isPlace = state.withLock { state in
            state.sessionCount < Self.sessionsMax && !(order.once && state.storedCount > 0)
        }
        guard invitation.context == FileService.context, isPlace else { return }
        guard order.admits(invitation.peer) else { return tell(.declined(invitation.peer)) }
        do throws(NearbyError) {
            let session = try Session(peer: own, partialFilesIn: folder.partial)
            try invitation.accept(with: session)
            state.withLock { $0.sessionCount += 1 }
            Task { [self] in
                await serve(session, invitation.peer)
                state.withLock { $0.sessionCount -= 1 }
            }
        } catch {
            tell(.trouble(error.description))
        }
    }

    /// Until the sender leaves, or has sent nothing for a while.
    private func serve(_ session: Session, _ sender: Peer) async {
        let watch = Task { [self] in await endWhenIdle(session, sender) }
        for await event in session.events {
            switch event {
            case .resource(let resource): Task { [self] in await receive(resource, session) }
            case .failure(let peer, let error):
                // Among others: the file could not even be begun.
                await say(.refused(error.description), to: peer, session)
                let text = ReadableText.replacing(error.description, with: "?")
                tell(.trouble(text))
                guard order.once, error.end == .writeFailed else { break }
                state.withLock { $0.fault = TransferFault(.cannotCreate, text) }
            case .state(_, .notConnected):
                watch.cancel()
                return session.disconnect()
            default: break
            }
        }
    }

    private func endWhenIdle(_ session: Session, _ sender: Peer) async {
        var idleSince = MonotonicClock.now()
        while (try? await Task.sleep(for: .seconds(1))) != nil {
            let isBusy = state.withLock { state in
                state.active.values.contains { $0.sender == sender }
            }
            let now = MonotonicClock.now()
            if isBusy { idleSince = now }
            if now - idleSince > Self.idleMax { return session.disconnect() }
        }
    }

    // MARK: Files

    private func receive(_ resource: IncomingResource, _ session: Session) async {
        let reception = IncomingFile(resource, in: folder, order)
        let number = state.withLock { state in
            state.last += 1
            state.active[state.last] = reception
            return state.last
        }
        let outcome = await reception.run { remark in
            await say(remark, to: resource.from, session)
        } tell: { [tell] news in
            tell(news)
        }
        state.withLock { state in
            state.active[number] = nil
            switch outcome {
            case .stored: state.storedCount += 1
            case .brokenOff: break
            case .failed(let fault): if order.once { state.fault = fault }
            }
        }
    }

    private func say(_ remark: Remark, to peer: Peer, _ session: Session) async {
        try? await session.send(remark.bytes, to: [peer])
    }

    private func failed(_ failure: NearbyError) {
        state.withLock { $0.fault = TransferFault(.unavailable, failure.description) }
    }

    /// Senders at a time; more are declined.
    private static let sessionsMax = 32
    /// For a sender that is connected and sends nothing.
    private static let idleMax = Duration.seconds(30)
}
