import NearbyCore
import NearbyEngine
import NearbyLinux
import NearbyWire

/// The data sockets of a node, on the loop: what comes in is told, what matters most first.
final class DataSockets {
    let transport: UDPTransport
    /// With every batch of inputs, and when it is due.
    var onInputs: (([Node.Input], Instant) -> Void)?
    /// A fresh message came, perhaps to be passed on.
    var onMessage: ((Instant) -> Void)?
    /// Some bulk was opened, and others may have their turn; says whether messages pass.
    var onBulk: ((Instant) -> Bool)?
    private(set) var drops = DropCounters()
    private let loop: EventLoop
    private var bulk = BulkQueue()
    /// Due while bulk waits: sockets are looked at before each quantum of it.
    private var bulkTimer: EventLoop.TimerID?

    init(_ loop: EventLoop) throws(TransportError) {
        self.loop = loop
        transport = try UDPTransport()
    }

    func start() throws(SystemError) {
        bulkTimer = loop.addTimer { [unowned self] now in openBulk(now) }
        for descriptor in transport.descriptors {
            try loop.register(descriptor) { [unowned self] readiness in
                receive(from: descriptor, readiness)
            }
        }
    }

    func stop() {
        (onInputs, onMessage, onBulk) = (nil, nil, nil)
        for descriptor in transport.descriptors { loop.unregister(descriptor) }
        if let bulkTimer { loop.removeTimer(bulkTimer) }
        bulkTimer = nil
        bulk.removeAll()
    }

    /// A message does not wait for what came of a resource before it.
    private func receive(from descriptor: Int32, _ readiness: EventLoop.Readiness) {
        var inputs: [Node.Input] = []
        var hasMessage = false
        transport.receive(
            from: descriptor, readiness: readiness,
            { datagram in
                let priority = SealedHeader.priority(of: datagram.bytes)
                if priority != .bulk {
                    inputs.append(Node.Input(datagram))
                    hasMessage = hasMessage || priority == .fresh
                } else if !bulk.add(Node.Input(datagram)) {
                    drops.count(.bulkQueueFull)
                }
            }, returned: { inputs.append(.returned($0.quote, of: $0.endpoint)) })
        let now = MonotonicClock.now()
        if hasMessage {
            bulk.isShared = true
            onMessage?(now)
        }
        if !inputs.isEmpty { onInputs?(inputs, now) }
        scheduleBulk()
    }

    private func openBulk(_ now: Instant) {
        onInputs?(bulk.takeQuantum(), now)
        bulk.isShared = onBulk?(now) ?? false
        scheduleBulk()
    }

    private func scheduleBulk() {
        if let bulkTimer, !bulk.isEmpty { loop.set(bulkTimer, to: .zero) }
    }
}

extension Node.Input {
    init(_ datagram: ReceivedDatagram) {
        self = .datagram(
            datagram.bytes, from: datagram.source, isMulticast: datagram.isMulticast)
    }
}
