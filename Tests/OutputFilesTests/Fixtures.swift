import Fleet
import Glibc
import NearbyCore
import Outputs
import Telemetry

/// A folder of its own for one test, removed with it.
final class Folder {
    private let root: String
    private static let names = ["a", "a.1", "a.2", "a.3", "b", "program"]

    init() {
        var template = Array("/tmp/rivulet-files-XXXXXX".utf8CString)
        root = mkdtemp(&template).map { String(cString: $0) } ?? "/tmp"
    }

    deinit {
        for name in Self.names { unlink(path(name)) }
        rmdir(root)
    }

    func path(_ name: String) -> String { root + "/" + name }

    func write(_ name: String, _ text: String, mode: mode_t = 0o600) {
        let file = open(path(name), O_WRONLY | O_CREAT | O_TRUNC, mode)
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
        close(file)
    }

    /// Nil if there is no such file.
    func text(_ name: String) -> String? {
        let file = open(path(name), O_RDONLY)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(file, &piece, piece.count)
            guard count > 0 else { break }
            bytes += piece.prefix(count)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    func lineCount(_ name: String) -> Int { text(name)?.split(separator: "\n").count ?? 0 }
}

/// Readings of one channel with these numbers.
func batch(_ numbers: ClosedRange<UInt64>) -> OutputBatch {
    var batch = OutputBatch()
    let node = OutputNode(
        peer: PeerID(high: 1, low: 2), run: RunID(value: 0xabc), name: "<shed>\"\n",
        labels: [Label(key: "a\"b", value: "}\u{7f}")], board: "")
    batch.series = [
        OutputSeries(node: node, number: 1, channel: "\\air", unit: .celsius, scale: 0)
    ]
    batch.readings = numbers.map { number in
        OutputReading(
            series: 0, sequence: number, milliseconds: Int64(number),
            utc: 1_700_000_000_000_000_000 + Int64(number),
            outcome: .value(DecimalValue(coefficient: Int64(number), exponent: 0)), hops: 1)
    }
    return batch
}
