import NearbyCore
import NearbyEngine
import NearbyLinux

/// What comes in by the data sockets, on its way to the node: at once while the node keeps up. When
/// more comes, the sockets are emptied into an `ArrivalQueue`, of which the node opens a few at a
/// time.
final class DataArrivals {
    private let transport: UDPTransport
    private var queue = ArrivalQueue()
    /// The sockets that held more than was taken the last time.
    private var fullSockets: Set<Int32> = []
    private let loop: EventLoop
    /// Due while something is queued, whether more comes or not.
    private var turn: EventLoop.TimerID?
    /// Whether a sealed frame's index is of a peer that was let in.
    private let isAdmitted: (UInt32) -> Bool
    private let handle: ([Node.Input], Instant) -> Void

    init(
        _ transport: UDPTransport, _ loop: EventLoop, isAdmitted: @escaping (UInt32) -> Bool,
        handle: @escaping ([Node.Input], Instant) -> Void
    ) {
        self.transport = transport
        self.loop = loop
        self.isAdmitted = isAdmitted
        self.handle = handle
    }

    var drops: DropCounters { queue.drops }

    private var isBehind: Bool { !queue.isEmpty || !fullSockets.isEmpty }

    func open() throws(SystemError) {
        turn = loop.addTimer { [unowned self] now in openQueued(0, now) }
        for descriptor in transport.descriptors {
            try loop.register(descriptor) { [unowned self] readiness in
                if isBehind {
                    enqueue(from: descriptor, readiness)
                } else {
                    receive(from: descriptor, readiness)
                }
            }
        }
    }

    private func receive(from descriptor: Int32, _ readiness: EventLoop.Readiness) {
        let now = MonotonicClock.now()
        var inputs: [Node.Input] = []
        let isFull = transport.receive(
            from: descriptor, readiness: readiness, { inputs.append(.init($0)) },
            returned: { inputs.append(.returned($0.quote, of: $0.endpoint)) })
        if isFull { fullSockets.insert(descriptor) }
        handle(inputs, now)
    }

    private func enqueue(from descriptor: Int32, _ readiness: EventLoop.Readiness) {
        var returned: [Node.Input] = []
        var rank = ArrivalRank.stranger
        // In a flood most come on the same channel.
        var last: (index: UInt32, isAdmitted: Bool)?
        var taken = 0
        let isFull = transport.receive(
            from: descriptor, readiness: readiness, atMost: Limits.arrivalsTakenMax,
            wanted: { payload in
                taken += 1
                rank = ArrivalRank(payload) { index in
                    if let last, last.index == index { return last.isAdmitted }
                    last = (index, isAdmitted(index))
                    return last?.isAdmitted ?? false
                }
                return queue.makesRoom(for: rank, byteCount: payload.count)
            },
            { queue.append(.init($0), byteCount: $0.bytes.count, rank) },
            returned: { returned.append(.returned($0.quote, of: $0.endpoint)) })
        if isFull { fullSockets.insert(descriptor) } else { fullSockets.remove(descriptor) }
        let now = MonotonicClock.now()
        if !returned.isEmpty { handle(returned, now) }
        openQueued(taken / Limits.arrivalsTakenPerOpened, now)
    }

    private func openQueued(_ count: Int, _ now: Instant) {
        var inputs: [Node.Input] = []
        while inputs.count < max(count, Limits.arrivalsPerTurn), let input = queue.popFirst() {
            inputs.append(input)
        }
        if !inputs.isEmpty { handle(inputs, now) }
        if let turn { loop.set(turn, to: queue.isEmpty ? nil : now) }
    }
}

extension ArrivalRank {
    fileprivate init(_ datagram: UnsafeRawBufferPointer, isAdmitted: (UInt32) -> Bool) {
        guard datagram.count >= 5 else {
            self = .stranger
            return
        }
        let index = UInt32(bigEndian: datagram.loadUnaligned(fromByteOffset: 1, as: UInt32.self))
        self.init(firstByte: datagram[0], index: index, isAdmitted: isAdmitted)
    }
}
