import NearbyCore
import NearbyEngine
import NearbyWire

/// The keys of a channel as its client has them, and frames sealed with them: written anew, so that
/// no rule of the project's own `FrameSeal` binds the attacker.
///
///     client key 32 | client IV 12 | server key 32 | server IV 12 | client index 4 | server index 4 | binding 32
struct RogueSeal {
    let remoteIndex: UInt32
    let localIndex: UInt32
    /// What proofs of admission are bound to.
    let binding: [UInt8]
    private let outgoing: any FrameCipher
    private let incoming: any FrameCipher
    private var counters = [UInt64](repeating: 0, count: Priority.allCases.count)

    init(_ exporter: [UInt8], _ cryptography: any Cryptography) {
        outgoing = cryptography.makeCipher(key: exporter[0..<32], iv: exporter[32..<44])
        incoming = cryptography.makeCipher(key: exporter[44..<76], iv: exporter[76..<88])
        localIndex = exporter[88..<92].reduce(0) { $0 << 8 | UInt32($1) }
        remoteIndex = exporter[92..<96].reduce(0) { $0 << 8 | UInt32($1) }
        binding = Array(exporter[96..<128])
    }

    mutating func seal(_ payload: [UInt8], _ priority: Priority) -> [UInt8] {
        let slot = Int(priority.rawValue)
        let header = SealedHeader(
            priority: priority, isPlaintext: false, index: remoteIndex, counter: counters[slot])
        counters[slot] += 1
        var writer = ByteWriter(reserving: payload.count + 32)
        header.emit(into: &writer)
        writer.write(contentsOf: payload)
        var frame = writer.bytes
        outgoing.seal(
            &frame, headerByteCount: SealedHeader.byteCount, sequence: header.sequence,
            encrypted: true)
        return frame
    }

    /// The payload, if the datagram is of this channel.
    func open(_ datagram: [UInt8]) -> ArraySlice<UInt8>? {
        guard let header = try? SealedHeader(parsing: datagram[...]), header.index == localIndex
        else { return nil }
        var frame = datagram
        let isAuthentic = incoming.open(
            &frame, headerByteCount: SealedHeader.byteCount, sequence: header.sequence,
            encrypted: !header.isPlaintext)
        return isAuthentic ? frame[SealedHeader.byteCount...] : nil
    }
}
