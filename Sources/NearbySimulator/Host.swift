import NearbyCore
import NearbyEngine
import NearbyWire

/// What a host is told.
package enum HostInput {
    /// The process has just started, and its links are up.
    case boot
    case network(Node.Input)
    case deadline
    case event(HostEvent)
}

package enum HostEvent {
    /// Sensors are ready.
    case sensors
    /// The disk or the store has done what it was told.
    case disk
}

package enum HostEffect {
    case node(Node.Output)
    case later(HostEvent, after: Duration)
}

/// What is composed around a host's node, with what outlasts crashes.
package protocol HostSide: AnyObject {
    var node: Node? { get }
    var routesVersion: UInt64 { get }
    var nextDeadline: Instant? { get }
    func start(_ node: Node)
    func handle(_ input: HostInput, now: Instant) -> [HostEffect]
    func crash(now: Instant)
}

/// A member that lies: what its node says is altered before it is sealed.
package protocol LyingForger: FrameForger {
    /// Whether its seqnos leap at present: then packets may circle until their hop limit.
    var leaps: Bool { get }
}

/// A machine of the simulation: it keeps its key over crashes, and its side what is on disk.
public final class Host {
    public let number: Int
    public let role: Role
    public let peer: PeerID
    public let lans: [Int]
    /// Of a host without a side.
    private var bare: Node?
    /// Where there are readings: the node is in there.
    package var side: (any HostSide)?
    public internal(set) var collector: PeerID?
    public internal(set) var viewers: [PeerID] = []
    /// What its program was told of echoes, by their tokens.
    public internal(set) var echoes: [UInt64: Echo] = [:]

    public struct Echo {
        public var answer: EchoAnswer
        public var node: ShortID
        public var hops: Int
        public var time: Duration
    }

    /// How often it booted.
    public private(set) var generation = 0
    /// Of the latest boot.
    public private(set) var run = RunID(value: 0)
    public private(set) var messagesSent: UInt64 = 0
    private(set) var messagesSentInAll: UInt64 = 0
    var wakeUp: Instant?
    private var random: SeededGenerator
    private let driftPPM: Int64
    private let rekeyAfter: Duration
    private let rekeyFrames: UInt64
    /// Alters what the node says; set before it boots.
    package var liar: (any LyingForger)?
    /// The same, of its clock.
    package var clockLiar: (any FrameForger)?
    /// What is configured as `collectors`; set before it boots.
    public var collectors: Set<PeerID> = []
    /// Of a node for applications; set before it boots.
    public var application: ApplicationTerms?
    /// What only programs with sessions are told, since the latest boot.
    public internal(set) var told: [ApplicationEvent] = []

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
        peer = PeerID(high: random.next(), low: random.next() & ~Self.numbers | UInt64(number))
    }

    /// Where a PeerID has its host's number, so that none has to be looked up.
    private static let numbers: UInt64 = 0xffff

    static func number(in peer: PeerID) -> Int { Int(peer.low & numbers) }

    public private(set) var isUp = false

    public var node: Node? { side?.node ?? bare }

    var routesVersion: UInt64 { side?.routesVersion ?? bare?.routesVersion ?? 0 }

    var nextDeadline: Instant? { side?.nextDeadline ?? bare?.nextDeadline }

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
        configuration.application = application
        told = []
        let node = Node(
            configuration,
            cryptography: SimulatedCryptography(
                peer: peer, seed: random.next(), forger: liar ?? clockLiar))
        isUp = true
        if let side { side.start(node) } else { bare = node }
    }

    func handle(_ input: HostInput, now: Instant) -> [HostEffect] {
        if let side { return side.handle(input, now: now) }
        switch input {
        case .network(let input): bare?.handle(input, now: now)
        case .deadline: bare?.handle(.deadlineReached, now: now)
        case .boot, .event: return []
        }
        return (bare?.flush(now: now) ?? []).map(HostEffect.node)
    }

    func crash(now: Instant) {
        if isUp { side?.crash(now: now) }
        isUp = false
        bare = nil
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

    /// Sender, generation and number: what the receiver checks; and when it was sent.
    func nextMessage(at now: Instant) -> [UInt8] {
        messagesSent += 1
        messagesSentInAll += 1
        var writer = ByteWriter()
        writer.write(UInt32(number))
        writer.write(UInt32(generation))
        writer.write(messagesSent)
        writer.write(UInt64(bitPattern: now.nanoseconds))
        return writer.bytes
    }
}
