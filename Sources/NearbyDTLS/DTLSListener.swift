import COpenSSL
import NearbyCore
import NearbyEngine

/// Answers ClientHellos with cookies, and keeps nothing about anybody who has not returned one.
///
/// A cookie is HMAC(random key, minute ‖ source address), good in its minute and the next. It is
/// that of RFC 6347 §4.2.1, so that any DTLS 1.2 client gets through.
struct DTLSListener {
    private let context: DTLSContext
    private let cookieKey: [UInt8]
    private let address: OpaquePointer
    /// Used again for every datagram until one is accepted: `DTLSv1_listen` clears it first.
    private var association: DTLSAssociation
    private var filter = RecordFilter()

    private static let cookieLifetime = Duration.seconds(60)

    /// `address` is a BIO_ADDR that the caller owns; DTLSv1_listen insists on one.
    init(context: DTLSContext, cookieKey: [UInt8], address: OpaquePointer) {
        self.context = context
        self.cookieKey = cookieKey
        self.address = address
        association = DTLSAssociation(context)
    }

    mutating func listen(_ datagram: ArraySlice<UInt8>, from source: [UInt8], now: Instant)
        -> ListenOutcome
    {
        let records = filter.pass(datagram, in: .handshake)
        let drops = filter.takeDrops()
        guard !records.isEmpty else {
            return .dropped(
                drops[.handshakeMalformed] > 0 ? .handshakeMalformed : .handshakeRecordFiltered)
        }
        let wire = association.wire
        wire.cookies = cookies(for: source, now: now)
        wire.input = records
        ERR_clear_error()
        let result = DTLSv1_listen(association.ssl, address)
        wire.input = nil
        // The first step of the handshake checks the cookie once more.
        defer { wire.cookies = [] }
        guard result == 1 else {
            ERR_clear_error()
            guard let reply = association.takeOutput().first else {
                return .dropped(.handshakeUnknown)
            }
            return .reply(reply)
        }
        let accepted = association
        association = DTLSAssociation(context)
        return .accepted(DTLSHandshake(listened: accepted, now: now))
    }

    private func cookies(for source: [UInt8], now: Instant) -> [[UInt8]] {
        let minute = now.nanoseconds / Self.cookieLifetime.nanoseconds
        return [minute, minute - 1].map { minute in
            var writer = ByteWriter(reserving: 8 + source.count)
            writer.write(UInt64(bitPattern: minute))
            writer.write(contentsOf: source)
            return Digest.hmac(key: cookieKey, writer.bytes)
        }
    }
}
