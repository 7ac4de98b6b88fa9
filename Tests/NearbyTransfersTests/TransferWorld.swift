import Glibc
import NearbyCore
import Testing

@testable import NearbyTransfers

/// Pairs of machines (0 and 1, 2 and 3, …) with simulated links between them, and programs that
/// check every byte. Number 1 is the peer of number 0.
final class TransferWorld {
    enum Happening {
        case arrives([UInt8], at: Int, epoch: Int)
        case wakes(Int)
        case answers(Int, TransferInput, run: Int)
    }

    private(set) var now = Instant.zero
    private(set) var machines: [TransferMachine]
    var programs: [TransferProgram]
    /// From each machine; two may share one.
    var links: [SimulatedLink]
    private(set) var drops: [DropReason: Int] = [:]
    private(set) var sentCount: [Priority: Int] = [:]
    /// The most packets of bulk that followed from one input.
    var bulkBurstMost = 0
    /// What is on its way when a pair parts does not arrive.
    private var epochs: [Int]
    private var isUp: [Bool]
    private var runs: [Int]
    private var planned: [Int: Instant] = [:]
    private var heap = EventHeap<Happening>()
    /// How long a program takes to read, write or use.
    var programDelay = Duration.zero

    init(
        pairs: Int = 1, _ terms: SimulatedLink.Terms = .init(), seed: UInt64 = 1,
        isShared: Bool = false
    ) {
        let count = 2 * pairs
        machines = (0..<count).map { _ in TransferMachine() }
        programs = (0..<count).map { _ in TransferProgram() }
        links = (0..<count).map { SimulatedLink(terms, seed: seed * 100 + UInt64($0)) }
        if isShared { for index in links.indices { links[index] = links[index % 2] } }
        epochs = Array(repeating: 0, count: count)
        isUp = Array(repeating: true, count: count)
        runs = Array(repeating: 0, count: count)
    }

    // MARK: What programs do

    func open(_ name: String = "stream", group: UInt16 = 7, at index: Int) -> StreamID {
        let id = machines[index].nextStream
        give(.openStream(name: name, group: group), at: index)
        return id
    }

    /// Writes as much as there is room for; the content follows from the offset.
    func write(_ count: Int, to id: StreamID, at index: Int) {
        let start = programs[index].written[id, default: 0]
        let taken = min(count, machines[index].room(of: id) ?? 0)
        programs[index].written[id] = start + taken
        give(.write(id, Content.bytes(at: start, taken)), at: index)
    }

    /// Writes so many bytes as room comes, then finishes.
    func pour(_ count: Int, into id: StreamID, at index: Int) {
        programs[index].pouring[id] = count
        pourMore(id, at: index)
    }

    private func pourMore(_ id: StreamID, at index: Int) {
        guard let left = programs[index].pouring[id] else { return }
        let start = programs[index].written[id, default: 0]
        let room = machines[index].room(of: id) ?? 0
        programs[index].written[id] = start + min(left, room)
        programs[index].pouring[id] = left - min(left, room)
        // What does not fit is cut off and asked for later.
        give(.write(id, Content.bytes(at: start, min(left, room + 1))), at: index)
        guard left <= room else { return }
        programs[index].pouring[id] = nil
        give(.finish(id), at: index)
    }

    func offer(_ byteCount: Int, key: UInt8 = 1, name: String = "file", at index: Int)
        -> ResourceID
    {
        let id = machines[index].nextResource
        let offer = ResourceOffer(
            name: name, group: 3, byteCount: Int64(byteCount),
            key: [UInt8](repeating: key, count: 16))
        programs[index].offers[id] = offer
        give(.offer(offer), at: index)
        return id
    }

    // MARK: What happens to them

    func part(_ index: Int) {
        for end in [index, index ^ 1] {
            isUp[end] = false
            epochs[end] += 1
            give(.unreachable, at: end)
        }
    }

    func join(_ index: Int) {
        for end in [index, index ^ 1] { isUp[end] = true }
        for end in [index, index ^ 1] { give(.reachable, at: end) }
    }

