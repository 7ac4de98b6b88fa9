import Foundation
import Nearby

/// A byte stream to a peer. What is written waits here until there is room on the way, so that a
/// program that writes once, looks at no count and closes gets all of it across.
///
/// `write` takes what the queue has room for, and waits only while it is full. What was written
/// before `close` still arrives.
final class PeerOutputStream: OutputStream {
    /// What may wait here.
    static let queuedBytesMax = 1 << 20

    private let sink: any ByteSink
    private let events = StreamEvents()
    /// Where the queue is emptied: never on the thread that tells of room, which may hold what
    /// `writeNow` needs.
    private let pump = DispatchQueue(label: "MCSession.OutputStream")
    private let condition = NSCondition()
    // Under the condition's lock.
    private var status = Status.notOpen
    private var queue: ArraySlice<UInt8> = []
    private var failure: MCError?
    /// What the delegate was told: each once, and room again after a write.
    private var told: Event = []

    init(_ sink: any ByteSink) {
        self.sink = sink
        super.init(toMemory: ())
    }

    /// `OutputStream` asks for it; a stream to a peer comes from `MCSession.startStream`.
    required init(toMemory: ()) {
        endProgram("A stream to a peer comes from MCSession.startStream(withName:toPeer:).")
    }

    deinit { events.removeAll() }

    override func open() {
        locked { if status == .notOpen { status = .open } }
        sink.onRoom = { [pump, me = Loose(self)] in
            pump.async { me.object?.drain() }
        }
        events.wake()
    }

    override func close() {
        let wasClosed = locked {
            defer { status = .closed }
            condition.broadcast()
            return status == .closed
        }
        events.removeAll()
        guard !wasClosed else { return }
        // Holds the stream until its queue is empty or has nowhere to go.
        sink.onRoom = { [pump, me = Handed(value: self)] in
            pump.async { me.value.drain() }
        }
        pump.async { [me = Handed(value: self)] in me.value.drain() }
    }

    override func write(_ buffer: UnsafePointer<UInt8>, maxLength len: Int) -> Int {
        let count = locked {
            while status == .open, room == 0 { condition.wait() }
            guard status == .open else { return -1 }
            let taken = UnsafeBufferPointer(start: buffer, count: min(len, room))
            queue.append(contentsOf: taken)
            told.remove(.hasSpaceAvailable)
            return taken.count
        }
        if count > 0 { pump.async { [me = Handed(value: self)] in me.value.drain() } }
        events.wake()
        return count
    }

    override var hasSpaceAvailable: Bool { locked { status == .open && room > 0 } }

    override var streamStatus: Status { locked { status } }

    override var streamError: (any Error)? { locked { failure } }

    override func property(forKey key: PropertyKey) -> AnyObject? { nil }

    override func setProperty(_ property: AnyObject?, forKey key: PropertyKey) -> Bool { false }

    /// One that is set later is told what there is.
    override weak var delegate: (any StreamDelegate)? {
        didSet {
            locked { _ = told.remove(.hasSpaceAvailable) }
            events.wake()
        }
    }

    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        // Held by the loop until it is closed or removed, as Apple's streams are.
        events.schedule(in: aRunLoop, forMode: mode) { [me = Handed(value: self)] in
            me.value.tellEvents(me.value.events, next: me.value.nextEvent)
        }
    }

    override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        events.remove(from: aRunLoop, forMode: mode)
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        condition.lock()
        defer { condition.unlock() }
        return body()
    }

    private var room: Int { Self.queuedBytesMax - queue.count }

    /// On the pump: hands over what there is room for.
    private func drain() {
        locked {
            // Nothing to hand over: an empty piece tells whether the stream is over.
            if queue.isEmpty, status == .open { _ = handOver() }
            while !queue.isEmpty, failure == nil {
                guard handOver() else { break }
            }
            if queue.isEmpty { queue = [] }
            condition.broadcast()
        }
        if locked({ status == .closed && (queue.isEmpty || failure != nil) }) {
            sink.onRoom = nil
            sink.finish()
        }
        events.wake()
    }

    /// False when there is no room now; what fails is the stream's end.
    private func handOver() -> Bool {
        do {
            let count = try sink.writeNow(queue)
            queue = queue.dropFirst(count)
            return count > 0
        } catch {
            failure = MCError(error)
            if status == .open { status = .error }
            return false
        }
    }

    private func nextEvent() -> Event? {
        locked {
            guard delegate != nil, status != .notOpen, status != .closed else { return nil }
            if told.insert(.openCompleted).inserted { return .openCompleted }
            if status == .error {
                return told.insert(.errorOccurred).inserted ? .errorOccurred : nil
            }
            guard room > 0 else { return nil }
            return told.insert(.hasSpaceAvailable).inserted ? .hasSpaceAvailable : nil
        }
    }
}
