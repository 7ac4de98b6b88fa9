import NearbyGroups

extension NearbyError {
    /// For people: why an invitation, or a connection, came to nothing.
    ///
    /// - Parameter late: what to say where it took too long.
    init(_ refusal: GroupRefusal, of peer: Peer, late: String) {
        self =
            switch refusal {
            case .declined: NearbyError(.unavailable, "\(peer) declined the invitation")
            case .timedOut: NearbyError(.timedOut, late)
            case .noPlace:
                NearbyError(.unavailable, "there is no place for \(peer)")
            case .ended(.preference):
                NearbyError(
                    .unavailable,
                    "\(peer): one side requires encryption, and the other refuses it or its "
                        + "channel has none")
            case .ended(.certificate):
                NearbyError(.unavailable, "\(peer): the certificates were refused")
            case .ended(.full): NearbyError(.unavailable, "\(peer) has no place in its session")
            case .ended(.busy):
                NearbyError(
                    .unavailable,
                    "too many attempts to connect to \(peer) within ten seconds; try again later")
            case .ended(.timedOut): NearbyError(.timedOut, late)
            case .ended(.left), .ended(.unknownSession), .ended(.alreadyMember):
                NearbyError(.unavailable, "\(peer) has left the session")
            }
    }
}
