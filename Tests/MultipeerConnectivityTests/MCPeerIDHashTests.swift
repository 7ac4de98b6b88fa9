import Foundation
import Nearby
import Testing

@testable import MultipeerConnectivity

/// Two programs compare `hash` of themselves and of the other, and exactly one of them goes on.
struct MCPeerIDHashTests {
    @Test func hashIsTheSameInEveryProcess() throws {
        let bytes = [UInt8](0x81...0x90)
        let id = try #require(PeerID(bytes: bytes))
        let peer = MCPeerID(Peer(displayName: "Gabe", id: id))
        #expect(peer.hash == 0x40C1_41C2_42C3_43C4)
        #expect(peer.hashValue == peer.hash)
        #expect(MCPeerID(Peer(displayName: "another name", id: id)).hash == peer.hash)
    }

    @Test func hashesDifferAndAreNotNegative() throws {
        KeyFolderForTests.use()
        let hashes = (0..<20).map { _ in MCPeerID(displayName: "Gabe").hash }
        #expect(Set(hashes).count == 20)
        #expect(hashes.allSatisfy { $0 >= 0 })
    }
}
