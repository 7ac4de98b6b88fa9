import Foundation
import Nearby

/// Custom discovery: programs exchange peer IDs and connection data by means of their own.
extension MCSession {
    /// What another peer needs to connect with this session: how this one is reached. The handler
    /// is called on a private queue.
    public func nearbyConnectionData(
        forPeer peerID: MCPeerID,
        withCompletionHandler completionHandler: @escaping (Data?, (any Error)?) -> Void
    ) {
        let handler = Handed(value: completionHandler)
        Task { [nearby, link] in
            let answer: Result<Data, MCError>
            do {
                answer = .success(Data(try await nearby.get().connectionData()))
            } catch {
                answer = .failure(MCError(describing: error))
            }
            await link.queue.deliver {
                switch answer {
                case .success(let data): handler.value(data, nil)
                case .failure(let error): handler.value(nil, error)
                }
            }
        }
    }

    /// The same, awaited.
    public func nearbyConnectionData(forPeer peerID: MCPeerID) async throws -> Data {
        do {
            return Data(try await nearby.get().connectionData())
        } catch {
            throw MCError(describing: error)
        }
    }

    /// Connects with a peer whose connection data was brought here; both sides do so. What becomes
    /// of it is told by the peer's states.
    public func connectPeer(_ peerID: MCPeerID, withNearbyConnectionData data: Data) {
        do {
            try nearby.get().beginConnecting(to: peerID.peer, with: [UInt8](data))
        } catch {
            link.tellFailure(MCError(describing: error), of: peerID)
        }
    }

    /// Ends an attempt to connect.
    public func cancelConnectPeer(_ peerID: MCPeerID) {
        if case .success(let session) = nearby { session.cancelConnect(peerID.peer) }
    }
}
