import Collector
import Glibc
import NearbyCore
import Store
import Telemetry

// store-writer PATH: commits ten readings at a time for ever, after those that are there, and
// prints the highest sequence number after each commit. They are a hundred seconds apart, so that
// most are soon packed into blocks. The tests kill it.

func batch(_ key: RunKey, from first: UInt64) throws -> StoreBatch {
    var batch = StoreBatch()
    let channels = ["air", "soil"].enumerated().compactMap { index, name in
        ChannelDescription(name: name, unit: .celsius, scale: -2)
            .map { Channel(number: UInt16(index + 1), description: $0) }
    }
    let boot = BootID(high: 1, low: 2)
    let birth = Birth(
        number: 1, run: key.run, boot: boot,
        node: try NodeDescription(name: "north"), channels: channels)
    batch.births = [StoreBatch.PeerBirth(peer: key.peer, birth: birth)]
    let clock = ClockReading(rank: .network, unixOffset: .seconds(1_795_238_400))
    batch.clocks = [ClockMapping(boot: boot, clock: clock, uncertainty: .milliseconds(3))]
    let readings = (first..<first + 10).map { (sequence: UInt64) -> Reading in
        let time = Instant(nanoseconds: Int64(sequence) * 100_000_000_000)
        let value = DecimalValue(coefficient: Int64(sequence), exponent: -2)
        return Reading(
            sequence: sequence, channel: UInt16(sequence % 2 + 1), time: time,
            outcome: .value(value))
    }
    var settled = NumberRanges()
    settled.insert(1..<first + 10)
    batch.parts = [StoreBatch.Part(key: key, readings: readings, settled: settled, hops: 1)]
    return batch
}

guard CommandLine.arguments.count == 2 else {
    print("usage: store-writer PATH")
    exit(64)
}
do {
    let key = RunKey(peer: PeerID(high: 1, low: 1), run: RunID(value: 0x100))
    let opened = try Store.open(CommandLine.arguments[1])
    var next = opened.runs.first?.settled.end(from: 1) ?? 1
    while true {
        try opened.store.commit(try batch(key, from: next))
        next += 10
        let line = Array("\(next - 1)\n".utf8)
        guard write(STDOUT_FILENO, line, line.count) == line.count else { exit(0) }
        let clock = ClockReading(rank: .network, unixOffset: .seconds(1_795_238_400))
        let now = Instant(nanoseconds: Int64(next) * 100_000_000_000)
        _ = try opened.store.tidy(now: now, clock: clock, budget: 50)
    }
} catch {
    print(error)
    exit(1)
}
