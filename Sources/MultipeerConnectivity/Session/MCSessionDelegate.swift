import Foundation

/// What a session tells. Called on a private serial queue, one call after the other.
public protocol MCSessionDelegate: NSObjectProtocol {
    /// A peer was connected, is being connected, or is not connected any more.
    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState)

    /// A message came.
    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID)

    /// A peer opened a byte stream to this one. Open it, and close it when done.
    func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String,
        fromPeer peerID: MCPeerID)

    /// A peer began to send a resource. `progress` counts bytes; cancelling it cancels the
    /// resource.
    func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, with progress: Progress)

    /// The resource is there, or will not come. The file at `localURL` is gone when this returns.
    func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, at localURL: URL?, withError error: (any Error)?)

    /// Decides whether a peer is who it says it is: call `certificateHandler` once, with true to
    /// connect. Without this method everybody is accepted.
    ///
    /// `certificate` is the peer's certificate and its chain, each a `Data` in DER; nil if it has
    /// none.
    @preconcurrency func session(
        _ session: MCSession, didReceiveCertificate certificate: [Any]?, fromPeer peerID: MCPeerID,
        certificateHandler: @escaping @Sendable (Bool) -> Void)
}

extension MCSessionDelegate {
    @preconcurrency public func session(
        _ session: MCSession, didReceiveCertificate certificate: [Any]?, fromPeer peerID: MCPeerID,
        certificateHandler: @escaping @Sendable (Bool) -> Void
    ) {
        certificateHandler(true)
    }
}
