import Foundation
import Nearby

/// A group of connected peers that exchange messages, streams and resources.
///
/// Who is invited with a session and accepts with one of theirs is connected with all members.
/// Every call returns at once; what becomes of it is told to the delegate.
open class MCSession: NSObject, @unchecked Sendable {
    /// The session below, or why there is none: told by every call that needs it.
    let nearby: Result<Session, NearbyError>
    let link: SessionLink
    private let reliableMessages: ReliableMessages
    private let identity: Handed<[Any]?>
    private let failure = Guarded<(@Sendable (MCPeerID, MCError) -> Void)?>(nil)

    /// Who we are in the session.
    open private(set) var myPeerID: MCPeerID
    /// Whether traffic must, may or must not be encrypted.
    open private(set) var encryptionPreference: MCEncryptionPreference

    /// What was given to `init`.
    open var securityIdentity: [Any]? { identity.value }

    /// A session without an identity, whose traffic is encrypted.
    public convenience init(peer myPeerID: MCPeerID) {
        self.init(peer: myPeerID, securityIdentity: nil, encryptionPreference: .required)
    }

    /// - Parameters:
    ///   - myPeerID: One that was made, or unarchived, on this machine.
    ///   - identity: An `MCIdentity` as the only element, whose chain the others are shown.
    ///   - encryptionPreference: Whether traffic must, may or must not be encrypted.
    public init(
        peer myPeerID: MCPeerID, securityIdentity identity: [Any]?,
        encryptionPreference: MCEncryptionPreference
    ) {
        let link = SessionLink()
        let nearby = Self.session(
            of: myPeerID, identity: identity, encryption: encryptionPreference, link: link)
        self.myPeerID = myPeerID
        self.encryptionPreference = encryptionPreference
        self.identity = Handed(value: identity)
        self.link = link
        self.nearby = nearby
        reliableMessages = ReliableMessages()
        super.init()
        link.session = self
        switch nearby {
        case .success(let session): link.follow(session)
        case .failure(let error): report("MCSession: \(error.description)")
        }
    }

    /// Of a peer of its own, named after this machine: programs fill a property with it until they
    /// have the real one.
    public override convenience init() { self.init(peer: MCPeerID()) }

    deinit {
        link.end()
        if case .success(let session) = nearby { session.disconnect() }
    }

    /// Whom the session tells what happens. Weak.
    open weak var delegate: (any MCSessionDelegate)? {
        get { link.delegate.current as? any MCSessionDelegate }
        set { link.delegate.current = newValue }
    }

    /// Is told why a peer could not be connected or is not connected any more, before its state
    /// changes. Called on any thread. Not in Apple's framework, where nothing says why.
    public var failureHandler: (@Sendable (MCPeerID, MCError) -> Void)? {
        get { failure.with { $0 } }
        set { failure.with { $0 = newValue } }
    }

    /// The members, without ourselves.
    open var connectedPeers: [MCPeerID] {
        (try? nearby.get())?.connectedPeers.map { MCPeerID($0) } ?? []
    }

    /// Sends a message, once to each of the peers, and returns at once.
    ///
    /// Reliable messages that find no room wait in a queue of 64 MiB for each peer; unreliable ones
    /// are lost.
    /// - Throws: `MCError`: `invalidParameter` without peers or for a message that is too large,
    ///   `notConnected`, `unavailable` when the queue is full.
    open func send(
        _ data: Data, toPeers peerIDs: [MCPeerID], with mode: MCSessionSendDataMode
    ) throws {
        let session = try open()
        guard !peerIDs.isEmpty else {
            throw MCError(.invalidParameter, "The message has no receivers.")
        }
        let peers = Set(peerIDs.map(\.peer)).sorted { $0.id < $1.id }
        do {
            switch mode {
            case .unreliable: try session.sendUnreliable([UInt8](data), to: peers)
            case .reliable: try reliableMessages.send([UInt8](data), to: peers, in: session)
            }
        } catch {
            throw MCError(describing: error)
        }
    }

