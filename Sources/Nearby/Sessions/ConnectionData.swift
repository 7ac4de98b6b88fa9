import NearbyCore
import NearbyGroups
import NearbyWire

/// What one peer hands to another by other means than ours so that their sessions connect.
///
///     data = version (1) session (8) ticket
struct ConnectionData: Sendable {
    let session: SessionID
    /// Link-local ones among them.
    let addresses: [TransportAddress]

    init(parsing bytes: [UInt8], of peer: Peer) throws(NearbyError) {
        var reader = ByteReader(bytes)
        guard (try? reader.readUInt8()) == Self.version, let value = try? reader.readUInt64(),
            let ticket = try? Ticket(parsing: reader.readRemaining())
        else {
            throw NearbyError(
                .invalidParameter, "the connection data are damaged: hand over all of them")
        }
        guard ticket.peer == peer.id else {
            throw NearbyError(.invalidParameter, "the connection data are not \(peer)'s")
        }
        session = SessionID(value: value)
        addresses = ticket.addresses
    }

    static func bytes(of session: SessionID, _ ticket: Ticket) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(version)
        writer.write(session.value)
        writer.write(contentsOf: ticket.bytes)
        return writer.bytes
    }

    private static let version: UInt8 = 1
}
