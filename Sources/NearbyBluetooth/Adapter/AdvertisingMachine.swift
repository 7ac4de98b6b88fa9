import NearbyCore

/// Keeps one advertising instance of the controller ours and registered.
struct AdvertisingMachine: Sendable {
    enum Input: Sendable {
        /// The controller has so many instances, numbered from 1.
        case counted(UInt8)
        /// The kernel or the controller cannot advertise, or not what we have to.
        case unsupported
        /// A command may be sent.
        case turn(Advertisement)
        case added
        /// It could not be added.
        case refused(ManagementStatus)
        /// We have removed it.
        case removed
        /// It was removed, by whomever.
        case lost(instance: UInt8)
        /// Somebody else has added one with this number.
        case overwritten(instance: UInt8)
        /// The machine was asleep.
        case resumed
        case adapterDown
        /// The controller was off: all numbers are free again.
        case freed
        case controllerRemoved
        case deadlineReached
    }

    enum Output: Equatable, Sendable {
        case send(ManagementCommand)
    }

    private enum State: Equatable, Sendable {
        /// The controller has not said how many instances it has.
        case uncounted
        case off(instance: UInt8)
        case on(instance: UInt8)
        /// The kernel holds on to all numbers: 1 is tried again and may work after all, but only
        /// power frees the others.
        case exhausted(isOn: Bool)
        case unsupported
    }

    private var state = State.uncounted
    private var backoff = Backoff(first: .seconds(1), most: .seconds(60))
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func handle(_ input: Input, now: Instant) -> [Output] {
        switch input {
        case .counted(let most): state = most > 0 ? .off(instance: most) : .unsupported
        case .unsupported: state = .unsupported
        case .turn(let advertisement): return command(advertisement, now).map { [.send($0)] } ?? []
        case .added:
            setOn(true)
            backoff.succeed()
        case .refused(let status):
            backoff.fail(now, using: &random)
            if status == .failed { abandonNumber() }
        case .removed, .adapterDown: setOn(false)
        case .lost(let instance): lost(instance, now)
        case .overwritten(let instance): overwritten(instance, now)
        case .resumed: resumed()
        case .freed: state = .uncounted
        case .controllerRemoved:
            state = .uncounted
            backoff.succeed()
        case .deadlineReached: _ = backoff.isDue(now)
        }
        return []
    }

    var nextDeadline: Instant? { backoff.at }

    var isUncounted: Bool { state == .uncounted }
    var isUnsupported: Bool { state == .unsupported }
    var isOn: Bool { advertised != nil }

    /// No number is left to advertise with: only power makes them free.
    var isExhausted: Bool {
        if case .exhausted = state { true } else { false }
    }

    /// The instance that advertises.
    var advertised: UInt8? {
        switch state {
        case .on(let instance): instance
        case .exhausted(isOn: true): Self.last
        case .uncounted, .off, .exhausted(isOn: false), .unsupported: nil
        }
    }

    /// Numbers are used from the highest one downwards.
    private static let last: UInt8 = 1

    // MARK: What happens

    private mutating func command(
        _ advertisement: Advertisement, _ now: Instant
    ) -> ManagementCommand? {
        guard !isOn, let instance, backoff.isDue(now) else { return nil }
        return .addAdvertising(instance: instance, data: advertisement.bytes)
    }

    /// The number that is ours, if there is one.
    private var instance: UInt8? {
        switch state {
        case .off(let instance), .on(let instance): instance
        case .exhausted: Self.last
        case .uncounted, .unsupported: nil
        }
    }

    private mutating func setOn(_ isOn: Bool) {
        switch state {
        case .off(let instance), .on(let instance):
            state = isOn ? .on(instance: instance) : .off(instance: instance)
        case .exhausted: state = .exhausted(isOn: isOn)
        case .uncounted, .unsupported: break
        }
    }

    /// After rfkill, Linux may remember an instance that the controller has lost: it can neither be
    /// advertised nor removed, as its set cannot be disabled first (Linux 6.1, net/bluetooth/
    /// hci_sync.c, hci_disable_ext_adv_instance_sync). Another number works; power frees all.
    private mutating func abandonNumber() {
        switch state {
        case .off(Self.last), .on(Self.last): state = .exhausted(isOn: false)
        case .off(let instance), .on(let instance): state = .off(instance: instance - 1)
        case .uncounted, .exhausted, .unsupported: break
        }
    }

    private mutating func lost(_ number: UInt8, _ now: Instant) {
        guard number == advertised else { return }
        setOn(false)
        backoff.fail(now, using: &random)
    }

    /// Whoever has our number may keep it: we take another.
    private mutating func overwritten(_ number: UInt8, _ now: Instant) {
        guard number == instance else { return }
        switch state {
        case .off(let instance), .on(let instance):
            state = .off(instance: max(Self.last, instance - 1))
        case .exhausted: state = .exhausted(isOn: false)
        case .uncounted, .unsupported: break
        }
        backoff.fail(now, using: &random)
    }

    /// After a sleep the kernel goes on advertising only what was advertised when it began (Linux
    /// 6.1: not what a link to us had paused); so it is told again.
    private mutating func resumed() {
        guard isOn else { return }
        setOn(false)
        backoff.succeed()
    }
}
