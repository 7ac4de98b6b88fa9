/// A peer whose key we have.
struct OwnPeer: Sendable {
    let peer: Peer
    let pem: [UInt8]

    init(_ peer: Peer) throws(NearbyError) {
        guard let key = peer.key else {
            throw NearbyError(
                .invalidParameter,
                "\(peer) is another's peer, or its key file is not here: make one with "
                    + "Peer(displayName:), or decode your own where its key is kept")
        }
        self.peer = peer
        pem = key.pem
    }
}