    /// Opens a byte stream to a peer: open it, write to it, close it.
    @discardableResult
    open func startStream(withName streamName: String, toPeer peerID: MCPeerID) throws
        -> OutputStream
    {
        do {
            return PeerOutputStream(try open().openStream(named: streamName, to: peerID.peer))
        } catch {
            throw MCError(describing: error)
        }
    }

    /// Sends a file, or what is at a web address, as a resource.
    ///
    /// - Parameters:
    ///   - resourceURL: A `file:`, `http:` or `https:` URL.
    ///   - resourceName: What the receiver is told.
    ///   - peerID: A connected peer.
    ///   - completionHandler: Called once on a private queue: nil when the receiver has all of it.
    /// - Returns: Counts bytes, and cancels it. Nil where the peer is not connected or the scheme
    ///   is another one; the handler has the reason then, too.
    @discardableResult
    open func sendResource(
        at resourceURL: URL, withName resourceName: String, toPeer peerID: MCPeerID,
        withCompletionHandler completionHandler: (((any Error)?) -> Void)? = nil
    ) -> Foundation.Progress? {
        let handler = Handed(value: completionHandler)
        let complete: @Sendable ((any Error)?) async -> Void = { [link] error in
            await link.queue.deliver { handler.value?(error) }
        }
        do {
            let session = try open()
            let transfer = try OutgoingTransfer(of: resourceURL, to: peerID, in: session)
            transfer.begin(
                resourceURL, named: resourceName, to: peerID, in: session, link: link,
                completion: complete)
            return transfer.progress
        } catch {
            let failure = MCError(describing: error)
            Task { await complete(failure) }
            return nil
        }
    }

    /// Leaves the session: the members are told. It can be used again.
    open func disconnect() {
        if case .success(let session) = nearby { session.disconnect() }
    }

    /// What another peer needs to connect with this session, for programs that bring it there by
    /// means of their own: how this one is reached. The handler is called on a private queue.
    @preconcurrency open func nearbyConnectionData(
        forPeer peerID: MCPeerID,
        withCompletionHandler completionHandler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        Task { [nearby, link] in
            let answer: Result<Data, MCError>
            do {
                answer = .success(Data(try await nearby.get().connectionData()))
            } catch {
                answer = .failure(MCError(describing: error))
            }
            await link.queue.deliver {
                switch answer {
                case .success(let data): completionHandler(data, nil)
                case .failure(let error): completionHandler(nil, error)
                }
            }
        }
    }

    /// The same, awaited. With Apple the two are one method, so an override of the other is asked.
    open func nearbyConnectionData(forPeer peerID: MCPeerID) async throws -> Data {
        try await withCheckedThrowingContinuation { continuation in
            nearbyConnectionData(forPeer: peerID) { data, error in
                if let data { return continuation.resume(returning: data) }
                continuation.resume(throwing: error ?? MCError(.unknown))
            }
        }
    }

    /// Connects with a peer whose connection data was brought here; both sides do so. What becomes
    /// of it is told by the peer's states.
    open func connectPeer(_ peerID: MCPeerID, withNearbyConnectionData data: Data) {
        do {
            try nearby.get().beginConnecting(to: peerID.peer, with: [UInt8](data))
        } catch {
            link.tellFailure(MCError(describing: error), of: peerID)
        }
    }

    /// Ends an attempt to connect.
    ///
    /// Of one that is connected, the connection with this session ends on both sides; all others
    /// stay.
    open func cancelConnectPeer(_ peerID: MCPeerID) {
        if case .success(let session) = nearby { session.cancelConnect(peerID.peer) }
    }

    /// The session below.
    func open() throws -> Session {
        do {
            return try nearby.get()
        } catch {
            throw MCError(error)
        }
    }

    private static func session(
        of peer: MCPeerID, identity: [Any]?, encryption: MCEncryptionPreference, link: SessionLink
    ) -> Result<Session, NearbyError> {
        Result { () throws(NearbyError) in
            try Session(
                peer: peer.peer, identity: MCIdentity(securityIdentity: identity),
                encryption: encryption.nearby,
                certificateHandler: { [weak link] chain, peer in
                    await link?.accepts(chain, of: MCPeerID(peer)) ?? false
                })
        }
    }
}
