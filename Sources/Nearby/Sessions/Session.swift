import NearbyCore
import NearbyGroups
import NearbyTransfers
import NearbyWire

/// A group of peers that exchange messages: whom any member has invited, and who accepted, is
/// connected with all members, directly or over others.
public final class Session: Sendable {
    /// Where a peer stands, with the numbers of MultipeerConnectivity.
    public enum State: Int, Sendable {
        /// Not a member: never, no longer, or the attempt has failed.
        case notConnected = 0
        /// Invited, or about to be a member.
        case connecting = 1
        /// A member, on both sides.
        case connected = 2
    }

    /// What happens in the session, in order.
    public enum Event: Sendable {
        /// A peer stands elsewhere now.
        case state(Peer, State)
        /// Reliable ones come in order and once. Where the program is slow, unreliable ones are
        /// dropped, and the senders of reliable ones are asked to wait once 4 MiB are here; one
        /// that goes on all the same is disconnected at 64 MiB.
        case message([UInt8], from: Peer, isReliable: Bool)
        /// A member opened a stream.
        case stream(IncomingStream, name: String, from: Peer)
        /// A member began to send a file: its completion is awaited there.
        case resource(IncomingResource)
        /// A member is disconnected or could not be connected for this reason; its state follows.
        case failure(Peer, NearbyError)
    }

    /// How a message travels.
    public enum Mode: Int, Sendable {
        /// In order and exactly once, while connected.
        case reliable = 0
        /// At once, and may be lost or overtaken. One of more than 997 bytes is sent as a reliable
        /// one.
        case unreliable = 1
    }

    let opened: OpenedSession

    /// - Parameters:
    ///   - peer: our own.
    ///   - identity: certificates that others are shown.
    ///   - encryption: whether traffic must, may or must not be encrypted.
    ///   - folder: where files that come are kept until they are whole, so that moving them on is a
    ///     rename; ours alone, made where it is not there. Nil: the folder shared by all such
    ///     files; there, a file that the disk has no room for is refused at once.
    ///   - certificateHandler: asked about the chain of each member, which is empty if it has none;
    ///     nil: all are accepted.
    /// - Throws: `.invalidParameter` if the peer is not our own.
    public init(
        peer: Peer, identity: Identity? = nil, encryption: EncryptionPreference = .required,
        partialFilesIn folder: String? = nil,
        certificateHandler: (@Sendable (_ chain: [[UInt8]], _ of: Peer) async -> Bool)? = nil
    ) throws(NearbyError) {
        opened = OpenedSession(
            own: try OwnPeer(peer), identity: identity, preference: encryption, folder: folder,
            certificateHandler: certificateHandler)
    }

    /// Our own, as others see us.
    public var peer: Peer { opened.own.peer }

    /// Without ourselves, in the order of their ids.
    public var connectedPeers: [Peer] { opened.connectedPeers }

    /// What happens, for one consumer; it begins with what nobody took yet.
    public var events: Events<Event> { Events(queue: opened.events) }

    // MARK: Messages

    /// Sends a message to some of the members, each of them once. Waits until there is room for it
    /// (a reliable one also for programs that are slow to take theirs), not until it arrived.
    ///
    /// - Throws: `.notConnected` if one of them is no member (then nobody gets it), or is lost
    ///   while we wait; `.invalidParameter` for more than 7 MiB; `.cancelled`.
    public func send(
        _ message: [UInt8], to peers: [Peer], mode: Mode = .reliable
    ) async throws(NearbyError) {
        let ids = try receivers(of: message, peers)
        guard !ids.isEmpty else { return }
        let isReliable = isReliable(message, mode)
        try await opened.room.reserve(message.count, for: ids, isReliable: isReliable)
        try post(message, ids, isReliable)
    }

    /// The same at once.
    ///
    /// - Throws: `.unavailable` where `send` would wait.
    public func sendNow(_ message: [UInt8], to peers: [Peer], mode: Mode) throws(NearbyError) {
        let ids = try receivers(of: message, peers)
        guard !ids.isEmpty else { return }
        let isReliable = isReliable(message, mode)
        guard opened.room.tryReserve(message.count, for: ids, isReliable: isReliable) else {
            throw NearbyError(
                .unavailable,
                "4 MiB wait for one of the peers already, or its program is slow to take its "
                    + "messages: send more slowly")
        }
        try post(message, ids, isReliable)
    }

    private func receivers(of message: [UInt8], _ peers: [Peer]) throws(NearbyError) -> [PeerID] {
        guard message.count <= Self.messageBytesMax else {
            throw NearbyError(
                .invalidParameter,
                "a message has at most \(Self.messageBytesMax) bytes, this one has "
                    + "\(message.count): use a stream or a resource")
        }
        for peer in peers where !opened.isConnected(peer.id) {
            throw NearbyError(.notConnected, "\(peer) is not connected in this session")
        }
        return Set(peers.map(\.id)).sorted()
    }

