import NearbyCore

/// What goes wrong in a run. A seed switches whole classes off (swarm testing): a bug that one
/// fault hides shows where that fault is absent.
public struct Faults: Sendable {
    /// Of a hundred datagrams.
    public var lossPercent = 0
    public var duplicationPercent = 0
    /// One bit flipped.
    public var corruptionPercent = 0
    public var delay = Duration.microseconds(200)..<Duration.microseconds(400)
    /// Nodes that stop at once and come back with nothing but their key.
    public var crashes = 0
    /// LANs that fall silent for some seconds.
    public var partitions = 0
    /// Pairs where one side does not hear the other for some seconds.
    public var oneWayPartitions = 0
    /// Parts in a million by which a node's clock may be fast or slow.
    public var clockDriftPPM: Int64 = 0

    /// A datagram to a host whose process is down comes back, as an operating system returns it;
    /// one in fifty of the others seems to.
    public var returnsDatagrams = false

    public init() {}

    /// Some of everything; each class present in half of the seeds.
    public static func swarm(_ generator: inout SeededGenerator) -> Faults {
        var faults = Faults()
        func chance() -> Bool { generator.next() & 1 == 0 }
        if chance() { faults.lossPercent = Int.random(in: 1...25, using: &generator) }
        if chance() { faults.duplicationPercent = Int.random(in: 1...10, using: &generator) }
        if chance() { faults.corruptionPercent = Int.random(in: 1...3, using: &generator) }
        if chance() { faults.delay = .microseconds(100)..<Duration.milliseconds(20) }
        if chance() { faults.crashes = Int.random(in: 1...4, using: &generator) }
        if chance() { faults.partitions = Int.random(in: 1...2, using: &generator) }
        if chance() { faults.oneWayPartitions = Int.random(in: 1...2, using: &generator) }
        if chance() { faults.clockDriftPPM = 200 }
        return faults
    }
}
