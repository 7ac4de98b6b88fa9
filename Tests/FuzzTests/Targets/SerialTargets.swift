import NearbyCore
import Telemetry

@testable import Sampling
@testable import Sensors

extension FuzzTarget {
    /// Parser 1, from 128 on also restarted | number of cuts 1 | sizes of the pieces, 1 each |
    /// what comes over the line
    static let serial = FuzzTarget("serial") { bytes in
        var reader = ByteReader(bytes)
        guard let kind = try? reader.readUInt8(), let cutCount = try? reader.readUInt8(),
            let cuts = try? reader.readBytes(min(Int(cutCount % 16), reader.remainingCount))
        else { return }
        let stream = reader.readRemaining()
        let parser = serialParser(kind)

        var whole = parser
        let atOnce = whole.feed(stream)
        var cut = parser
        var measurements: [Measurement] = []
        var readings = NewestReadings(
            expected: parser.channels, areCertain: parser.areChannelsCertain,
            expiry: .seconds(10))
        var now = Instant.zero
        for piece in pieces(of: stream, sizes: Array(cuts)) {
            now = now + .seconds(Int64(piece.count))
            let some = cut.feed(piece)
            if some.isEmpty { continue }
            measurements += some
            _ = readings.record(some, now)
            if measurements.count % 16 == 0 {
                let given = readings.sample(now, reason: nil)
                precondition(given.count <= Limits.channelsPerSensorMax, "too many channels")
            }
        }
        precondition(atOnce == measurements, "it matters how the bytes are cut")
        for parser in [whole, cut] { precondition(parser.losses.badChecksums >= 0) }
        precondition(
            whole.losses.badChecksums == cut.losses.badChecksums
                && whole.losses.strayBytes == cut.losses.strayBytes
                && whole.losses.badLines == cut.losses.badLines
                && whole.losses.longLines == cut.losses.longLines,
            "how much is lost depends on how the bytes are cut")

        guard kind >= 128 else { return }
        whole.restart()
        precondition(whole.feed(stream) == atOnce, "something is left of before the restart")
    }

    static let linePattern = FuzzTarget("line-pattern") { bytes in
        guard let kind = bytes.first else { return }
        let pattern = patterns[Int(kind) % patterns.count]
        let line = Array(bytes.dropFirst())
        guard let groups = pattern.groups(in: line) else { return }
        precondition(groups.count == pattern.groupCount, "a group is missing")
        for case let group? in groups {
            precondition(line[group.startIndex..<group.endIndex] == group, "not of this line")
        }
    }

    private static let patterns = [
        "T=(-?[0-9.]+) H=([0-9.]+)", "^([^,]*),([^,]*)(,(.*))?$", "^(([a-z]+)[:=])?([0-9]*)",
        "(a|b)*([[:digit:]]+)|x(.)$",
    ].compactMap { LinePattern($0) }

    private static func serialParser(_ kind: UInt8) -> any SerialParser {
        switch kind % 9 {
        case 0: PlantowerParser()
        case 1: NovaParser()
        case 2: WinsenParser()
        case 3: PositionParser()
        case 4: LineParser(.plain(name: nil, unit: "1"))
        case 5: LineParser(.plain(name: "hut", unit: "Cel"))
        case 6: patternParser(0)
        case 7: patternParser(1)
        default: patternParser(2)
        }
    }

    private static func patternParser(_ index: Int) -> LineParser {
        let pattern = patterns[index]
        return LineParser(
            .pattern(
                { pattern.groups(in: $0) },
                (0..<pattern.groupCount).map { ExpectedChannel("g\($0)", "1") }))
    }

    /// The sizes again and again; without any, byte by byte.
    private static func pieces(
        of stream: ArraySlice<UInt8>, sizes: [UInt8]
    ) -> [ArraySlice<UInt8>] {
        var pieces: [ArraySlice<UInt8>] = []
        var rest = stream
        while !rest.isEmpty {
            let size = sizes.isEmpty ? 1 : max(1, Int(sizes[pieces.count % sizes.count]))
            pieces.append(rest.prefix(size))
            rest = rest.dropFirst(size)
        }
        return pieces
    }
}
