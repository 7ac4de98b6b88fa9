import Nearby

extension Session {
    /// Sends what may be lost, now. It is lost where there is no room, or where a peer's program is
    /// slow to take a long one: a program that tells its position sixty times a second takes a call
    /// that throws for the end of the session. A slow peer takes it from no other.
    ///
    /// - Parameter peers: each is named once.
    /// - Throws: `.notConnected` if one of them is no member, then nobody gets it;
    ///   `.invalidParameter` for what is too long even for a reliable message.
    func sendUnreliable(_ message: [UInt8], to peers: [Peer]) throws(NearbyError) {
        do throws(NearbyError) {
            try sendNow(message, to: peers, mode: .unreliable)
        } catch {
            guard error.code == .unavailable else { throw error }
            guard peers.count > 1 else { return }
            for peer in peers { try? sendNow(message, to: [peer], mode: .unreliable) }
        }
    }
}
