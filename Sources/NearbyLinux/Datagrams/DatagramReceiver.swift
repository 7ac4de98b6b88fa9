import Glibc
import NearbyCore

/// One socket's receiving end: takes what waits, a bounded number at a time, and counts what is
/// lost.
final class DatagramReceiver {
    let file: FileDescriptor
    private(set) var received: (datagrams: UInt64, bytes: UInt64) = (0, 0)
    private(set) var drops = DropCounters()
    /// What comes in over another link is dropped and counted; nil: every link will do.
    var configuredLinks: [LinkID]?
    private let batch: DatagramBatch
    private var overflow: UInt32 = 0

    /// Receivers that are not used at the same time may share a batch.
    init(_ file: FileDescriptor, _ batch: DatagramBatch) {
        self.file = file
        self.batch = batch
    }

    /// - Parameters:
    ///   - hasErrors: the event loop says so.
    ///   - limit: so many datagrams at most.
    ///   - wanted: asked with the payload of each; one that is not goes no further.
    ///   - returned: told of datagrams of ours that could not be delivered.
    /// - Returns: whether more may wait.
    func receive(
        hasErrors: Bool, atMost limit: Int = Limits.datagramsPerPassMax,
        wanted: (UnsafeRawBufferPointer) -> Bool = { _ in true },
        _ body: (ReceivedDatagram) -> Void, returned: (ReturnedDatagram) -> Void
    ) -> Bool {
        // After the datagrams: a flood of errors stops none of them.
        var mayHaveErrors = hasErrors
        defer { if mayHaveErrors { file.takeReturned(returned) } }
        var rest = limit
        while rest > 0 {
            guard let count = batch.fill(from: file, rest) else {
                mayHaveErrors = true
                return false
            }
            for index in 0..<count where wanted(batch.payload(at: index)) { deliver(index, body) }
            guard count == batch.capacity else { return false }
            rest -= count
        }
        return true
    }

    private func deliver(_ index: Int, _ body: (ReceivedDatagram) -> Void) {
        let overflowBefore = overflow
        guard let datagram = batch.datagram(at: index, overflow: &overflow) else { return }
        if overflow != overflowBefore {
            drops.count(.socketReceiveOverflow, UInt64(overflow &- overflowBefore))
        }
        if batch.isTruncated(at: index) {
            drops.count(.socketReceiveTruncated)
            return
        }
        if let configuredLinks, !configuredLinks.contains(datagram.source.link) {
            drops.count(.interfaceNotConfigured)
            return
        }
        received.datagrams &+= 1
        received.bytes &+= UInt64(datagram.bytes.count)
        body(datagram)
    }
}
