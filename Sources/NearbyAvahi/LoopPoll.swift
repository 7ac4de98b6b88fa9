import CAvahi
import Glibc
import NearbyCore
import NearbyLinux

/// Avahi's client library on our event loop: the table of functions (`AvahiPoll`) through which it
/// asks for descriptors to be watched and for timeouts. No thread, no second loop.
///
/// libdbus watches one descriptor twice, for reading and for writing; epoll takes it once, so the
/// watches of a descriptor share a registration.
final class LoopPoll {
    /// To be handed to the library; valid while this object lives.
    let api: UnsafeMutablePointer<AvahiPoll>
    private let loop: EventLoop
    private var descriptors: [Int32: [Watch]] = [:]

    init(loop: EventLoop) {
        self.loop = loop
        api = .allocate(capacity: 1)
        api.initialize(
            to: AvahiPoll(
                userdata: nil,
                watch_new: { LoopPoll.of($0)?.watch($1, for: $2, $3, $4) },
                watch_update: { Watch.of($0)?.update(to: $1) },
                watch_get_events: { Watch.of($0)?.events ?? AvahiWatchEvent(0) },
                watch_free: { LoopPoll.free($0) },
                timeout_new: { LoopPoll.of($0)?.timeout(at: $1, $2, $3) },
                timeout_update: { Timeout.of($0)?.set(to: $1) },
                timeout_free: { LoopPoll.free(timeout: $0) }))
        api.pointee.userdata = Unmanaged.passUnretained(self).toOpaque()
    }

    deinit { api.deallocate() }

