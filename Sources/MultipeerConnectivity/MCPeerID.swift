// Apple's modules hand these on, and programs rely on it; what Linux has in FoundationNetworking,
// `URLSession` for one, is Foundation's there.
@_exported import Foundation
@_exported import FoundationNetworking
import Nearby

// Apple's frameworks bring it along. Not with 6.0, whose library of it cannot be linked on Linux.
#if compiler(>=6.1)
    @_exported import Observation
#endif

/// Who a peer is: what a program makes for itself, once, and what it is told about others.
///
/// Two peers of one name are different. A copy of one, or one that was archived and unarchived, is
/// equal to it, and equal ones archive to equal bytes. The first time that one's own is archived,
/// its private key is kept in a file (see `Peer`), so that the archive is enough to be the same
/// peer at the next start of the program.
open class MCPeerID: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    let peer: Peer

    /// - Parameter myDisplayName: What others see: 1 to 63 bytes of UTF-8. Another length ends the
    ///   program with a sentence, as Apple's exception does.
    public init(displayName myDisplayName: String) {
        do {
            peer = try Peer(displayName: myDisplayName)
        } catch {
            endProgram("MCPeerID(displayName:): \(error.description)")
        }
        super.init()
    }

    /// Named after this machine: programs fill a property with it until they have a name.
    public override convenience init() {
        let name = ProcessInfo.processInfo.hostName
        self.init(displayName: (1...63).contains(name.utf8.count) ? name : "peer")
    }

    init(_ peer: Peer) {
        self.peer = peer
        super.init()
    }

    public required init?(coder: NSCoder) {
        guard
            let text = coder.decodeObject(of: NSString.self, forKey: Self.archiveKey),
            let archive = Data(base64Encoded: text.description),
            let peer = try? Peer(archive: [UInt8](archive))
        else { return nil }
        self.peer = peer
        super.init()
    }

    /// What others see.
    open var displayName: String { peer.displayName }

    /// True.
    open class var supportsSecureCoding: Bool { true }

    open func encode(with coder: NSCoder) {
        do {
            let text = Data(try peer.archive()).base64EncodedString()
            coder.encode(NSString(string: text), forKey: Self.archiveKey)
        } catch {
            // `archivedData(withRootObject:requiringSecureCoding:)` throws it.
            (coder as? NSKeyedArchiver)?.error = MCError(error)
            report("MCPeerID \(displayName) was not archived: \(error.description)")
        }
    }

    open func copy(with zone: NSZone? = nil) -> Any { self }

    open override func isEqual(_ object: Any?) -> Bool {
        (object as? MCPeerID)?.peer == peer
    }

    /// The same everywhere, as with Apple: programs compare the hashes of two peers to settle
    /// which of them invites. Not negative, as they take remainders of it too.
    open override var hash: Int {
        Int(peer.id.bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } >> 1)
    }

    open override var description: String {
        "<MCPeerID: \(peer.id) DisplayName = \(displayName)>"
    }

    fileprivate static let archiveKey = "peer"
}

// Equal peers archive to equal bytes, and programs hash those. On Linux Foundation's archiver
// writes its keys in an order that differs from one time to the next, so an archive of a peer alone
// is written here. Its form is a keyed archive's: every unarchiver reads it.
extension NSKeyedArchiver {
    public class func archivedData(
        withRootObject object: MCPeerID, requiringSecureCoding: Bool
    ) throws -> Data {
        guard type(of: object) == MCPeerID.self else {
            return try archivedData(
                withRootObject: object as Any, requiringSecureCoding: requiringSecureCoding)
        }
        do {
            return keyedArchive(of: Data(try object.peer.archive()).base64EncodedString())
        } catch {
            throw MCError(describing: error)
        }
    }

    public class func archivedData(withRootObject object: MCPeerID) -> Data {
        (try? archivedData(withRootObject: object, requiringSecureCoding: false)) ?? Data()
    }

    private static func keyedArchive(of text: String) -> Data {
        let name = NSStringFromClass(MCPeerID.self)
        func uid(_ number: Int) -> String {
            "<dict><key>CF$UID</key><integer>\(number)</integer></dict>"
        }
        return Data(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict>
            <key>$archiver</key><string>NSKeyedArchiver</string>
            <key>$objects</key><array><string>$null</string>
            <dict><key>$class</key>\(uid(3))<key>\(MCPeerID.archiveKey)</key>\(uid(2))</dict>
            <string>\(text)</string>
            <dict><key>$classes</key>
            <array><string>\(name)</string><string>NSObject</string></array>
            <key>$classname</key><string>\(name)</string></dict></array>
            <key>$top</key><dict><key>root</key>\(uid(1))</dict>
            <key>$version</key><integer>100000</integer></dict></plist>
            """.utf8)
    }
}
