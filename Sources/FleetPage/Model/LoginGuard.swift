import CollectorConfiguration
import NearbyCore

/// Asks for the password, and slows down those who guess: of one address, five tries at once and
/// one more every two seconds. What is tried beyond that is not even compared.
struct LoginGuard {
    enum Verdict: Equatable {
        case welcome
        case wrong
        /// Tried too often: come again in so many seconds.
        case tooOften(seconds: Int64)
    }

    private struct Tries {
        var failures: Int64
        var since: Instant
    }

    static let burst: Int64 = 5
    static let recovery: Duration = .seconds(2)
    /// Addresses that failures are counted for; beyond, the one that failed longest ago goes.
    static let sourcesMax = 512

    private let login: WebSettings.Login?
    private var sources: [String: Tries] = [:]

    init(_ login: WebSettings.Login?) { self.login = login }

    mutating func judge(_ given: PageRequest.Login?, from source: String, now: Instant) -> Verdict {
        guard let login else { return .welcome }
        // A browser asks first without, to be told that there is a password.
        guard let given else { return .wrong }
        let failures = failures(of: source, now)
        guard failures < Self.burst else {
            return .tooOften(seconds: Self.recovery.components.seconds)
        }
        // Both, always: how long it takes says nothing.
        let isUser = Self.isEqual(given.user, login.user)
        let isPassword = Self.isEqual(given.password, login.password)
        if isUser, isPassword {
            sources[source] = nil
            return .welcome
        }
        makeRoom(for: source)
        sources[source] = Tries(failures: failures + 1, since: now)
        return .wrong
    }

    /// Less those that time has forgiven.
    private func failures(of source: String, _ now: Instant) -> Int64 {
        guard let tries = sources[source] else { return 0 }
        let forgiven = (now - tries.since).nanoseconds / Self.recovery.nanoseconds
        return max(0, tries.failures - max(0, forgiven))
    }

    private mutating func makeRoom(for source: String) {
        guard sources[source] == nil, sources.count >= Self.sourcesMax else { return }
        let oldest = sources.min { ($0.value.since, $0.key) < ($1.value.since, $1.key) }
        if let oldest { sources[oldest.key] = nil }
    }

    /// In a time that depends on the length of what was given only.
    static func isEqual(_ given: String, _ right: String) -> Bool {
        let (given, right) = (Array(given.utf8), Array(right.utf8))
        var difference = UInt(bitPattern: given.count ^ right.count)
        for (index, byte) in given.enumerated() {
            difference |= UInt(byte ^ (right.isEmpty ? 0 : right[index % right.count]))
        }
        return difference == 0
    }
}
