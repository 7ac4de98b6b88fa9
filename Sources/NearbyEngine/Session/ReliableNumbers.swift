import NearbyCore

/// Numbers reliable messages over all channels that a pair of runs ever has, so that a message
/// which was delivered but whose acknowledgement was lost with its channel is not delivered again
/// on the next.
///
/// The number (varint, from 1) stands in front of the message.
struct ReliableNumbers: Sendable {
    private(set) var lastSent: UInt64
    private var lastDelivered: UInt64 = 0
    private var run: RunID?

    /// - Parameter lastSent: where a pair of whose numbers nothing is known goes on: above all that
    ///   it may have had in this run.
    init(after lastSent: UInt64) { self.lastSent = lastSent }

    /// The message with its number.
    mutating func numbered(_ message: [UInt8]) -> [UInt8] {
        lastSent &+= 1
        var writer = ByteWriter(reserving: message.count + 3)
        writer.writeVarint(lastSent)
        writer.write(contentsOf: message)
        return writer.bytes
    }

    /// A restarted peer counts from 1 again.
    mutating func connected(to run: RunID) {
        if self.run != run { lastDelivered = 0 }
        self.run = run
    }

    /// The message, if it was not delivered before.
    mutating func delivered(_ bytes: [UInt8]) -> Result<[UInt8], Refusal> {
        var reader = ByteReader(bytes)
        guard let number = try? reader.readVarint(), number > 0 else {
            return .failure(.init(reason: .messageMalformed))
        }
        guard number > lastDelivered else { return .failure(.init(reason: .messageDuplicate)) }
        lastDelivered = number
        return .success(Array(reader.readRemaining()))
    }

    struct Refusal: Error { let reason: DropReason }
}
