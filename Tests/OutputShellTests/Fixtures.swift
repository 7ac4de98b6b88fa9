import Collector
import CollectorConfiguration
import Fleet
import Glibc
import NearbyCore
import Store
import Telemetry
import Testing

@testable import OutputShell

/// A store with readings, and an output that writes them to a file.
final class Place {
    let folder: String
    let peer = PeerID(high: 1, low: 1)
    private let key = RunKey(peer: PeerID(high: 1, low: 1), run: RunID(value: 0x100))
    private let boot = BootID(high: 1, low: 2)

    var store: String { folder + "/readings.sqlite" }
    var lines: String { folder + "/lines.jsonl" }

    init() {
        var template = Array("/tmp/rivulet-outputs-XXXXXX".utf8CString)
        folder = mkdtemp(&template).map { String(cString: $0) } ?? "/tmp"
    }

    deinit {
        for name in [
            "readings.sqlite", "readings.sqlite-wal", "readings.sqlite-shm", "lines.jsonl",
        ] {
            unlink(folder + "/" + name)
        }
        rmdir(folder)
    }

    /// `outputs:` with the file alone.
    func settings(name: String = "name: lines,", file: String? = nil) throws -> [OutputSettings] {
        let output = "{\(name) json: {file: \(file ?? lines)}}"
        let text = "trust: any\nrole: collector\noutputs: [\(output)]"
        guard case .good(let settings) = CollectorSettings.decode(Array(text.utf8), file: "f")
        else {
            Issue.record("not decoded")
            return []
        }
        return settings.outputs
    }

    func open(_ outputs: [OutputRegistration] = []) throws -> Store {
        var settings = Store.Settings()
        settings.outputs = outputs
        return try Store.open(store, settings).store
    }

    /// Readings with these numbers, a second apart.
    func commit(_ numbers: ClosedRange<UInt64>, to store: Store) throws {
        let description = try #require(
            ChannelDescription(name: "air", unit: .celsius, scale: 0))
        var batch = StoreBatch()
        batch.births = [
            StoreBatch.PeerBirth(
                peer: key.peer,
                birth: Birth(
                    number: 1, run: key.run, boot: boot, node: try NodeDescription(name: "north"),
                    channels: [Channel(number: 1, description: description)]))
        ]
        batch.clocks = [
            ClockMapping(
                boot: boot,
                clock: ClockReading(rank: .network, unixOffset: .seconds(1_795_238_400)),
                uncertainty: .milliseconds(3), since: .zero, isForeign: false)
        ]
        var settled = NumberRanges()
        settled.insert(numbers.lowerBound..<numbers.upperBound + 1)
        let readings = numbers.map { (number: UInt64) in
            Reading(
                sequence: number, channel: 1,
                time: Instant(nanoseconds: Int64(number) * 1_000_000_000),
                outcome: .value(DecimalValue(coefficient: Int64(number), exponent: 0)))
        }
        batch.parts = [StoreBatch.Part(key: key, readings: readings, settled: settled, hops: 1)]
        _ = try store.commit(batch)
    }

    /// How many lines the file has.
    var lineCount: Int {
        guard let file = fopen(lines, "r") else { return 0 }
        defer { fclose(file) }
        var count = 0
        var byte = fgetc(file)
        while byte != EOF {
            if byte == 10 { count += 1 }
            byte = fgetc(file)
        }
        return count
    }

    /// Waits until it has so many, for half a minute at most.
    func waitForLines(_ count: Int) {
        for _ in 0..<3_000 where lineCount < count { usleep(10_000) }
    }
}