    /// The process is gone and another in its place; what it has on disk is still there.
    func restart(_ index: Int) {
        for end in [index, index ^ 1] { epochs[end] += 1 }
        runs[index] += 1
        machines[index] = TransferMachine()
        programs[index].restart()
        give(.restarted, at: index ^ 1)
    }

    // MARK: Running

    func give(_ input: TransferInput, at index: Int) {
        let outputs = machines[index].handle(input, now: now)
        let bulkCount = outputs.count { if case .send(_, .bulk) = $0 { true } else { false } }
        bulkBurstMost = max(bulkBurstMost, bulkCount)
        plan(index)
        for output in outputs { carryOut(output, of: index) }
        for (name, count, limit) in machines[index].tableSizes where count > limit {
            Issue.record("\(count) \(name) of \(limit)")
        }
    }

    func run(for time: Duration) { run(until: now + time) { false } }

    /// - Returns: whether it came to that.
    @discardableResult
    func run(for time: Duration, until isDone: () -> Bool) -> Bool {
        run(until: now + time, isDone)
        return isDone()
    }

    private func run(until end: Instant, _ isDone: () -> Bool) {
        while !isDone(), let time = heap.first, time <= end, let next = heap.popFirst() {
            now = time
            happen(next.event)
        }
        if !isDone() { now = end }
    }

    private func happen(_ what: Happening) {
        switch what {
        case .arrives(let bytes, let index, let epoch):
            if epochs[index] == epoch { give(.received(bytes), at: index) }
        case .wakes(let index):
            guard let time = planned[index], time <= now else { return }
            planned[index] = nil
            give(.deadlineReached, at: index)
            if let next = machines[index].nextDeadline, next <= now {
                Issue.record("\(index) never sleeps")
            }
        case .answers(let index, let input, let run):
            if runs[index] == run { give(input, at: index) }
        }
    }

    private func plan(_ index: Int) {
        guard let deadline = machines[index].nextDeadline else { return }
        let time = max(deadline, now)
        guard time < planned[index] ?? .distantFuture else { return }
        planned[index] = time
        heap.add(.wakes(index), at: time)
    }

    private func answer(_ input: TransferInput, at index: Int) {
        heap.add(.answers(index, input, run: runs[index]), at: now + programDelay)
    }

    private func carryOut(_ output: TransferOutput, of index: Int) {
        switch output {
        case .send(let bytes, let priority):
            #expect(bytes.count <= Limits.messageBytesMax && bytes[0] == TransferPacket.tag)
            sentCount[priority, default: 0] += 1
            #expect(isUp[index], "\(index) sends into the void")
            for time in links[index].send(bytes.count, now: now) {
                heap.add(.arrives(bytes, at: index ^ 1, epoch: epochs[index ^ 1]), at: time)
            }
        case .room(let id): pourMore(id, at: index)
        case .drop(let reason): drops[reason, default: 0] += 1
        default:
            for input in programs[index].take(output) { answer(input, at: index) }
        }
    }
}

/// What every stream and resource consists of: it follows from the offset.
enum Content {
    private static let pattern = (0..<251 * 280).map { UInt8($0 % 251) }

    /// Copied piece by piece: a debug build computes a byte in as long as it copies a thousand.
    static func bytes(at offset: Int, _ count: Int) -> [UInt8] {
        let start = offset % 251
        var bytes = Array(pattern[start..<min(pattern.count, start + count)])
        bytes.reserveCapacity(count)
        while bytes.count < count { bytes += pattern.prefix(count - bytes.count) }
        return bytes
    }

    static func matches(_ bytes: [UInt8], at offset: Int) -> Bool {
        let expected = Self.bytes(at: offset, bytes.count)
        return bytes.withUnsafeBytes { found in
            expected.withUnsafeBytes { found.elementsEqualInMemory($0) }
        }
    }
}

extension UnsafeRawBufferPointer {
    /// As `elementsEqual`, which a debug build does byte by byte.
    fileprivate func elementsEqualInMemory(_ other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count, let mine = baseAddress, let others = other.baseAddress else {
            return count == other.count
        }
        return memcmp(mine, others, count) == 0
    }
}
