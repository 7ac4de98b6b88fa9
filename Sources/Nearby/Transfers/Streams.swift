import NearbyCore

/// Bytes for one member, in order: the writing end of a stream. Let go without `finish` it is
/// reset.
public final class OutgoingStream: Sendable {
    private let pipe: OutgoingPipe

    init(_ pipe: OutgoingPipe) { self.pipe = pipe }

    /// Writes all of it, waiting for room.
    ///
    /// - Throws: `.notConnected` or `.unavailable` where the stream is over; `.cancelled`, with
    ///   some of it written.
    public func write(_ bytes: [UInt8]) async throws(NearbyError) {
        var rest = bytes[...]
        while true {
            rest = rest.dropFirst(try writeNow(rest))
            if rest.isEmpty { return }
            try await pipe.waitForRoom()
        }
    }

    /// - Returns: how many were taken; 0: there is no room.
    public func writeNow(_ bytes: ArraySlice<UInt8>) throws(NearbyError) -> Int {
        let count = try pipe.write(bytes)
        if count > 0 { post() }
        return count
    }

    /// Called on the background thread when there is room again, or the stream is over.
    public var onRoom: (@Sendable () -> Void)? {
        get { pipe.onRoom }
        set { pipe.onRoom = newValue }
    }

    /// What was written still arrives, then the end.
    public func finish() {
        pipe.finish()
        post()
    }

    /// What is on its way is thrown away.
    public func reset() {
        pipe.reset()
        post()
    }

    private func post() {
        if pipe.becomesPosted() { Background.shared.postIfRunning(.write(pipe)) }
    }

    deinit { if pipe.isOpen { reset() } }
}

/// The reading end of a stream that a member opened. Reading makes room for the writer; let go
/// before its end it is reset.
public final class IncomingStream: Sendable, AsyncSequence {
    public typealias Element = [UInt8]

    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let stream: IncomingStream

        /// What there is, at least a byte; nil at the end. Throws a `NearbyError` where the stream
        /// is over before its end.
        public mutating func next() async throws -> [UInt8]? {
            while true {
                guard let bytes = try stream.readNow(upTo: .max) else { return nil }
                if !bytes.isEmpty { return bytes }
                try await stream.pipe.waitForBytes()
            }
        }
    }

    private let pipe: IncomingPipe

    init(_ pipe: IncomingPipe) { self.pipe = pipe }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stream: self) }

    /// - Returns: at most so many bytes; empty: there are none now; nil: it has ended.
    /// - Throws: `.notConnected` or `.unavailable` where it is over before its end.
    public func readNow(upTo count: Int) throws(NearbyError) -> [UInt8]? {
        let bytes = try pipe.read(upTo: count)
        if bytes?.isEmpty == false { post() }
        return bytes
    }

    /// Called on the background thread when there are bytes, or the stream is over.
    public var onBytes: (@Sendable () -> Void)? {
        get { pipe.onBytes }
        set { pipe.onBytes = newValue }
    }

    /// The writer is told that nobody reads on.
    public func reset() {
        pipe.stop()
        post()
    }

    private func post() {
        if pipe.becomesPosted() { Background.shared.postIfRunning(.read(pipe)) }
    }

    deinit { if pipe.isOpen { reset() } }
}
