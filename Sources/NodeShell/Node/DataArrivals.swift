import NearbyCore
import NearbyEngine
import NearbyLinux

/// What comes in by the data sockets, on its way to the node: at once while the node keeps up. When
/// more comes, the sockets are emptied into an `ArrivalQueue`, of which the node opens a few at a
/// time.
final class DataArrivals {
    private let transport: UDPTransport
    private var queue = ArrivalQueue()
    /// The sockets hold more than one pass takes, or the queue something.
    private var isBehind = false
    /// Due while something is queued, whether more comes or not.
    private var turn: EventLoop.TimerID?

    init(_ transport: UDPTransport) { self.transport = transport }

    var drops: DropCounters { queue.drops }

    func open(for runner: NodeRunner) throws(SystemError) {
        turn = runner.loop.addTimer { [unowned self, unowned runner] now in
            openQueued(now, for: runner)
        }
        for descriptor in transport.descriptors {
            try runner.loop.register(descriptor) { [unowned self, unowned runner] readiness in
                if isBehind {
                    enqueue(from: descriptor, readiness, for: runner)
                } else {
                    receive(from: descriptor, readiness, for: runner)
                }
            }
        }
    }

    private func receive(
        from descriptor: Int32, _ readiness: EventLoop.Readiness, for runner: NodeRunner
    ) {
        let now = MonotonicClock.now()
        var inputs: [Node.Input] = []
        isBehind = transport.receive(
            from: descriptor, readiness: readiness, { inputs.append(.init($0)) },
            returned: { inputs.append(.returned($0.quote, of: $0.endpoint)) })
        runner.owner?.handle(inputs, now: now)
    }

    private func enqueue(
        from descriptor: Int32, _ readiness: EventLoop.Readiness, for runner: NodeRunner
    ) {
        let node = runner.node
        var returned: [Node.Input] = []
        var rank = ArrivalRank.stranger
        // In a flood most come on the same channel.
        var last: (index: UInt32, isOpen: Bool)?
        transport.receive(
            from: descriptor, readiness: readiness, atMost: Limits.arrivalsTakenMax,
            wanted: { payload in
                rank = ArrivalRank(payload) { index in
                    if let last, last.index == index { return last.isOpen }
                    last = (index, node.hasOpenChannel(index))
                    return last?.isOpen ?? false
                }
                return queue.makesRoom(for: rank, byteCount: payload.count)
            },
            { queue.append(.init($0), byteCount: $0.bytes.count, rank) },
            returned: { returned.append(.returned($0.quote, of: $0.endpoint)) })
        let now = MonotonicClock.now()
        if !returned.isEmpty { runner.owner?.handle(returned, now: now) }
        openQueued(now, for: runner)
    }

    private func openQueued(_ now: Instant, for runner: NodeRunner) {
        var inputs: [Node.Input] = []
        while inputs.count < Limits.arrivalsPerTurn, let input = queue.popFirst() {
            inputs.append(input)
        }
        if !inputs.isEmpty { runner.owner?.handle(inputs, now: now) }
        isBehind = !queue.isEmpty
        if let turn { runner.loop.set(turn, to: isBehind ? now : nil) }
    }
}

extension ArrivalRank {
    fileprivate init(_ datagram: UnsafeRawBufferPointer, isOpen: (UInt32) -> Bool) {
        guard datagram.count >= 5 else {
            self = .stranger
            return
        }
        let index = UInt32(bigEndian: datagram.loadUnaligned(fromByteOffset: 1, as: UInt32.self))
        self.init(firstByte: datagram[0], index: index, isOpen: isOpen)
    }
}
