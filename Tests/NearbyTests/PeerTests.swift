import Foundation
import Testing

@testable import Nearby

@Suite(.serialized) struct PeerTests {
    @Test func namesHaveOneTo63Bytes() throws {
        #expect(throws: NearbyError.self) { try Peer(displayName: "") }
        #expect(throws: NearbyError.self) {
            try Peer(displayName: String(repeating: "x", count: 64))
        }
        _ = try Peer(displayName: String(repeating: "x", count: 63))
    }

    @Test func twoOfOneNameAreDifferent() throws {
        let name = "Anna"
        let (one, other) = (try Peer(displayName: name), try Peer(displayName: name))
        #expect(one != other)
    }

    @Test func anArchiveKeepsTheKeyApart() throws {
        let folder = NSTemporaryDirectory() + "nearby-keys-\(UInt64.random(in: 0...UInt64.max))"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        setenv("RIVULET_NEARBY_KEYS", folder, 1)
        defer { unsetenv("RIVULET_NEARBY_KEYS") }
        let peer = try Peer(displayName: "Änna")
        #expect(!FileManager.default.fileExists(atPath: folder))
        let archive = try peer.archive()
        let second = try peer.archive()
        #expect(archive == second)
        let file = folder + "/\(peer.id).pem"
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let again = try Peer(archive: archive)
        #expect(again == peer)
        #expect(again.displayName == "Änna")
        #expect(again.key?.pem == peer.key?.pem)
        _ = try OwnPeer(again)
        let json = try JSONEncoder().encode([peer])
        #expect(try JSONDecoder().decode([Peer].self, from: json) == [peer])
        // Elsewhere it is another's.
        setenv("RIVULET_NEARBY_KEYS", folder + "/other", 1)
        let remote = try Peer(archive: archive)
        #expect(remote.key == nil)
        #expect(throws: NearbyError.self) { try OwnPeer(remote) }
        // Readable by others, it is not used.
        setenv("RIVULET_NEARBY_KEYS", folder, 1)
        chmod(file, 0o644)
        #expect(throws: NearbyError.self) { try Peer(archive: archive) }
    }

    @Test(arguments: [[], [1], [UInt8](repeating: 1, count: 17), [UInt8](repeating: 2, count: 40)])
    func otherBytesAreNoArchive(bytes: [UInt8]) {
        #expect(throws: NearbyError.self) { try Peer(archive: bytes) }
    }

    @Test func serviceTypesAreThoseOfDNSSD() throws {
        #expect(try Service("MPC-Testing").type == "mpc-testing")
        let folded = try Service("mpc-testing")
        #expect(try Service("MPC-Testing") == folded)
        for wrong in ["", "sixteen-letters-", "-a", "a-", "a--b", "123", "a_b", "abcdefghijklmnop"]
        {
            #expect(throws: NearbyError.self) { try Service(wrong) }
        }
    }

    @Test func namesOfFilesAreNoPaths() {
        #expect(plainFileName("../../etc/passwd") == "passwd")
        #expect(plainFileName("C:\\x\\y.txt") == "y.txt")
        for name in ["", "..", ".", "/", "a/..", "\u{0}"] {
            #expect(plainFileName(name) == "resource")
        }
    }
}
