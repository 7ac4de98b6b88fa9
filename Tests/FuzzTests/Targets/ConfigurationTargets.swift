import NearbyLinux

@testable import Configuration

extension FuzzTarget {
    static let yaml = FuzzTarget("yaml") { bytes in
        switch Settings.decode(bytes, file: "fuzz.yaml") {
        case .good: break
        case .bad(let mistakes):
            precondition(!mistakes.isEmpty, "refused without a word")
            for mistake in mistakes { precondition(!mistake.description.isEmpty) }
        }
    }

    static let secret = FuzzTarget("secret") {
        _ = Secret.parse(String(decoding: $0, as: UTF8.self))
    }

    static let address = FuzzTarget("address") {
        _ = try? AddressText(parsing: String(decoding: $0, as: UTF8.self), defaultPort: 1)
    }
}
