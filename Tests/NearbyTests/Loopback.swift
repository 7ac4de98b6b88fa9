import Glibc
import NearbyCore
import Testing

@testable import Nearby

/// All of these open sockets on loopback, and some count the process's descriptors: one at a time.
@Suite(.serialized) struct LoopbackTests {
    /// Peers of these tests find each other on this machine alone, and leave no keys behind.
    static let isPrepared: Void = {
        setenv("RIVULET_NEARBY_INTERFACES", "lo", 1)
        setenv("RIVULET_NEARBY_AVAHI", "off", 1)
        setenv("RIVULET_NEARBY_BLUETOOTH", "off", 1)
    }()

    /// A service that nobody else uses at the same time.
    static func service() throws -> Service {
        _ = isPrepared
        return try Service("t\(UInt32.random(in: 0...UInt32.max))")
    }
}

/// A program with one session: accepts every invitation, and keeps what it is told.
final class Program: Sendable {
    let peer: Peer
    let session: Session
    let advertiser: Advertiser
    let browser: Browser

    init(
        _ name: String, _ service: Service, info: [String: String] = [:],
        encryption: EncryptionPreference = .required, identity: Nearby.Identity? = nil,
        certificateHandler: (@Sendable ([[UInt8]], Peer) async -> Bool)? = nil
    ) throws {
        peer = try Peer(displayName: name)
        session = try Session(
            peer: peer, identity: identity, encryption: encryption,
            certificateHandler: certificateHandler)
        advertiser = try Advertiser(peer: peer, discoveryInfo: info, service: service)
        browser = try Browser(peer: peer, service: service)
    }

    /// Another session of the same peer, with an advertiser of its own.
    init(as other: Program, encryption: EncryptionPreference) throws {
        peer = other.peer
        session = try Session(peer: peer, encryption: encryption)
        advertiser = try Advertiser(peer: peer, service: other.advertiser.advertised.service)
        browser = other.browser
    }

    func acceptAll() {
        Task { [session, invitations = advertiser.invitations] in
            for await invitation in invitations { try? invitation.accept(with: session) }
        }
    }

    /// Waits until a peer of this name is found.
    func find(_ name: String) async throws -> (Peer, [String: String]) {
        try await within(.seconds(10)) { [browser] in
            for await case .found(let peer, let info) in browser.events
            where peer.displayName == name {
                return (peer, info)
            }
            throw NearbyError(.timedOut, "\(name) was not found")
        }
    }

    /// Finds and invites it.
    func connect(with other: Program) async throws {
        other.acceptAll()
        try other.advertiser.start()
        try browser.start()
        let (peer, _) = try await find(other.peer.displayName)
        try await browser.invite(peer, to: session, timeout: .seconds(10))
    }

    /// Waits for the next event that is wanted.
    func next<Value: Sendable>(
        _ pick: @escaping @Sendable (Session.Event) -> Value?
    ) async throws -> Value {
        try await within(.seconds(15)) { [session] in
            for await event in session.events { if let value = pick(event) { return value } }
            throw NearbyError(.timedOut, "the events have ended")
        }
    }

    /// The next stream that a peer opens.
    func stream() async throws -> IncomingStream {
        try await next { event in
            guard case .stream(let stream, _, _) = event else { return nil }
            return stream
        }
    }

    func message() async throws -> String {
        try await next { event in
            guard case .message(let bytes, _, _) = event else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    func stop() {
        advertiser.stop()
        browser.stop()
        session.disconnect()
    }
}

/// Throws `.timedOut` where it takes longer.
func within<Value: Sendable>(
    _ limit: Duration, _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: limit)
            throw NearbyError(.timedOut, "it took longer than \(limit)")
        }
        defer { group.cancelAll() }
        guard let first = try await group.next() else { throw NearbyError(.unknown, "no task") }
        return first
    }
}

/// Polls until it is so.
func eventually(_ limit: Duration = .seconds(10), _ isSo: @Sendable () -> Bool) async throws -> Bool
{
    let end = ContinuousClock.now + limit
    while ContinuousClock.now < end {
        if isSo() { return true }
        try await Task.sleep(for: .milliseconds(20))
    }
    return isSo()
}

func descriptorCount() -> Int {
    guard let folder = opendir("/proc/self/fd") else { return -1 }
    defer { closedir(folder) }
    var count = 0
    while readdir(folder) != nil { count += 1 }
    return count
}
