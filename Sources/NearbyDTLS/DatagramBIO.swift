import COpenSSL
import NearbyEngine

/// The wire of one association: at most one datagram going in, a list of datagrams coming out.
///
/// OpenSSL's memory BIO is a byte stream and loses the borders between datagrams, and its datagram
/// pair came with 3.2 only; this serves all versions. C reaches the object through `BIO_get_data`,
/// unretained: the `DTLSAssociation` that owns the SSL object owns this one too.
final class DatagramBIO {
    /// What the next read gets.
    var input: ArraySlice<UInt8>?
    /// What was written, one element a datagram.
    var output: [[UInt8]] = []
    /// Cookies that count as right at this moment, the one to hand out first.
    var cookies: [[UInt8]] = []
    /// Why the verify callback refused the other side's certificate.
    var certificateRefusal: String?
    /// What it found in a chain that leads to our anchors.
    var certification: Certification?

    /// The object behind an SSL object that has this kind of BIO.
    static func of(_ ssl: OpaquePointer?) -> DatagramBIO? {
        guard let ssl else { return nil }
        return object(of: SSL_get_rbio(ssl))
    }

    /// A BIO_METHOD for such BIOs; the caller frees it after the last of them.
    static func makeMethod() -> OpaquePointer {
        guard let method = BIO_meth_new(type, "datagrams") else {
            preconditionFailure("BIO_meth_new: out of memory")
        }
        BIO_meth_set_create(method) { bio in
            BIO_set_init(bio, 1)
            return 1
        }
        BIO_meth_set_read(method) { bio, buffer, count in DatagramBIO.read(bio, buffer, count) }
        BIO_meth_set_write(method) { bio, buffer, count in DatagramBIO.write(bio, buffer, count) }
        // Peek mode, MTU queries, timeouts, peer addresses: none of it here.
        BIO_meth_set_ctrl(method) { _, command, _, _ in command == BIO_CTRL_FLUSH ? 1 : 0 }
        return method
    }

    /// One number a process: OpenSSL has 127 of them to give.
    private static let type = BIO_get_new_index() | BIO_TYPE_SOURCE_SINK

    private static func object(of bio: OpaquePointer?) -> DatagramBIO? {
        guard let bio, let data = BIO_get_data(bio) else { return nil }
        return Unmanaged<DatagramBIO>.fromOpaque(data).takeUnretainedValue()
    }

    private static func read(
        _ bio: OpaquePointer?, _ buffer: UnsafeMutablePointer<CChar>?, _ count: Int32
    ) -> Int32 {
        shim_BIO_clear_retry_flags(bio)
        guard let wire = object(of: bio), let buffer, let datagram = wire.input else {
            shim_BIO_set_retry_read(bio)
            return -1
        }
        wire.input = nil
        let room = UnsafeMutableRawBufferPointer(start: buffer, count: Int(count))
        let taken = datagram.prefix(room.count)
        room.copyBytes(from: taken)
        return Int32(taken.count)
    }

    private static func write(_ bio: OpaquePointer?, _ bytes: UnsafePointer<CChar>?, _ count: Int32)
        -> Int32
    {
        guard let wire = object(of: bio), let bytes, count > 0 else { return -1 }
        wire.output.append([UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(count))))
        return count
    }
}
