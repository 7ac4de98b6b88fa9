import Foundation
import Nearby

/// A byte stream from a peer. `read` waits until something is there; a stream that is not read
/// slows its writer.
final class PeerInputStream: InputStream {
    private let source: any ByteSource
    private let events = StreamEvents()
    private let arrivals = DispatchQueue(label: "MCSession.InputStream")
    private let condition = NSCondition()
    // Under the condition's lock.
    private var status = Status.notOpen
    private var unread: ArraySlice<UInt8> = []
    private var failure: MCError?
    /// What the delegate was told: each once, and bytes again after a read.
    private var told: Event = []

    init(_ source: any ByteSource) {
        self.source = source
        super.init(data: Data())
    }

    deinit {
        source.onBytes = nil
        events.removeAll()
    }

    override func open() {
        locked { if status == .notOpen { status = .open } }
        // From another thread than the one that calls: it may hold what `readNow` needs.
        source.onBytes = { [arrivals, me = Loose(self)] in
            arrivals.async { me.object?.somethingArrived() }
        }
        events.wake()
    }

    override func close() {
        let wasClosed = locked {
            defer { status = .closed }
            unread = []
            condition.broadcast()
            return status == .closed
        }
        events.removeAll()
        source.onBytes = nil
        if !wasClosed { source.reset() }
    }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
        let count = locked {
            while status == .open, len > 0 {
                fill()
                if !unread.isEmpty { return take(into: buffer, at: len) }
                if status == .open { condition.wait() }
            }
            return status == .open || status == .atEnd ? 0 : -1
        }
        events.wake()
        return count
    }

    override var hasBytesAvailable: Bool {
        locked {
            fill()
            return !unread.isEmpty
        }
    }

    override var streamStatus: Status { locked { status } }

    override var streamError: (any Error)? { locked { failure } }

    override func property(forKey key: PropertyKey) -> AnyObject? { nil }

    override func setProperty(_ property: AnyObject?, forKey key: PropertyKey) -> Bool { false }

    /// One that is set later is told what there is.
    override weak var delegate: (any StreamDelegate)? {
        didSet {
            locked { _ = told.remove(.hasBytesAvailable) }
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

    private func somethingArrived() {
        locked { condition.broadcast() }
        events.wake()
    }

    /// Takes the next piece once the last one is read: the rest stays where its writer feels it.
    private func fill() {
        guard status == .open, unread.isEmpty else { return }
        do {
            guard let bytes = try source.readNow(upTo: 65_536) else {
                status = .atEnd
                return
            }
            unread = bytes[...]
        } catch {
            failure = MCError(error)
            status = .error
        }
    }

    private func take(into buffer: UnsafeMutablePointer<UInt8>, at most: Int) -> Int {
        let piece = unread.prefix(most)
        piece.withUnsafeBufferPointer { bytes in
            if let base = bytes.baseAddress { buffer.update(from: base, count: bytes.count) }
        }
        unread = unread.dropFirst(piece.count)
        told.remove(.hasBytesAvailable)
        return piece.count
    }

    private func nextEvent() -> Event? {
        locked {
            guard delegate != nil, status != .notOpen, status != .closed else { return nil }
            if told.insert(.openCompleted).inserted { return .openCompleted }
            fill()
            if !unread.isEmpty {
                return told.insert(.hasBytesAvailable).inserted ? .hasBytesAvailable : nil
            }
            switch status {
            case .atEnd: return told.insert(.endEncountered).inserted ? .endEncountered : nil
            case .error: return told.insert(.errorOccurred).inserted ? .errorOccurred : nil
            default: return nil
            }
        }
    }
}
