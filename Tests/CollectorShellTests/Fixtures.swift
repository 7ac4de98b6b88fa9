import Collector
import Glibc
import NearbyCore
import NearbyLinux
import Telemetry
import Testing

/// A pipe whose reader is the test: it takes 65,536 bytes, and then nothing until somebody reads.
final class TestPipe {
    let writer: Int32
    private var reader: Int32

    /// F_SETPIPE_SZ, which Glibc's module does not show.
    private static let setSize: Int32 = 1_031

    init() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        (reader, writer) = (ends[0], ends[1])
        // Not for the programs that other tests start: they would be readers too.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(writer, Self.setSize, 65_536)
    }

    deinit {
        closeReader()
        close(writer)
    }

    /// Waits for so many bytes.
    func read(_ count: Int) -> String {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let more = readSome(count - bytes.count)
            guard !more.isEmpty else { break }
            bytes += more
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Waits for what comes next.
    func readSome(_ most: Int = 65_536) -> [UInt8] {
        var piece = [UInt8](repeating: 0, count: most)
        let count = Glibc.read(reader, &piece, most)
        return Array(piece.prefix(max(count, 0)))
    }

    /// What is there already.
    func readAvailable() -> [UInt8] {
        var entry = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, 0) == 1 else { return [] }
        return readSome()
    }

    func closeReader() {
        if reader >= 0 { close(reader) }
        reader = -1
    }
}

extension Mailbox {
    /// Waits for the next messages, for ten seconds at most.
    func next() -> [Message] {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&entry, 1, 10_000)
        return take()
    }
}

/// A window with readings of so many channels; each is a row of some hundred bytes.
func window(channelCount: UInt16) throws -> Window {
    let peer = PeerID(high: 1, low: 1)
    let time = Instant(nanoseconds: 11_000_000_000)
    let channels = try (1...channelCount).map { number in
        let description = try #require(
            ChannelDescription(name: "channel-\(number)", unit: .celsius, scale: 0))
        return Channel(number: number, description: description)
    }
    let birth = Birth(
        number: 1, run: RunID(value: 0x100), boot: BootID(high: 1, low: 2),
        node: try NodeDescription(name: "north"), channels: channels)
    let readings = (1...channelCount).map { number in
        Reading(
            sequence: UInt64(number), channel: number, time: time,
            outcome: .value(DecimalValue(coefficient: 21, exponent: 0)))
    }
    var aggregator = WindowAggregator()
    let delivery = Delivery(peer: peer, birth: birth, readings: readings, arrival: time)
    _ = aggregator.handle(.delivery(delivery), now: time)
    let outputs = aggregator.handle(.deadlineReached, now: time + .seconds(10))
    for case .window(let window) in outputs { return window }
    throw WireError.invalid(field: "no window")
}
