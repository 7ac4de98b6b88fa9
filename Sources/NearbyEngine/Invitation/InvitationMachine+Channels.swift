import NearbyCore
import NearbyWire

extension InvitationMachine.Input {
    /// The tie-break hears of a channel with a neighbour.
    static func admitted(_ channel: PeerChannel, _ terms: AdmitFrame, by peer: PeerID) -> Self {
        .admitted(
            channel.token, peer: peer, run: terms.run, attempt: channel.attemptNumber,
            weAreClient: channel.isClient, link: channel.path.endpoint?.link)
    }

    /// And of one that came to nothing.
    static func ended(_ channel: PeerChannel, _ reason: DropReason, with peer: PeerID) -> Self {
        reason == .handshakeTimeout && channel.isAnswered
            ? .fellSilent(peer, channel.attemptNumber) : .failed(peer, channel.attemptNumber)
    }
}