    private static func of(_ api: UnsafePointer<AvahiPoll>?) -> LoopPoll? {
        api?.pointee.userdata.map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: Watches

    /// What the library waits for on a descriptor. It holds one reference until it frees it.
    private final class Watch {
        let descriptor: Int32
        let owner: LoopPoll
        let callback: AvahiWatchCallback
        let userdata: UnsafeMutableRawPointer?
        var interest: AvahiWatchEvent
        /// Set while the callback runs.
        var events = AvahiWatchEvent(0)
        var isFreed = false

        init(
            _ owner: LoopPoll, _ descriptor: Int32, _ interest: AvahiWatchEvent,
            _ callback: @escaping AvahiWatchCallback, _ userdata: UnsafeMutableRawPointer?
        ) {
            self.owner = owner
            self.descriptor = descriptor
            self.interest = interest
            self.callback = callback
            self.userdata = userdata
        }

        static func of(_ handle: OpaquePointer?) -> Watch? {
            handle.map {
                Unmanaged.fromOpaque(UnsafeRawPointer($0)).takeUnretainedValue()
            }
        }

        var handle: OpaquePointer { OpaquePointer(Unmanaged.passUnretained(self).toOpaque()) }

        func update(to interest: AvahiWatchEvent) {
            self.interest = interest
            owner.renewInterest(of: descriptor)
        }
    }

    /// Nil, to the library want of memory, if the kernel will not watch the descriptor.
    private func watch(
        _ descriptor: Int32, for interest: AvahiWatchEvent, _ callback: AvahiWatchCallback?,
        _ userdata: UnsafeMutableRawPointer?
    ) -> OpaquePointer? {
        guard let callback else { return nil }
        let watch = Watch(self, descriptor, interest, callback, userdata)
        if descriptors[descriptor] == nil {
            do {
                try loop.register(descriptor, for: []) { [unowned self] in
                    serve(descriptor, $0)
                }
            } catch {
                return nil
            }
        }
        descriptors[descriptor, default: []].append(watch)
        renewInterest(of: descriptor)
        return OpaquePointer(Unmanaged.passRetained(watch).toOpaque())
    }

    private static func free(_ handle: OpaquePointer?) {
        guard let watch = Watch.of(handle) else { return }
        watch.isFreed = true
        watch.owner.remove(watch)
        Unmanaged.passUnretained(watch).release()
    }

    private func remove(_ watch: Watch) {
        descriptors[watch.descriptor]?.removeAll { $0 === watch }
        if descriptors[watch.descriptor]?.isEmpty == true {
            descriptors[watch.descriptor] = nil
            loop.unregister(watch.descriptor)
        } else {
            renewInterest(of: watch.descriptor)
        }
    }

    private func renewInterest(of descriptor: Int32) {
        var interest: EventLoop.Readiness = []
        for watch in descriptors[descriptor] ?? [] {
            if watch.interest.contains(AVAHI_WATCH_IN) { interest.insert(.readable) }
            if watch.interest.contains(AVAHI_WATCH_OUT) { interest.insert(.writable) }
        }
        try? loop.setInterest(interest, of: descriptor)
    }

    /// A callback may free its own watch and others.
    private func serve(_ descriptor: Int32, _ readiness: EventLoop.Readiness) {
        for watch in descriptors[descriptor] ?? [] where !watch.isFreed {
            var events = AvahiWatchEvent(0)
            if readiness.contains(.readable) {
                events.formUnion(AVAHI_WATCH_IN, in: watch.interest)
            }
            if readiness.contains(.writable) {
                events.formUnion(AVAHI_WATCH_OUT, in: watch.interest)
            }
            // Told whether asked for or not, as poll(2) does.
            if readiness.contains(.hangup) {
                events.rawValue |= AVAHI_WATCH_HUP.rawValue | AVAHI_WATCH_ERR.rawValue
            }
            guard events.rawValue != 0 else { continue }
            watch.events = events
            watch.callback(watch.handle, descriptor, events, watch.userdata)
            watch.events = AvahiWatchEvent(0)
        }
    }

    // MARK: Timeouts

    /// A timer of the loop; the library holds one reference until it frees it.
    private final class Timeout {
        private let loop: EventLoop
        private let callback: AvahiTimeoutCallback
        private let userdata: UnsafeMutableRawPointer?
        private var timer: EventLoop.TimerID?

        init(
            _ loop: EventLoop, _ callback: @escaping AvahiTimeoutCallback,
            _ userdata: UnsafeMutableRawPointer?
        ) {
            self.loop = loop
            self.callback = callback
            self.userdata = userdata
            timer = loop.addTimer { [unowned self] _ in expire() }
        }

        static func of(_ handle: OpaquePointer?) -> Timeout? {
            handle.map {
                Unmanaged.fromOpaque(UnsafeRawPointer($0)).takeUnretainedValue()
            }
        }

        /// Nil: never.
        func set(to time: UnsafePointer<timeval>?) {
            if let timer { loop.set(timer, to: time.map { Self.deadline($0.pointee) }) }
        }

        func remove() {
            if let timer { loop.removeTimer(timer) }
            timer = nil
        }

        /// The callback may free this object.
        private func expire() {
            withExtendedLifetime(self) {
                callback(OpaquePointer(Unmanaged.passUnretained(self).toOpaque()), userdata)
            }
        }

        /// The library reckons in wall-clock time. What counts is how far off it is now: a clock
        /// that is set afterwards changes nothing any more. At most a day.
        private static func deadline(_ time: timeval) -> Instant {
            var wall = timeval()
            gettimeofday(&wall, nil)
            let seconds = min(86_400, max(-1, Int64(time.tv_sec) - Int64(wall.tv_sec)))
            let rest = Int64(time.tv_usec) - Int64(wall.tv_usec)
            return MonotonicClock.now() + .microseconds(max(0, seconds * 1_000_000 + rest))
        }
    }

    private func timeout(
        at time: UnsafePointer<timeval>?, _ callback: AvahiTimeoutCallback?,
        _ userdata: UnsafeMutableRawPointer?
    ) -> OpaquePointer? {
        guard let callback else { return nil }
        let timeout = Timeout(loop, callback, userdata)
        timeout.set(to: time)
        return OpaquePointer(Unmanaged.passRetained(timeout).toOpaque())
    }

    private static func free(timeout handle: OpaquePointer?) {
        guard let timeout = Timeout.of(handle) else { return }
        timeout.remove()
        Unmanaged.passUnretained(timeout).release()
    }
}

extension AvahiWatchEvent {
    fileprivate func contains(_ event: AvahiWatchEvent) -> Bool { rawValue & event.rawValue != 0 }

    /// Adds an event that is among those asked for.
    fileprivate mutating func formUnion(_ event: AvahiWatchEvent, in asked: AvahiWatchEvent) {
        rawValue |= event.rawValue & asked.rawValue
    }
}
