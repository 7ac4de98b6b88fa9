import Nearby
import NearbyCore
import NearbyLinux
import Synchronization

/// One connection with the receiver.
struct SendAttempt: Sendable {
    enum Outcome: Sendable {
        /// Under this name.
        case stored(String)
        /// The receiver is gone: once it is back, the transfer goes on.
        case brokenOff(String)
    }

    /// What other tasks saw.
    private final class Sight: Sendable {
        struct State {
            var remark: Remark?
            /// Why the file is not on its way any more; a failure of nil: it arrived.
            var outcome: Result<Void, NearbyError>?
            var hasLeft = false
        }

        let state = Mutex(State())

        func note(_ event: Session.Event) {
            state.withLock { state in
                switch event {
                case .message(let bytes, _, _):
                    state.remark = state.remark ?? Remark(parsing: bytes)
                case .state(_, .notConnected): state.hasLeft = true
                default: break
                }
            }
        }
    }

    private let sender: FileSender
    private let file: FileToOffer
    private let peer: Peer
    private let isResuming: Bool
    private let sight = Sight()

    init(_ sender: FileSender, _ file: FileToOffer, to peer: Peer, _ isResuming: Bool) {
        self.sender = sender
        self.file = file
        self.peer = peer
        self.isResuming = isResuming
    }

    private var name: String { ReadableText.shown(peer.displayName) }

    /// - Parameter patience: how long the receiver may take to answer.
    func run(_ patience: Duration) async throws(TransferFault) -> Outcome {
        let session: Session
        do throws(NearbyError) {
            session = try Session(peer: sender.own)
        } catch {
            throw TransferFault(.unavailable, error.description)
        }
        defer { session.disconnect() }
        if !isResuming { sender.tell(.asking(peer)) }
        do throws(NearbyError) {
            try await sender.browser.invite(
                peer, to: session, context: FileService.context, timeout: patience)
        } catch {
            return try refused(error)
        }
        if !isResuming { try sender.checkIsAlone() }
        let watching = Task { [sight, events = session.events] in
            for await event in events { sight.note(event) }
        }
        defer { watching.cancel() }
        let resource: OutgoingResource
        do throws(NearbyError) {
            resource = try session.sendResource(
                file: file.path, named: sender.order.name, to: peer)
        } catch {
            if error.code == .notConnected { return .brokenOff("\(name) is gone again") }
            throw file.fault ?? TransferFault(.inputOutput, error.description)
        }
        let finishing = Task { [sight] in
            let outcome = await Self.outcome(of: resource)
            sight.state.withLock { $0.outcome = outcome }
        }
        defer { finishing.cancel() }
        return try await follow(resource)
    }

    private static func outcome(of resource: OutgoingResource) async -> Result<Void, NearbyError> {
        do throws(NearbyError) {
            return .success(try await resource.finished())
        } catch {
            return .failure(error)
        }
    }

    private func refused(_ error: NearbyError) throws(TransferFault) -> Outcome {
        if Task.isCancelled { throw .cancelled }
        if isResuming { return .brokenOff(error.description) }
        throw TransferFault(
            error.code == .timedOut ? .tryAgain : .unavailable,
            error.description + "; `rivulet receive` runs there, and takes files from you?")
    }

    /// Until there is an end, or nothing has moved for too long.
    private func follow(_ resource: OutgoingResource) async throws(TransferFault) -> Outcome {
        var moved = MonotonicClock.now()
        var completed: Int64?
        var ended: Instant?
        while true {
            let now = MonotonicClock.now()
            if let start = resource.resumedAt {
                if completed == nil { sender.began(at: start) }
                let current = resource.current
                if current.completed != completed {
                    (completed, moved) = (current.completed, now)
                    sender.progressed(current.completed, of: current.total)
                }
            }
            let state = sight.state.withLock { $0 }
            if state.outcome != nil { ended = ended ?? now }
            let hadSome = resource.resumedAt ?? 0 > 0
            if let end = try judge(state, ended.map { now - $0 }, hadSome) { return end }
            guard now - moved < silenceMax else {
                resource.cancel()
                throw TransferFault(
                    .tryAgain,
                    "\(name) accepted, and has not gone on for \(silenceMax.components.seconds) s; "
                        + "look what is the matter there")
            }
            try await pause(.milliseconds(50))
        }
    }

    /// Beside the patience, the time for reading what is there already.
    private var silenceMax: Duration {
        sender.order.patience + .seconds(file.byteCount / Self.slowDiskBytesPerSecond)
    }

    private func judge(
        _ state: Sight.State, _ sinceEnd: Duration?, _ hadSome: Bool
    ) throws(TransferFault) -> Outcome? {
        switch state.remark {
        case .stored(let stored): return .stored(StoredName(offered: stored).description)
        case .refused(let reason):
            if let fault = file.fault { throw fault }
            throw TransferFault(
                .cannotCreate, "\(name): \(ReadableText.replacing(reason, with: "?"))")
        case nil: break
        }
        switch state.outcome {
        case .success where state.hasLeft:
            throw TransferFault(
                .tryAgain,
                "\(name) has received all of the file, and went away before it said that it is "
                    + "stored; look there before you send it again")
        case .failure(let error):
            // A word of why may be on its way.
            guard let sinceEnd, sinceEnd > Self.remarkTime || state.hasLeft else { return nil }
            return try failed(error, hadSome)
        case .success, nil: return state.hasLeft ? .brokenOff("\(name) is gone") : nil
        }
    }

    /// - Parameter hadSome: the receiver had some of it from an earlier attempt.
    private func failed(
        _ error: NearbyError, _ hadSome: Bool
    ) throws(TransferFault) -> Outcome {
        if let fault = file.fault { throw fault }
        switch error.end {
        case .cancelled: throw TransferFault(.unavailable, "\(name) cancelled it")
        case .refused, .full: throw TransferFault(.unavailable, error.description)
        // Without a word of why: the disk is full to the last byte.
        case .writeFailed:
            throw TransferFault(
                .cannotCreate, "\(name) cannot write the file: its disk may be full")
        case .readFailed: throw TransferFault(.inputOutput, "\(file.path) cannot be read")
        // What was there already was damaged, as by a power cut; the receiver has thrown it away.
        case .digestMismatch where hadSome:
            return .brokenOff("what \(name) had of the file was damaged: once more, from its start")
        case .digestMismatch, .sizeMismatch, .violation:
            throw TransferFault(.inputOutput, error.description)
        case .unknownGroup, .restarted, .abandoned, nil: return .brokenOff("\(name) is gone")
        }
    }

    private static let remarkTime = Duration.milliseconds(1_500)
    /// A receiver compares what it has with its hash: slow disks read so much, at least.
    private static let slowDiskBytesPerSecond: Int64 = 10_000_000
}
