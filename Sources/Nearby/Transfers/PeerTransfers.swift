import NearbyCore
import NearbyGroups
import NearbyTransfers
import NearbyWire

/// Streams and resources with one peer. For the background thread.
final class PeerTransfers {
    let peer: PeerID
    /// Those that the machine speaks between.
    var runs: RunPair
    var machine = TransferMachine()
    var written: [StreamID: OutgoingPipe] = [:]
    /// Streams of ours that are opened when others have ended, in order; what is written to them
    /// waits in their pipes.
    var unopened: [OutgoingPipe] = []
    /// Files of ours that are offered when others have arrived, in order.
    var unsent: [FileToSend] = []
    /// Those that waited are being opened and offered.
    var isOpening = false
    /// Those that have ended, too, until the program has read all of them: that makes room for
    /// others.
    var read: [StreamID: IncomingPipe] = [:]
    var sending: [ResourceID: SendingFile] = [:]
    var receiving: [ResourceID: ReceivingFile] = [:]
    /// The session of each of the streams in `read`.
    var sessions: [StreamID: OpenedSession] = [:]
    /// At most `Limits.earlyTransfersMax`, in the order in which they came.
    var early: [EarlyTransfer] = []
    /// Since when nobody has anything to do with the peer; then nothing is open.
    var idleSince: Instant?
    /// What the machine is to be told; each has its turn when what the one before it said was done.
    var inputs: [TransferInput] = []
    var isTelling = false
    /// Of our streams, those that have room again.
    var roomy: [StreamID] = []

    init(_ peer: PeerID, _ runs: RunPair) {
        self.peer = peer
        self.runs = runs
    }

    /// Files are to be read or hashed.
    var isBusy: Bool {
        sending.values.contains(where: \.isBusy) || receiving.values.contains(where: \.isBusy)
    }

    /// What waits so far, of one session or of all, is neither opened nor offered any more.
    func endWaiting(_ error: NearbyError, of session: SessionNumber? = nil) {
        endUnopened(error, of: session)
        for file in unsent where session == nil || file.session.number == session {
            file.end(error)
        }
        unsent.removeAll { session == nil || $0.session.number == session }
    }

    func endUnopened(_ error: NearbyError, of session: SessionNumber? = nil) {
        for pipe in unopened where session == nil || pipe.session.number == session {
            pipe.end(error)
        }
        unopened.removeAll { session == nil || $0.session.number == session }
    }

    /// The machine has none of the peer's streams any more. What the program has not read stays in
    /// its pipes.
    func forgetIncoming() {
        read = [:]
        sessions = [:]
        early = []
    }
}

/// The runs of two nodes, ours and the peer's: with another one on either side, both number their
/// packets anew.
struct RunPair: Equatable {
    let own: RunID
    let theirs: RunID
}

/// What a peer began in a session that is not connected yet on our side: what the machine says
/// comes over another way than the session's own messages. Bytes of a stream gather in its pipe;
/// the program hears of it once the session is connected.
struct EarlyTransfer {
    enum Kind {
        case stream(StreamID, IncomingStream, name: String)
        case resource(ResourceID, ResourceOffer)
    }

    let session: OpenedSession
    let kind: Kind

    func isStream(_ id: StreamID) -> Bool {
        if case .stream(id, _, _) = kind { true } else { false }
    }

    func isResource(_ id: ResourceID) -> Bool {
        if case .resource(id, _) = kind { true } else { false }
    }
}

/// A file that a program wants sent.
struct FileToSend: Sendable {
    let name: String
    let peer: Peer
    let session: OpenedSession
    let file: OpenedFile
    let state: TransferState
    let outcome: Reply<Void>

    func end(_ error: NearbyError) {
        outcome.resolve(.failure(error))
        state.end()
    }
}

extension Limits {
    /// Streams and resources of one peer that wait for their session to be connected: as many as a
    /// peer may have open. Further ones are refused and counted.
    static let earlyTransfersMax = streamsMax + resourcesMax
    /// Streams of ours that wait for others of the same peer to end.
    static let unopenedStreamsMax = 4_096
    /// Files waiting for others to the same peer to arrive; each is kept open.
    public static let unsentFilesMax = 512
    /// Peers without a channel whose packet numbers are remembered: as many as a session has
    /// members. Beyond that the one is forgotten that was idle for longest.
    static let idleTransfersMax = sessionMembersMax
}
