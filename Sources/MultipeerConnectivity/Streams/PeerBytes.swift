import Nearby

/// What an input stream reads from: a stream of `Nearby`.
protocol ByteSource: AnyObject, Sendable {
    /// What is there, at most so much: nil after the end, empty when there is nothing now.
    func readNow(upTo: Int) throws(NearbyError) -> [UInt8]?
    /// Called when there is something new, on any thread.
    var onBytes: (@Sendable () -> Void)? { get set }
    func reset()
}

/// What an output stream writes to.
protocol ByteSink: AnyObject, Sendable {
    /// How many were taken: 0 when there is no room now.
    func writeNow(_ bytes: ArraySlice<UInt8>) throws(NearbyError) -> Int
    /// Called when room came, on any thread.
    var onRoom: (@Sendable () -> Void)? { get set }
    /// No more comes; what was written still arrives.
    func finish()
    func reset()
}

extension IncomingStream: ByteSource {}
extension OutgoingStream: ByteSink {}
