import NearbyCore
import NearbyWire

/// From keys to an open channel, and the frames that a channel sends for itself.
extension ChannelMachine {
    /// Says what we are, and whether it would be a shortcut for us, to a peer whose handshake is
    /// finished.
    mutating func admit(
        _ channel: PeerChannel, _ peers: Peers, hasRoute: Bool, isShortcut: Bool, _ now: Instant
    ) -> [Output] {
        guard let peer = channel.peer else { return [] }
        if let holder = peers.holder(of: peer.short), holder != peer {
            let text = "\(holder) has the same first 8 bytes"
            return fail(channel, .admissionShortIDTaken, text)
        }
        var terms = terms
        terms.hasRoute = hasRoute
        terms.seeksShortcut = isShortcut
        terms.neighbourCount = UInt8(clamping: peers.neighbourCount)
        let standing = Standing(
            peer, channel.certification, under: terms.trust.membership, unixTime: unixTime(now))
        channel.admission = AdmissionMachine(
            .init(
                own: own, peer: peer, isClient: channel.isClient, binding: channel.binding,
                standing: standing),
            terms: terms,
            invitation: InviteFrame(timeout: Limits.invitationTimeout, context: []),
            cryptography: cryptography)
        channel.binding = []
        return (standing.isUndated ? [.drop(.certificateUndated)] : [])
            + advance(channel, .start, now)
    }

    mutating func advance(
        _ channel: PeerChannel, _ input: AdmissionMachine.Input, _ now: Instant
    ) -> [Output] {
        guard let steps = channel.admission?.handle(input, now: now) else { return [] }
        return steps.flatMap { step in
            switch step {
            case .send(let frame): return send(frame, on: channel)
            case .admitted(let terms, let isEncrypted):
                admitted(channel, terms, isEncrypted: isEncrypted)
                return []
            case .invited: return [.invited(channel)]
            case .accepted:
                channel.stage = .open
                return [.opened(channel)]
            case .declined(let decision):
                declined(channel, now)
                return [.declined(channel, decision)]
            case .refused(let reason, let tell):
                let close = tell.map { send(CloseFrame(reason: $0).bytes, on: channel) } ?? []
                return close + fail(channel, reason, reason.explanation)
            }
        }
    }

    /// A server says it again to who did not hear it, and would ask for seconds.
    private mutating func declined(_ channel: PeerChannel, _ now: Instant) {
        let kept = count { if case .closing = $0.stage { true } else { false } }
        guard !channel.isClient, kept < Limits.declinedChannelsMax else { return remove(channel) }
        channel.stage = .closing(at: now + Limits.declinedChannelTime)
    }

    /// With a goodbye, if it is here and there are keys for one.
    mutating func close(_ channel: PeerChannel, _ reason: CloseFrame.Reason) -> [Output] {
        guard self[channel.token] != nil else { return [.closed(channel, byPeer: false)] }
        let frame = CloseFrame(reason: reason).bytes
        let goodbye = channel.seal == nil ? [] : send(frame, on: channel)
        remove(channel)
        return goodbye + [.closed(channel, byPeer: false)]
    }

    /// Sealed at control priority, over the channel's own path.
    private func send(_ payload: [UInt8], on channel: PeerChannel) -> [Output] {
        guard let datagram = channel.seal?.seal(payload, priority: .control) else {
            return [.drop(.sealExhausted)]
        }
        return [.transmit(datagram, over: channel.path)]
    }
}

extension CloseFrame.Reason {
    var dropReason: DropReason {
        switch self {
        case .wrongSecret, .notAdmitted: .admissionSecret
        case .version: .admissionVersion
        case .preference: .admissionPreference
        case .shortIDTaken: .admissionShortIDTaken
        case .notListed, .certificate, .certificateExpired, .role: .admissionRefused
        case .leaving, .replaced, .dropped: .handshakeFailed
        }
    }

    /// What the other side means, for people.
    var explanation: String {
        switch self {
        case .notListed: "its `trust: pinned` does not list this node"
        case .certificate: "it wants a certificate of its authority"
        case .certificateExpired: "this node's certificate is not valid at its date"
        case .role: "this node's certificate does not name its role"
        default: dropReason.explanation
        }
    }
}

extension DropReason {
    /// What a peer hears when it is refused for this.
    var told: CloseFrame.Reason {
        switch self {
        case .admissionNotListed: .notListed
        case .certificateExpired: .certificateExpired
        case .admissionRole: .role
        default: .certificate
        }
    }

    /// What to do about a refusal, for people.
    var explanation: String {
        switch self {
        case .admissionSecret: "the network secrets differ: put the same secret on both nodes"
        case .admissionVersion: "no common wire version: update the older node"
        case .admissionPreference: "one side requires encryption, the other refuses it"
        case .admissionTimeout: "the handshake was right, but no proof of the network secret came"
        case .invitationTimeout: "the invitation was not answered in time"
        case .admissionShortIDTaken: "another peer has the same first 8 bytes of its PeerID"
        case .admissionNotListed: "`trust: pinned` does not list it: add it if it belongs here"
        case .admissionCertificate: "it has no certificate of our authority"
        case .admissionRole: "its certificate does not name the role that it has"
        case .certificateExpired: "its certificate is not valid today: have it signed anew"
        default: rawValue
        }
    }
}

extension Limits {
    public static let invitationTimeout = Duration.seconds(30)
    /// How long a declined channel is kept, so that the client may ask again; and while so many
    /// channels are closing, none is.
    static let declinedChannelTime = Duration.seconds(1)
    static let declinedChannelsMax = 32
}
