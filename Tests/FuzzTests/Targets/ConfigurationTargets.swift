import CollectorConfiguration
import NearbyCore
import NearbyLinux
import Setup
import Spool

@testable import Configuration

extension FuzzTarget {
    static let yaml = FuzzTarget("yaml") { bytes in
        switch CollectorSettings.decode(bytes, file: "fuzz.yaml") {
        case .good: break
        case .bad(let mistakes):
            precondition(!mistakes.isEmpty, "refused without a word")
            for mistake in mistakes { precondition(!mistake.description.isEmpty) }
        }
    }

    static let secret = FuzzTarget("secret") {
        _ = Secret.parse(String(decoding: $0, as: UTF8.self))
    }

    /// The text, or, so that a fuzzer gets beyond the checksum, what a checksum is put behind.
    static let joinLine = FuzzTarget(
        "join-line",
        oneOf: [
            { sound(try? JoinLine(text: String(decoding: $0, as: UTF8.self))) },
            { content in
                var writer = ByteWriter()
                writer.write(contentsOf: content)
                writer.write(Checksum.crc32c(content))
                sound(try? JoinLine(parsing: writer.bytes))
            },
        ])

    private static func sound(_ line: JoinLine?) {
        guard let line else { return }
        let again = try? JoinLine(text: line.text)
        precondition(again == line, "a line is not what it was")
    }

    static let address = FuzzTarget("address") {
        _ = try? AddressText(parsing: String(decoding: $0, as: UTF8.self), defaultPort: 1)
    }
}
