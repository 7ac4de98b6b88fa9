import Foundation
import NearbyTransfers
import Testing

@testable import Nearby

/// What lies in the folder for files that come, from programs that are no more.
struct OldFilesTests {
    @Test func whatIsOlderThanAWeekGoesAndTheRestStays() throws {
        let files = FileManager.default
        let folder = NSTemporaryDirectory() + "nearby-old-\(UInt64.random(in: 0...UInt64.max))"
        defer { try? files.removeItem(atPath: folder) }
        try files.createDirectory(
            atPath: folder, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        let eightDaysAgo = [FileAttributeKey.modificationDate: Date(timeIntervalSinceNow: -691_200)]
        for name in ["old.part", "new.part", "old.part-1.named", "new.part-1.named", "else"] {
            let path = "\(folder)/\(name)"
            if name.hasSuffix(".named") {
                try files.createDirectory(atPath: path, withIntermediateDirectories: true)
                try Data("whole".utf8).write(to: URL(fileURLWithPath: path + "/photo.jpg"))
            } else {
                try Data("piece".utf8).write(to: URL(fileURLWithPath: path))
            }
            if !name.hasPrefix("new") { try files.setAttributes(eightDaysAgo, ofItemAtPath: path) }
        }
        let offer = ResourceOffer(
            name: "next", group: 0, byteCount: 5, key: Array(repeating: 7, count: 16))
        let next = try PartFile(of: Peer(displayName: "Gabe"), offer, in: folder)
        next.remove()
        #expect(
            try files.contentsOfDirectory(atPath: folder).sorted()
                == ["else", "new.part", "new.part-1.named"])
    }
}
