import Collector
import CollectorConfiguration
import Fleet
import FleetPage
import Glibc
import NearbyCore
import Store
import Telemetry

// page-bench CONFIG STORE NODES CHANNELS SECONDS: the page of a collector with so many nodes of so
// many channels, of which every value is another each second, and a store in which each channel has
// ten minutes of readings, one in ten seconds. No network is behind it: what it takes, the page
// takes. STORE must not exist; CONFIG is that of a collector with `web:`. Prints `serving` when the
// page is there.

let numbers = CommandLine.arguments.dropFirst(3).compactMap { Int($0) }
guard CommandLine.arguments.count == 6, numbers.count == 3, numbers.allSatisfy({ $0 > 0 }),
    case .good(let settings) = CollectorSettings.load(CommandLine.arguments[1]),
    let web = settings.web
else {
    print("usage: page-bench CONFIG STORE NODES CHANNELS SECONDS")
    exit(64)
}

/// Nanoseconds since 1970.
func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// A hall of boards that are all alike.
struct Hall {
    let nodes: Int
    let channels: Int

    func fill(_ path: String) throws {
        let store = try Store.open(path).store
        let begin = now() - 600_000_000_000
        for number in 1...UInt64(nodes) {
            let key = RunKey(peer: PeerID(high: number, low: number), run: RunID(value: number))
            let boot = BootID(high: number, low: 1)
            let list = (1...channels).compactMap { channel in
                ChannelDescription(name: "channel \(channel)", unit: .celsius, scale: -2).map {
                    Channel(number: UInt16(channel), description: $0)
                }
            }
            var batch = StoreBatch()
            let name = try NodeDescription(name: "board-\(number)")
            let birth = Birth(number: 1, run: key.run, boot: boot, node: name, channels: list)
            batch.births = [StoreBatch.PeerBirth(peer: key.peer, birth: birth)]
            let clock = ClockReading(rank: .network, unixOffset: .nanoseconds(begin))
            batch.clocks = [
                ClockMapping(
                    boot: boot, clock: clock, uncertainty: .milliseconds(3), since: .zero,
                    isForeign: false)
            ]
            batch.parts = [part(key)]
            try store.commit(batch)
        }
        let clock = ClockReading(rank: .network, unixOffset: .zero)
        while try !store.tidy(now: Instant(nanoseconds: now()), clock: clock).isDone {}
    }

    private func part(_ key: RunKey) -> StoreBatch.Part {
        let readings = (0..<UInt64(channels * 60)).map { (place: UInt64) -> Reading in
            let time = Instant(nanoseconds: Int64(place) / Int64(channels) * 10_000_000_000)
            let value = DecimalValue(coefficient: Int64(place % 977), exponent: -2)
            return Reading(
                sequence: place + 1, channel: UInt16(place % UInt64(channels)) + 1, time: time,
                outcome: .value(value))
        }
        var settled = NumberRanges()
        settled.insert(1..<UInt64(readings.count + 1))
        return StoreBatch.Part(key: key, readings: readings, settled: settled, hops: 1)
    }

    func snapshot(_ turn: Int64) -> FleetSnapshot {
        var snapshot = FleetSnapshot()
        let utc = now()
        snapshot.collector.peer = PeerID(high: .max, low: .max)
        (snapshot.collector.name, snapshot.collector.network) = ("hall", "bench")
        snapshot.collector.utc = utc
        snapshot.nodes = (1...UInt64(nodes)).map { number in
            var node = FleetNode(
                peer: PeerID(high: number, low: number), name: "board-\(number)", role: "agent")
            (node.isOnline, node.age, node.link, node.hops) = (true, .zero, "ethernet", 1)
            node.readingCount = UInt64(turn) * UInt64(channels)
            node.channels = (1...channels).map { channel in
                let value = DecimalValue(
                    coefficient: Int64(number) * 10 + turn + Int64(channel), exponent: -2)
                return FleetChannel(
                    name: "channel \(channel)", unit: .celsius, scale: -2, last: .value(value),
                    utc: utc - 400_000_000, hops: 1)
            }
            return node
        }
        snapshot.links = snapshot.nodes.map {
            FleetLink(
                from: snapshot.collector.peer, to: $0.peer, link: "ethernet", cost: 100,
                lossPercent: 0)
        }
        return snapshot
    }
}

let hall = Hall(nodes: numbers[0], channels: numbers[1])
do {
    let store = CommandLine.arguments[2]
    try hall.fill(store)
    let board = FleetBoard()
    let page = FleetPage(web, board: board, store: store, names: [])
    try page.start()
    print("serving")
    fflush(nil)
    for turn in 1...Int64(numbers[2]) {
        if board.isWanted() { board.publish(hall.snapshot(turn)) }
        sleep(1)
    }
    page.stop()
} catch {
    print(error)
    exit(1)
}
