import Foundation
import Testing

@testable import MultipeerConnectivity

struct MCPeerIDTests {
    init() { KeyFolderForTests.use() }

    @Test func twoOfOneNameAreDifferent() {
        let (one, other) = (MCPeerID(displayName: "Gabe"), MCPeerID(displayName: "Gabe"))
        #expect(one != other)
        #expect(!one.isEqual(other))
        #expect(Set([one, other]).count == 2)
        #expect(!one.isEqual(nil))
        #expect(!one.isEqual("Gabe"))
    }

    @Test func archivedWithTodaysCallsItIsTheSame() throws {
        let peer = MCPeerID(displayName: "Jeff Ωμέγα")
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: peer, requiringSecureCoding: true)
        let again = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: MCPeerID.self, from: data))
        #expect(again == peer)
        #expect(again.hash == peer.hash)
        #expect(again.displayName == "Jeff Ωμέγα")
        #expect([peer: 1][again] == 1)
    }

    @Test func archivedInsideOtherObjectsItIsTheSame() throws {
        let peer = MCPeerID(displayName: "Jeff")
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: ["peer": peer], requiringSecureCoding: false)
        let again = try NSKeyedUnarchiver.unarchiveTopLevelObjectWithData(data) as? [String: Any]
        #expect(again?["peer"] as? MCPeerID == peer)
    }

    @Test func archivedInsideSecureCollectionsItIsTheSame() throws {
        let peers = [MCPeerID(displayName: "Jeff"), MCPeerID(displayName: "Gabe")]
        let list = try NSKeyedArchiver.archivedData(
            withRootObject: peers, requiringSecureCoding: true)
        let listed = try NSKeyedUnarchiver.unarchivedObject(
            ofClasses: [NSArray.self, MCPeerID.self], from: list)
        #expect(listed as? [MCPeerID] == peers)
        let table = try NSKeyedArchiver.archivedData(
            withRootObject: ["one": peers[0], "other": peers[1]], requiringSecureCoding: true)
        let tabled = try NSKeyedUnarchiver.unarchivedObject(
            ofClasses: [NSDictionary.self, NSString.self, MCPeerID.self], from: table)
        #expect(tabled as? [String: MCPeerID] == ["one": peers[0], "other": peers[1]])
    }

    @Test func archivedInAProgramsOwnClassItIsTheSame() throws {
        let contact = Contact(peer: MCPeerID(displayName: "Jeff"), nickname: "J")
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: [contact, contact], requiringSecureCoding: true)
        let again =
            try NSKeyedUnarchiver.unarchivedObject(
                ofClasses: [NSArray.self, Contact.self], from: data) as? [Contact]
        #expect(again?.map(\.peer) == [contact.peer, contact.peer])
        #expect(again?.map(\.nickname) == ["J", "J"])
    }

    /// Programs hash the archive and take that as an identifier.
    @Test func equalOnesArchiveToEqualBytes() throws {
        let peer = MCPeerID(displayName: "Gabe")
        let data = try Self.archive(peer)
        let again = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: MCPeerID.self, from: data))
        for _ in 0..<20 {
            #expect(try Self.archive(again) == data)
            #expect(try Self.archive(peer) == data)
        }
        let copy = try #require(peer.copy() as? MCPeerID)
        #expect(copy == peer)
        #expect(try Self.archive(copy) == data)
    }

    /// What Foundation's own archiver writes of it, too.
    @Test func archivedAsAnyObjectItIsTheSame() throws {
        let peer = MCPeerID(displayName: "Gabe & <Jeff>")
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: peer as Any, requiringSecureCoding: true)
        #expect(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: MCPeerID.self, from: data) == peer)
        let old = NSKeyedArchiver.archivedData(withRootObject: peer)
        #expect(try NSKeyedUnarchiver.unarchiveTopLevelObjectWithData(old) as? MCPeerID == peer)
    }

    @Test func archivesOfDifferentOnesDiffer() throws {
        let one = try Self.archive(MCPeerID(displayName: "Gabe"))
        let other = try Self.archive(MCPeerID(displayName: "Gabe"))
        #expect(one != other)
    }

    @Test func damagedArchiveIsNoPeer() throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.encode(NSString(string: "AQID"), forKey: "peer")
        archiver.finishEncoding()
        let decoder = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        #expect(MCPeerID(coder: decoder) == nil)
    }

    @Test func namesOf63BytesAreTaken() {
        let name = String(repeating: "x", count: 63)
        #expect(MCPeerID(displayName: name).displayName == name)
        #expect(MCPeerID(displayName: "é").description.contains("DisplayName = é"))
    }

    private static func archive(_ peer: MCPeerID) throws -> Data {
        try NSKeyedArchiver.archivedData(withRootObject: peer, requiringSecureCoding: true)
    }
}

/// What a program keeps of somebody.
final class Contact: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    let peer: MCPeerID
    let nickname: String

    init(peer: MCPeerID, nickname: String) {
        self.peer = peer
        self.nickname = nickname
    }

    init?(coder: NSCoder) {
        guard let peer = coder.decodeObject(of: MCPeerID.self, forKey: "peer"),
            let nickname = coder.decodeObject(of: NSString.self, forKey: "nickname")
        else { return nil }
        self.peer = peer
        self.nickname = nickname as String
    }

    func encode(with coder: NSCoder) {
        coder.encode(peer, forKey: "peer")
        coder.encode(NSString(string: nickname), forKey: "nickname")
    }
}

/// Keys of the tests' own peers go to a temporary folder.
enum KeyFolderForTests {
    private static let once: Void = {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("keys-\(ProcessInfo.processInfo.processIdentifier)")
        setenv("RIVULET_NEARBY_KEYS", folder.path, 1)
    }()

    static func use() { once }
}
