import NearbyCore
import NearbyTransfers
import NearbyWire

/// Streams and resources with one peer. For the background thread.
final class PeerTransfers {
    let peer: PeerID
    /// The peer's run that the machine speaks with.
    var run: RunID
    var machine = TransferMachine()
    var written: [StreamID: OutgoingPipe] = [:]
    var read: [StreamID: IncomingPipe] = [:]
    var sending: [ResourceID: SendingFile] = [:]
    var receiving: [ResourceID: ReceivingFile] = [:]
    /// The session of each of the peer's streams.
    var sessions: [StreamID: OpenedSession] = [:]
    /// Opened or offered in a session that is not connected yet on our side: what the machine says
    /// comes over another way than the session's own messages.
    var early: [TransferOutput] = []
    /// What the machine is to be told; each has its turn when what the one before it said was done.
    var inputs: [TransferInput] = []
    var isTelling = false
    /// Of our streams, those that have room again.
    var roomy: [StreamID] = []

    init(_ peer: PeerID, _ run: RunID) {
        self.peer = peer
        self.run = run
    }

    /// Files are to be read or hashed.
    var isBusy: Bool {
        sending.values.contains(where: \.isBusy) || receiving.values.contains(where: \.isBusy)
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
}
