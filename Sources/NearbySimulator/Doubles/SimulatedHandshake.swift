import NearbyCore
import NearbyEngine

/// One record of the simulated handshake: a real handshake's first byte and size.
struct SimulatedRecord {
    enum Step: UInt8 {
        case hello = 1
        case cookie
        case helloWithCookie
        case serverFlight
        case clientFlight
        case finished
    }

    var step: Step
    var random: UInt64
    var peer: PeerID
    var cookie: UInt64 = 0
    /// What the sender's certificates say, if they lead to the anchor that all of these share.
    var certification: Certification?

    init(
        _ step: Step, random: UInt64, peer: PeerID, cookie: UInt64 = 0,
        certification: Certification? = nil
    ) {
        self.certification = certification
        self.step = step
        self.random = random
        self.peer = peer
        self.cookie = cookie
    }

    init?(parsing bytes: ArraySlice<UInt8>) {
        guard bytes.count > 16 else { return nil }
        let body = bytes.dropLast(8)
        guard Array(bytes.suffix(8)) == Self.checksum(body) else { return nil }
        var reader = ByteReader(body)
        guard let type = try? reader.readUInt8(), type == 22,
            let step = try? reader.readUInt8(), let known = Step(rawValue: step),
            let random = try? reader.readUInt64(), let peer = try? reader.readPeerID(),
            let cookie = try? reader.readUInt64()
        else { return nil }
        self.init(known, random: random, peer: peer, cookie: cookie)
        certification = Certification(parsing: &reader)
    }

    var bytes: [UInt8] {
        var writer = ByteWriter(reserving: size)
        writer.write(22 as UInt8)
        writer.write(step.rawValue)
        writer.write(random)
        writer.write(peer)
        writer.write(cookie)
        certification?.emit(into: &writer)
        writer.write(contentsOf: [UInt8](repeating: 0, count: max(0, size - writer.count - 8)))
        writer.write(contentsOf: Self.checksum(writer.bytes[...]))
        return writer.bytes
    }

    /// What OpenSSL's flights weigh (measured, bytes), with a certificate of an authority some 200
    /// more.
    private var size: Int {
        let more = certification == nil ? 0 : 200
        return switch step {
        case .hello: 107
        case .cookie: 60
        case .helloWithCookie: 127
        case .serverFlight: 560 + more
        case .clientFlight: 520 + more
        case .finished: 75
        }
    }

    private static func checksum(_ body: ArraySlice<UInt8>) -> [UInt8] {
        var hash = SimulatedHash()
        hash.add(body)
        return hash.bytes(8)
    }
}

extension Certification {
    /// Nil for a sender without certificates.
    fileprivate init?(parsing reader: inout ByteReader) {
        guard (try? reader.readUInt8()) == 1, let bits = try? reader.readUInt8(),
            let begin = try? reader.readUInt64(), let end = try? reader.readUInt64()
        else { return nil }
        self.init(notBefore: Int64(bitPattern: begin), notAfter: Int64(bitPattern: end))
        for role in Role.allCases where bits & 1 << role.rawValue != 0 { add(role) }
    }

    fileprivate func emit(into writer: inout ByteWriter) {
        writer.write(1 as UInt8)
        let roles = Role.allCases.filter(names)
        writer.write(roles.reduce(0 as UInt8) { $0 | 1 << $1.rawValue })
        writer.write(UInt64(bitPattern: notBefore))
        writer.write(UInt64(bitPattern: notAfter))
    }
}

/// Client hello, cookie, hello again, server's flight, client's flight, finished: with
/// retransmission.
final class SimulatedHandshake: SecureChannel {
    private let isClient: Bool
    private let own: PeerID
    private let certification: Certification?
    private let random: UInt64
    private var remote: SimulatedRecord?
    private var flight: SimulatedRecord
    private var outgoing: [[UInt8]] = []
    private var interval = Duration.milliseconds(100)
    private var retransmissions = 0
    private(set) var nextDeadline: Instant?
    private(set) var state = HandshakeState.running
    private var drops = DropCounters()

    init(client: PeerID, certification: Certification?, random: UInt64, now: Instant) {
        isClient = true
        self.certification = certification
        own = client
        self.random = random
        flight = SimulatedRecord(.hello, random: random, peer: client)
        send(flight, now)
    }

    init(
        server: PeerID, certification: Certification?, random: UInt64, hello: SimulatedRecord,
        now: Instant
    ) {
        isClient = false
        own = server
        self.certification = certification
        self.random = random
        remote = hello
        flight = SimulatedRecord(
            .serverFlight, random: random, peer: server, certification: certification)
        send(flight, now)
    }

    func receive(_ datagram: ArraySlice<UInt8>, now: Instant) {
        guard let record = SimulatedRecord(parsing: datagram) else {
            drops.count(.handshakeRecordFiltered)
            return
        }
        switch (isClient, flight.step, record.step) {
        case (true, .hello, .cookie):
            send(
                SimulatedRecord(.helloWithCookie, random: random, peer: own, cookie: record.random),
                now)
        case (true, .helloWithCookie, .serverFlight):
            remote = record
            send(
                SimulatedRecord(
                    .clientFlight, random: random, peer: own, certification: certification), now)
        case (true, .clientFlight, .finished) where state == .running:
            finish()
        case (false, .serverFlight, .clientFlight) where record.random == remote?.random:
            remote = record
            send(SimulatedRecord(.finished, random: random, peer: own), now)
            finish()
        case (false, .finished, .clientFlight) where record.random == remote?.random:
            outgoing.append(flight.bytes)
        case (false, .serverFlight, .helloWithCookie) where record.random == remote?.random:
            outgoing.append(flight.bytes)
        default:
            break
        }
    }

    func deadlineReached(now: Instant) {
        guard state == .running, let deadline = nextDeadline, now >= deadline else { return }
        retransmissions += 1
        guard retransmissions < 13 else {
            state = .failed(.handshakeTimeout, "no answer")
            nextDeadline = nil
            return
        }
        interval = min(interval * 2, .seconds(4))
        nextDeadline = now + interval
        outgoing.append(flight.bytes)
    }

    func takeOutgoing() -> [[UInt8]] {
        defer { outgoing = [] }
        return outgoing
    }

    func takeDrops() -> DropCounters {
        defer { drops = DropCounters() }
        return drops
    }

    private func send(_ record: SimulatedRecord, _ now: Instant) {
        flight = record
        outgoing.append(record.bytes)
        interval = .milliseconds(100)
        nextDeadline = now + interval
    }

    private func finish() {
        guard let remote else { return }
        var hash = SimulatedHash()
        hash.add(isClient ? random : remote.random)
        hash.add(isClient ? remote.random : random)
        nextDeadline = nil
        state = .finished(
            HandshakeResult(
                peer: remote.peer, exporter: hash.bytes(HandshakeResult.exporterByteCount),
                certification: remote.certification))
    }
}
