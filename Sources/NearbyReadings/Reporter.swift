import Nearby
import NearbyCore
import NearbyLinux
import Telemetry

/// Brings readings to the collectors of a Rivulet network, as its agents do: numbered, in batches,
/// kept until a collector has stored them and sent again until then, with copies for all who look
/// in. What is kept is in memory, at most 4 MiB; the oldest go first.
public actor Reporter {
    /// Where readings go.
    public enum Event: Sendable {
        /// Readings go to this collector from now on; nil: they wait.
        case collector(Peer?)
        /// Those who look in, and get copies.
        case viewers([Peer])
        /// It did not start.
        case failed(NearbyError)
    }

    private let link: CollectorLink
    private let eventSource: AsyncStream<Event>.Continuation
    private var telemeter: Telemeter
    private var peers: [PeerID: Peer] = [:]
    private var collector: PeerID?
    private var viewers: [PeerID] = []
    private var timer: (task: Task<Void, Never>, due: Instant)?
    private var following: Task<Void, Never>?

    /// The latest 64 that nobody took; one consumer.
    public nonisolated let events: AsyncStream<Event>
    /// Messages that were not sent, as too many waited. What they carried goes again.
    public private(set) var droppedCount: UInt64 = 0

    /// - Parameters:
    ///   - peer: a new one at each start is a new node for the collectors: archive it.
    ///   - network: with its secret, as `Service(network:secrets:)` makes it.
    ///   - labels: what collectors are told of this program, at most 16.
    ///   - wait: how long a reading may wait for others to travel with.
    /// - Throws: `.invalidParameter` for labels that are too long.
    public init(
        peer: Peer, network: Service, labels: [String: String] = [:],
        wait: Duration = .milliseconds(250)
    ) throws(NearbyError) {
        link = try CollectorLink(peer: peer, network: network)
        telemeter = Telemeter(
            settings: try .ofProgram(named: peer.displayName, labels: labels, wait: wait))
        (events, eventSource) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
    }

    /// Looks for collectors and begins to send.
    public func start() throws(NearbyError) {
        guard following == nil else { return }
        try link.start()
        let events = link.events
        following = Task { [weak self] in
            for await event in events { await self?.take(event) }
        }
    }

    /// Takes a reading of now, and returns at once.
    ///
    /// - Parameters:
    ///   - value: as many decimals as it is printed with; nil, or not a number: the sensor gave
    ///     none.
    ///   - unit: as in SenML (RFC 8428), for instance `Cel` or `%RH`; at most 24 bytes.
    ///   - channel: what is measured, 1–63 bytes; the same name and unit are the same channel.
    /// - Throws: `.invalidParameter` for a name or a unit that is not so.
    public func report(_ value: Double?, unit: String = "", as channel: String) throws(NearbyError)
    {
        let outcome = Outcome(value)
        guard let unit = Unit(unit),
            let description = ChannelDescription(
                name: channel, unit: unit, scale: outcome.value?.exponent ?? 0)
        else {
            throw NearbyError(
                .invalidParameter,
                "channel \"\(channel)\", unit \"\(unit)\": a name has 1 to 63 bytes, a unit at "
                    + "most 24 and no spaces, neither has control characters")
        }
        let now = MonotonicClock.now()
        tell(.sample(Sample(channel: description, outcome: outcome, time: now)), now)
    }

    /// Readings that no collector has stored yet. Who only looks in stores nothing.
    public var waitingCount: Int { telemeter.waitingCount }

    /// Sends what waits, and stops. With a collector it waits until that has stored everything,
    /// at most so long.
    public func finish(within limit: Duration = .seconds(2)) async {
        tell(.flush, MonotonicClock.now())
        let end = MonotonicClock.now() + limit
        while collector != nil, telemeter.waitingCount > 0, MonotonicClock.now() < end {
            guard (try? await Task.sleep(for: .milliseconds(10))) != nil else { break }
        }
        following?.cancel()
        timer?.task.cancel()
        (following, timer) = (nil, nil)
        link.stop()
        eventSource.finish()
    }

    deinit {
        following?.cancel()
        timer?.task.cancel()
        eventSource.finish()
    }

    // MARK: What the network says

    private func take(_ event: CollectorLink.Event) {
        let now = MonotonicClock.now()
        switch event {
        case .collector(let peer):
            if let collector { tell(.destinationDown(collector), now) }
            collector = peer?.id
            if let peer {
                peers[peer.id] = peer
                tell(.collectorUp(peer.id), now)
            }
            eventSource.yield(.collector(peer))
        case .viewers(let present):
            let ids = present.map(\.id)
            for peer in present { peers[peer.id] = peer }
            for gone in viewers where !ids.contains(gone) { tell(.destinationDown(gone), now) }
            for new in ids where !viewers.contains(new) { tell(.viewerUp(new), now) }
            viewers = ids
            eventSource.yield(.viewers(present))
        case .message(let bytes, let peer): tell(.received(bytes, from: peer.id), now)
        case .failed(let error): eventSource.yield(.failed(error))
        }
        peers = peers.filter { $0.key == collector || viewers.contains($0.key) }
    }

    // MARK: The telemeter

    private func tell(_ input: Telemeter.Input, _ now: Instant) {
        for output in telemeter.handle(input, now: now) {
            switch output {
            case .sendReliable(let bytes, let peer): send(bytes, to: peer, .reliable)
            case .sendUnreliable(let bytes, let peer, _): send(bytes, to: peer, .unreliable)
            // There is no disk; what is lost shows in the collector's table.
            case .drop, .spool, .fetch, .forget: break
            }
        }
        setTimer(now)
    }

    private func send(_ bytes: [UInt8], to id: PeerID, _ mode: Session.Mode) {
        guard let peer = peers[id] else { return }
        do {
            try link.send(bytes, to: peer, mode: mode)
        } catch {
            droppedCount += 1
        }
    }

    private func setTimer(_ now: Instant) {
        guard timer?.due != telemeter.nextDeadline else { return }
        timer?.task.cancel()
        timer = telemeter.nextDeadline.map { due in
            let task = Task { [weak self] in
                guard (try? await Task.sleep(for: max(.zero, due - now))) != nil else { return }
                await self?.deadlineReached(due)
            }
            return (task, due)
        }
    }

    private func deadlineReached(_ due: Instant) {
        guard timer?.due == due else { return }
        timer = nil
        tell(.deadlineReached, max(due, MonotonicClock.now()))
    }
}
