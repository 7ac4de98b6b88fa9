import NearbyCore
import NearbyGroups

/// What the program's threads want of the background thread.
enum Command: Sendable {
    case advertise(Advertised, Bool)
    case browse(Browsed, Bool)
    /// Peers that only relays see.
    case lookUp(Browsed, Reply<[Peer]>)
    case invite(OwnInvitation, Reply<Void>?)
    case answer(InvitationID, OpenedSession?, OwnPeer)
    /// Of the invitation, or the connection that is being made, with a peer. `unlessAwaited`: not
    /// if others wait for it.
    case cancel(PeerID, OpenedSession, unlessAwaited: Bool)
    case decide(PeerID, OpenedSession, isAccepted: Bool)
    case send([UInt8], to: [PeerID], OpenedSession, isReliable: Bool)
    case connectionData(OpenedSession, Reply<[UInt8]>)
    case connect(Peer, ConnectionData, OpenedSession, Reply<Void>?)
    case openStream(OutgoingPipe)
    /// The program wrote to it, or ended it.
    case write(OutgoingPipe)
    /// The program read from it, or wants no more.
    case read(IncomingPipe)
    case sendFile(FileToSend)
    case cancelTransfer(TransferState)
    case useCollectors(LinkedCollectors, Bool)
    case tellCollector([UInt8], to: PeerID, LinkedCollectors, isReliable: Bool)
    /// The program has taken most of what waited.
    case goOn(OpenedSession)
    case disconnect(OpenedSession)
    /// Nobody has the session any more.
    case close(OpenedSession)

    /// Whose station it is for; nil: for whoever has what it names.
    var own: OwnPeer? {
        switch self {
        case .read, .cancelTransfer: nil
        case .openStream(let pipe), .write(let pipe): pipe.session.own
        case .sendFile(let file): file.session.own
        case .advertise(let advertised, _): advertised.own
        case .browse(let browsed, _): browsed.own
        case .useCollectors(let linked, _), .tellCollector(_, _, let linked, _): linked.own
        case .lookUp(let browsed, _): browsed.own
        case .invite(let invitation, _): invitation.session.own
        case .answer(_, _, let own): own
        case .cancel(_, let session, _), .decide(_, let session, _), .send(_, _, let session, _),
            .connectionData(let session, _), .connect(_, _, let session, _),
            .goOn(let session), .disconnect(let session), .close(let session):
            session.own
        }
    }

    /// Whether it begins something, so that a station is needed.
    var begins: Bool {
        switch self {
        case .advertise(_, let isStarted), .browse(_, let isStarted),
            .useCollectors(_, let isStarted):
            isStarted
        case .invite, .connectionData, .connect: true
        case .lookUp, .answer, .cancel, .decide, .send, .openStream, .write, .read, .sendFile,
            .cancelTransfer, .tellCollector, .goOn, .disconnect, .close:
            false
        }
    }

    /// Whether a session may be used for the first time.
    var usesSession: Bool { if case .answer(_, _?, _) = self { true } else { false } }

    /// It cannot be done: whoever waits is told why.
    func fail(_ error: NearbyError) {
        switch self {
        case .advertise(let advertised, true): advertised.failures.push(error, .news)
        case .browse(let browsed, true): browsed.events.push(.failed(error), .news)
        case .useCollectors(let linked, true): linked.events.push(.failed(error), .news)
        case .tellCollector(_, _, let linked, _): linked.taken()
        case .invite(let invitation, let reply):
            reply?.resolve(.failure(error))
            invitation.session.events.push(.failure(invitation.peer, error), .news)
            invitation.session.set(.notConnected, of: invitation.peer)
        case .connect(let peer, _, let session, let reply):
            reply?.resolve(.failure(error))
            session.events.push(.failure(peer, error), .news)
            session.set(.notConnected, of: peer)
        case .connectionData(_, let reply): reply.resolve(.failure(error))
        case .lookUp(_, let reply): reply.resolve(.failure(error))
        case .send(let bytes, let peers, let session, _):
            session.room.taken(bytes.count, for: peers, isReliable: false)
        case .openStream(let pipe): pipe.end(error)
        case .sendFile(let file):
            file.outcome.resolve(.failure(error))
            file.state.end()
        case .advertise, .browse, .useCollectors, .answer, .cancel, .decide, .write, .read,
            .cancelTransfer, .goOn, .disconnect, .close:
            break
        }
    }
}
