import NearbyCore
import NearbyEngine
import NearbyWire

/// A machine of the simulation: it keeps its key over crashes and nothing else.
public final class Host {
    public let number: Int
    public let role: Role
    public let peer: PeerID
    let lans: [Int]
    public internal(set) var node: Node?
    public internal(set) var collector: PeerID?
    public internal(set) var viewers: [PeerID] = []
    /// How often it booted.
    public private(set) var generation = 0
    /// Of the latest boot.
    public private(set) var run = RunID(value: 0)
    public private(set) var messagesSent: UInt64 = 0
    var wakeUp: Instant?
    private var random: SeededGenerator
    private let driftPPM: Int64
    private let rekeyAfter: Duration
    private let rekeyFrames: UInt64
    /// Alters what the node says; set before it boots.
    public internal(set) var liar: Liar?
    /// What is configured as `collectors`; set before it boots.
    public var collectors: Set<PeerID> = []

    init(
        number: Int, role: Role, lans: [Int], seed: UInt64, driftPPM: Int64, rekeyAfter: Duration,
        rekeyFrames: UInt64
    ) {
        self.number = number
        self.role = role
        self.lans = lans
        self.driftPPM = driftPPM
        self.rekeyAfter = rekeyAfter
        self.rekeyFrames = rekeyFrames
        random = SeededGenerator(seed: seed)
        peer = PeerID(high: random.next(), low: random.next())
    }

    public var isUp: Bool { node != nil }

    public var isLiar: Bool { liar != nil }

    public static func link(_ lan: Int) -> LinkID { LinkID(value: UInt32(lan) + 1) }

    static func lan(_ link: LinkID) -> Int { Int(link.value) - 1 }

    func boot() {
        generation += 1
        messagesSent = 0
        run = RunID(value: random.next())
        var configuration = NodeConfiguration(
            name: "host\(number)", role: role, networkTag: NetworkTag(value: 0x5eed),
            run: run, seed: random.next())
        configuration.secrets = [[UInt8](repeating: 0x42, count: 16)]
        configuration.dataPort = 1
        configuration.rekeyAfter = rekeyAfter
        configuration.rekeyFrames = rekeyFrames
        configuration.collectors = collectors
        node = Node(
            configuration,
            cryptography: SimulatedCryptography(peer: peer, seed: random.next(), liar: liar))
    }

    func crash() {
        node = nil
        collector = nil
        viewers = []
        wakeUp = nil
    }

    /// What the host's own clock shows: fast or slow, and hours apart from the others'.
    public func localTime(_ time: Instant) -> Instant {
        Instant(nanoseconds: offset + time.nanoseconds + time.nanoseconds / 1_000_000 * driftPPM)
    }

    /// When the host's clock shows `local`; never early.
    func globalTime(_ local: Instant) -> Instant {
        let shown = local.nanoseconds.subtractingSaturating(offset)
        guard shown < .max / 2 else { return .distantFuture }
        return Instant(nanoseconds: shown - shown / 1_000_000 * driftPPM + abs(driftPPM) + 1)
    }

    private var offset: Int64 { Int64(number) * 3_600_000_000_000 }

    /// Sender, generation and number: what the receiver checks.
    func nextMessage() -> [UInt8] {
        messagesSent += 1
        var writer = ByteWriter()
        writer.write(UInt32(number))
        writer.write(UInt32(generation))
        writer.write(messagesSent)
        return writer.bytes
    }
}
