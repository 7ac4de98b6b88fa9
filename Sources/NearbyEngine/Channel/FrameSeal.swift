import NearbyCore
import NearbyWire

/// The keys of one channel, cut from the handshake's exporter (RFC 5705), as DTLS-SRTP does (RFC
/// 5764 §4.2).
///
///     client key 32 | client IV 12 | server key 32 | server IV 12 | client index 4 | server index 4 | admission 32
///
/// An index names the channel towards its owner. It is random; if it is taken already the attempt
/// fails.
struct ChannelKeys {
    let clientIndex: UInt32
    let serverIndex: UInt32
    /// What admission proofs are bound to.
    let admission: ArraySlice<UInt8>
    let clientCipher: any FrameCipher
    let serverCipher: any FrameCipher

    init?(_ exporter: [UInt8], _ cryptography: any Cryptography) {
        guard exporter.count == HandshakeResult.exporterByteCount else { return nil }
        clientCipher = cryptography.makeCipher(key: exporter[0..<32], iv: exporter[32..<44])
        serverCipher = cryptography.makeCipher(key: exporter[44..<76], iv: exporter[76..<88])
        clientIndex = exporter[88..<92].reduce(0) { $0 << 8 | UInt32($1) }
        serverIndex = exporter[92..<96].reduce(0) { $0 << 8 | UInt32($1) }
        admission = exporter[96..<128]
    }
}

/// Seals what goes out and opens what comes in on one channel: counters and replay windows for each
/// priority.
struct FrameSeal {
    /// The receiver's name for the channel: on frames that we send.
    let remoteIndex: UInt32
    /// Our name for it: on frames that we receive.
    let localIndex: UInt32
    var isEncrypted = true
    private let outgoing: any FrameCipher
    private let incoming: any FrameCipher
    private var counters: [UInt64]
    /// The highest counter that either side has used.
    private var busiest: UInt64
    private var forgedCount: UInt64 = 0
    private var windows = [ReplayWindow](repeating: ReplayWindow(), count: Priority.allCases.count)

    /// Bytes that sealing adds.
    static let overheadByteCount = SealedHeader.byteCount + frameTagByteCount

    /// - Parameter firstCounter: of each priority; tests begin near the end.
    init(_ keys: ChannelKeys, isClient: Bool, firstCounter: UInt64 = 0) {
        counters = [UInt64](repeating: firstCounter, count: Priority.allCases.count)
        busiest = firstCounter
        remoteIndex = isClient ? keys.serverIndex : keys.clientIndex
        localIndex = isClient ? keys.clientIndex : keys.serverIndex
        outgoing = isClient ? keys.clientCipher : keys.serverCipher
        incoming = isClient ? keys.serverCipher : keys.clientCipher
    }

    /// A datagram ready to transmit; nil once the counter has come to its end, since no number may
    /// seal twice. `payload` begins with the frame's kind. Frames of the channel itself are
    /// encrypted whatever the two agreed on.
    mutating func seal(_ payload: some Collection<UInt8>, priority: Priority) -> [UInt8]? {
        let slot = Int(priority.rawValue)
        guard counters[slot] <= SealedHeader.counterMax else { return nil }
        let isChannelFrame = payload.first.flatMap(FrameKind.init)?.scope == .channel
        let header = SealedHeader(
            priority: priority, isPlaintext: !isEncrypted && !isChannelFrame, index: remoteIndex,
            counter: counters[slot])
        counters[slot] += 1
        busiest = max(busiest, counters[slot])
        var writer = ByteWriter(reserving: payload.count + Self.overheadByteCount)
        header.emit(into: &writer)
        writer.write(contentsOf: payload)
        var frame = writer.take()
        outgoing.seal(
            &frame, headerByteCount: SealedHeader.byteCount, sequence: header.sequence,
            encrypted: !header.isPlaintext)
        return frame
    }

    /// The payload of an authentic, fresh frame.
    mutating func open(_ datagram: [UInt8], _ header: SealedHeader) -> Result<
        ArraySlice<UInt8>, Refusal
    > {
        let slot = Int(header.priority.rawValue)
        guard forgedCount < Limits.forgedFramesMax else {
            return .failure(.init(reason: .sealExhausted))
        }
        guard windows[slot].isFresh(header.counter) else {
            return .failure(.init(reason: .frameReplayed))
        }
        guard !header.isPlaintext || !isEncrypted else {
            return .failure(.init(reason: .frameForged))
        }
        var frame = datagram
        let isAuthentic = incoming.open(
            &frame, headerByteCount: SealedHeader.byteCount, sequence: header.sequence,
            encrypted: !header.isPlaintext)
        guard isAuthentic else {
            forgedCount += 1
            return .failure(.init(reason: .frameForged))
        }
        windows[slot].record(header.counter)
        busiest = max(busiest, header.counter)
        return .success(frame[SealedHeader.byteCount...])
    }

    /// Whether it is time for new keys: so many frames of one priority were sealed by either side,
    /// or half of the forgeries that may be were tried.
    func isWorn(after frames: UInt64) -> Bool {
        busiest >= frames || forgedCount >= Limits.forgedFramesMax / 2
    }

    struct Refusal: Error { let reason: DropReason }
}

extension Limits {
    /// Frames of one priority, in one direction, after which a channel gets new keys. With
    /// ChaCha20-Poly1305 only the counter sets a limit (RFC 9001 §6.6, RFC 8446 §5.5): ours has 40
    /// bits. At 10,000 frames a second this is five days, so that time comes first.
    public static let rekeyFrames: UInt64 = 1 << 32
    /// Forged frames that one key may meet (RFC 9001 §6.6: the integrity limit); beyond, nothing
    /// is opened with it.
    static let forgedFramesMax: UInt64 = 1 << 36
}
