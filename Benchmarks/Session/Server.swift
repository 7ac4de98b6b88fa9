import Glibc
import Nearby
import NearbyCore
import NearbyLinux

/// Accepts everybody, each few in a session of their own, and throws away what comes.
struct Server {
    private let peer: Peer
    private let advertiser: Advertiser

    init(named name: String, _ service: Service) throws {
        peer = try Peer(displayName: name)
        advertiser = try Advertiser(peer: peer, service: service)
    }

    func run() async throws {
        var session = try Session(peer: peer)
        var accepted = 0
        try advertiser.start()
        for await invitation in advertiser.invitations {
            if accepted % Self.groupSize == 0 {
                session = try Session(peer: peer)
                Task { [session] in await serve(session) }
            }
            accepted += 1
            try invitation.accept(with: session)
        }
    }

    private func serve(_ session: Session) async {
        var readings = Readings()
        for await event in session.events {
            switch event {
            case .message(let bytes, _, _): readings.take(bytes)
            case .resource(let resource): Task { _ = try? await resource.file() }
            case .stream(let stream, _, _): Task { try await measure(stream) }
            default: break
            }
        }
    }

    /// One-way times, microseconds: p50 and p99.
    private func measure(_ stream: IncomingStream) async throws {
        var bytes: [UInt8] = []
        var times: [Double] = []
        for try await more in stream {
            let now = (MonotonicClock.now() - .zero) / .nanoseconds(1)
            bytes += more
            while bytes.count >= Stamp.byteCount {
                times.append((now - Stamp.time(bytes.prefix(Stamp.byteCount))) / 1_000)
                bytes.removeFirst(Stamp.byteCount)
            }
        }
        guard !times.isEmpty else { return }
        times.sort()
        print(Int(times[times.count / 2]), Int(times[times.count * 99 / 100]))
        fflush(nil)
    }

    private static let groupSize = 5
}

/// One-way times of messages, by the phase that their first byte names.
struct Readings {
    private var times: [UInt8: [Double]] = [:]

    /// The one that ends a phase is shorter: p50 and p99 of it, microseconds.
    mutating func take(_ message: [UInt8]) {
        let now = (MonotonicClock.now() - .zero) / .nanoseconds(1)
        guard let phase = message.first else { return }
        guard message.count > Stamp.byteCount else {
            let all = (times[phase] ?? []).sorted()
            guard !all.isEmpty else { return }
            print(Int(all[all.count / 2]), Int(all[all.count * 99 / 100]), all.count)
            fflush(nil)
            return
        }
        let sent = Stamp.time(message[1...Stamp.byteCount])
        times[phase, default: []].append((now - sent) / 1_000)
    }
}
