import Nearby
import NearbyCore
import NearbyLinux

/// A program that looks for a server, and is connected with it.
struct Client {
    let session: Session
    let server: Peer
    /// From the invitation to connected.
    let connectTime: Duration
    private let browser: Browser

    init(_ service: Service, to name: String) async throws {
        let peer = try Peer(displayName: "client")
        session = try Session(peer: peer)
        browser = try Browser(peer: peer, service: service)
        try browser.start()
        server = try await Self.find(name, browser)
        let began = MonotonicClock.now()
        // A hundred in one process are slow to answer where others want its processor.
        try await browser.invite(server, to: session, timeout: .seconds(120))
        connectTime = MonotonicClock.now() - began
    }

    /// Within reach, or behind relays.
    private static func find(_ name: String, _ browser: Browser) async throws -> Peer {
        try await withThrowingTaskGroup(of: Peer.self) { group in
            group.addTask {
                for await case .found(let peer, _) in browser.events where peer.displayName == name
                {
                    return peer
                }
                throw NearbyError(.cancelled, "somebody else was faster")
            }
            group.addTask {
                while true {
                    try await Task.sleep(for: .milliseconds(500))
                    let far = try await browser.peersBehindRelays()
                    if let peer = far.first(where: { $0.displayName == name }) { return peer }
                }
            }
            defer { group.cancelAll() }
            guard let peer = try await group.next() else {
                throw NearbyError(.unavailable, "\(name) is not there")
            }
            return peer
        }
    }
}

/// When something was sent.
enum Stamp {
    static let byteCount = 8

    static func bytes(_ now: Instant) -> [UInt8] {
        withUnsafeBytes(of: (now - .zero) / .nanoseconds(1)) { Array($0) }
    }

    /// Nanoseconds since the clock's zero.
    static func time(_ bytes: ArraySlice<UInt8>) -> Double {
        bytes.withUnsafeBytes { $0.loadUnaligned(as: Double.self) }
    }
}