    private func isReliable(_ message: [UInt8], _ mode: Mode) -> Bool {
        mode == .reliable || message.count > Self.unreliableBytesMax
    }

    private func post(
        _ message: [UInt8], _ peers: [PeerID], _ isReliable: Bool
    ) throws(NearbyError) {
        try Background.shared.post(.send(message, to: peers, opened, isReliable: isReliable))
    }

    /// What a message has at most: 7 MiB.
    public static let messageBytesMax = Limits.groupMessageBytesMax
    static let unreliableBytesMax = Limits.messageBytesMax - 3

    // MARK: Streams and resources

    /// Opens a stream of bytes to a member.
    ///
    /// - Throws: `.notConnected`; `.invalidParameter` for a name of more than 255 bytes.
    public func openStream(named name: String, to peer: Peer) throws(NearbyError) -> OutgoingStream
    {
        try check(name, peer)
        let pipe = OutgoingPipe(name, to: peer, in: opened)
        try Background.shared.post(.openStream(pipe))
        return OutgoingStream(pipe)
    }

    /// Sends a file to a member.
    ///
    /// - Parameters:
    ///   - file: its path.
    ///   - name: what the receiver sees.
    ///   - peer: a member.
    /// - Throws: `.notConnected`; `.invalidParameter` for a name of more than 255 bytes or a file
    ///   that cannot be read.
    public func sendResource(
        file: String, named name: String, to peer: Peer
    ) throws(NearbyError) -> OutgoingResource {
        try check(name, peer)
        let opened = try OpenedFile(file)
        let (state, outcome) = (TransferState(byteCount: opened.byteCount), Reply<Void>())
        try Background.shared.post(
            .sendFile(
                FileToSend(
                    name: name, peer: peer, session: self.opened, file: opened, state: state,
                    outcome: outcome)))
        return OutgoingResource(state, outcome)
    }

    private func check(_ name: String, _ peer: Peer) throws(NearbyError) {
        guard name.utf8.count <= Limits.transferNameBytesMax else {
            throw NearbyError(
                .invalidParameter,
                "a name has at most \(Limits.transferNameBytesMax) bytes: choose a shorter one")
        }
        guard opened.isConnected(peer.id) else {
            throw NearbyError(.notConnected, "\(peer) is not connected in this session")
        }
    }

    // MARK: Leaving

    /// Leaves the group: the members are told. The session can be used again, as a new one.
    public func disconnect() {
        opened.clear()
        Background.shared.postIfRunning(.disconnect(opened))
    }

    /// An invitation, or a connection that is being made, is given up. One that is there ends on
    /// both sides; the other members stay, and if one of them introduces the two anew, they are
    /// connected again.
    public func cancelConnect(_ peer: Peer) {
        Background.shared.postIfRunning(.cancel(peer.id, opened, unlessAwaited: false))
    }

    // MARK: Without browser and advertiser

    /// What another peer needs to connect with this session: where we can be reached, and the
    /// session's name. Whoever has it may join, so hand it over to nobody else. Serves until
    /// `disconnect`.
    ///
    /// - Throws: `.unavailable` if no link is in use.
    public func connectionData() async throws(NearbyError) -> [UInt8] {
        let reply = Reply<[UInt8]>()
        try Background.shared.post(.connectionData(opened, reply))
        return try await reply.value()
    }

    /// Connects with a peer that handed over its connection data, and returns when it is connected.
    /// It is enough that one of the two calls this.
    ///
    /// - Throws: `.invalidParameter` for data that are damaged or another peer's; `.timedOut`,
    ///   `.cancelled`, `.unavailable` as `Browser.invite`.
    public func connect(to peer: Peer, with connectionData: [UInt8]) async throws(NearbyError) {
        let reply = Reply<Void>()
        let data = try ConnectionData(parsing: connectionData, of: peer)
        try Background.shared.post(.connect(peer, data, opened, reply))
        let opened = opened
        try await reply.value {
            Background.shared.postIfRunning(.cancel(peer.id, opened, unlessAwaited: true))
        }
    }

    /// The same without waiting: what becomes of it is told by the states.
    public func beginConnecting(
        to peer: Peer, with connectionData: [UInt8]
    ) throws(NearbyError) {
        let data = try ConnectionData(parsing: connectionData, of: peer)
        try Background.shared.post(.connect(peer, data, opened, nil))
    }

    deinit {
        Background.shared.postIfRunning(.close(opened))
        opened.events.finish()
    }
}
