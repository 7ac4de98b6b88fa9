import DurableFiles
import Glibc
import NearbyCore
import Sampling
import Synchronization
import Telemetry

/// Sensors that advertise over Bluetooth LE: one by its address, or all that are heard.
///
/// Each device's channels begin with its name, or its address; `signal` is how strong it is heard.
/// One that falls silent is null: for as long as it lasts if it is configured; otherwise it is told
/// once, and the device is forgotten.
public final class BLEDriver: AdvertisementDriver {
    public struct Options: Sendable {
        /// The first written byte in bits 40–47; nil: whoever is heard.
        public var address: UInt64?
        /// What the channels begin with, if not with the address.
        public var name: String?
        /// 16 bytes.
        public var key: [UInt8]?
        /// Readings of one channel are at least so far apart.
        public var every: Duration
        public var silentAfter: Duration
        /// Where the counter of a device with a key outlasts the agent; nil: nowhere.
        public var state: String?

        public init(
            address: UInt64? = nil, name: String? = nil, key: [UInt8]? = nil, every: Duration,
            silentAfter: Duration, state: String? = nil
        ) {
            self.state = state
            self.address = address
            self.name = name
            self.key = key
            self.every = every
            self.silentAfter = silentAfter
        }
    }

    private struct State: Sendable {
        var began: Instant?
        /// In the order in which they were found.
        var devices: [(address: UInt64, device: AdvertisedDevice)] = []
        var faults: [AdvertisementFault: Int] = [:]
        /// Found while there was no room, or under an address that will change.
        var passed = 0
        /// The counter of an earlier run is known, or there is none; before, nothing that has a
        /// counter is believed.
        var isRestored = true
        var counterDiagnostic: String?
    }

    public let name: String
    public var address: UInt64? { options.address }
    private let options: Options
    private let state: Mutex<State>
    /// Of a configured device with a key: where its counter outlasts the agent.
    private let file: Mutex<CounterFile<SystemFiles>?>

    public init(_ options: Options) {
        self.options = options
        guard let address = options.address else {
            name = "ble"
            state = Mutex(State())
            file = Mutex(nil)
            return
        }
        let text = AdvertiserAddress(value: address, isRandom: false).description
        name = "ble \(options.name ?? text)"
        let device = AdvertisedDevice(
            name: options.name ?? text, period: options.every, silentAfter: options.silentAfter)
        var counter: CounterFile<SystemFiles>?
        if let directory = options.state, options.key != nil {
            let digits = text.filter { $0 != ":" }
            counter = CounterFile(
                state: directory, name: "ble-\(digits)", through: SystemFiles())
        }
        state = Mutex(State(devices: [(address, device)], isRestored: counter == nil))
        file = Mutex(counter)
    }

    // MARK: What is heard

    public func receive(
        _ data: [UInt8], from address: AdvertiserAddress, signal: Int8, now: Instant
    ) -> [Measurement] {
        if let own = options.address, own != address.value { return [] }
        var measurements: [Measurement] = []
        for part in AdvertisedData.parts(of: data) {
            do throws(AdvertisementFault) {
                guard let heard = try decode(part, from: address) else { continue }
                measurements += try record(heard, from: address, signal: signal, now: now)
            } catch {
                state.withLock { $0.faults[error, default: 0] += 1 }
            }
        }
        return measurements
    }

    /// Nil if it is of no format that is read here.
    private func decode(
        _ part: AdvertisedData, from address: AdvertiserAddress
    ) throws(AdvertisementFault) -> SensorAdvertisement? {
        let opener = options.key.map(CCMCipher.opener)
        switch part {
        case .manufacturer(RuuviFormat.companyID, let data):
            // Ruuvi has no sealed format: whoever has a key is no such tag.
            guard options.key == nil else { throw .notEncrypted }
            return try RuuviFormat.decode(data)
        case .service(BTHomeFormat.service, let data):
            return try BTHomeFormat.decode(data, from: address, opener: opener)
        case .service(MiBeaconFormat.service, let data):
            return try MiBeaconFormat.decode(data, from: address, opener: opener)
        case .service(ATCFormat.service, let data):
            return try ATCFormat.decode(data, from: address, opener: opener)
        case .manufacturer, .service: return nil
        }
    }

    private func record(
        _ heard: SensorAdvertisement, from address: AdvertiserAddress, signal: Int8, now: Instant
    ) throws(AdvertisementFault) -> [Measurement] {
        // 127: the controller cannot tell (Bluetooth Core, Vol 4, Part E, §7.7.65.2).
        let signal = signal == 127 ? nil : signal
        let outcome: Result<[Measurement], AdvertisementFault> = state.withLock { state in
            guard state.isRestored || heard.counter == nil,
                let index = place(of: address, heard, &state)
            else { return .success([]) }
            do throws(AdvertisementFault) {
                let measurements = try state.devices[index].device.receive(
                    heard, signal: signal, now: now)
                return .success(measurements)
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }

    private func place(
        of address: AdvertiserAddress, _ heard: SensorAdvertisement, _ state: inout State
    ) -> Int? {
        if let index = state.devices.firstIndex(where: { $0.address == address.value }) {
            return index
        }
        // Who says nothing that can be measured takes no place.
        guard !heard.values.isEmpty else { return nil }
        guard !address.isPrivate, state.devices.count < Limits.advertisersMax else {
            state.passed += 1
            return nil
        }
        let device = AdvertisedDevice(
            name: address.description, period: options.every, silentAfter: options.silentAfter)
        state.devices.append((address.value, device))
        return state.devices.count - 1
    }

    // MARK: Once a period

    public func sample() -> [Measurement] {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        let nanoseconds = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        return sample(now: Instant(nanoseconds: nanoseconds))
    }

    func sample(now: Instant) -> [Measurement] {
        restoreCounter(now)
        defer { saveCounter(now, after: Limits.advertisedCounterPause) }
        return state.withLock { state in
            let began = state.began ?? now
            state.began = began
            var measurements: [Measurement] = []
            var gone: Set<UInt64> = []
            for index in state.devices.indices {
                let most = Limits.channelsPerSensorMax - measurements.count
                let given = state.devices[index].device.sample(now, most: most)
                if !given.isEmpty, state.devices[index].device.isSilent(now) {
                    gone.insert(state.devices[index].address)
                }
                measurements += given
            }
            if options.address == nil {
                state.devices.removeAll { gone.contains($0.address) }
            } else if let device = state.devices.first?.device, device.measured == nil {
                let reason: NullReason =
                    now - began < options.silentAfter ? .warmingUp : .absent
                measurements.append(
                    Measurement("\(device.name).signal", "dBm", .null(reason)))
            }
            return measurements
        }
    }

    // MARK: The counter of a device with a key

    private func restoreCounter(_ now: Instant) {
        guard !state.withLock({ $0.isRestored }) else { return }
        let content: Result<CounterFile<SystemFiles>.Content, FileError> = file.withLock { file in
            do throws(FileError) { return .success(try file?.load() ?? .none) } catch {
                // Nobody knows what is in it: it must not be written over.
                file = nil
                return .failure(error)
            }
        }
        state.withLock { state in
            state.isRestored = true
            switch content {
            case .failure(let error):
                state.counterDiagnostic = "its counter of earlier cannot be read: \(error)"
            case .success(.damaged(let kept)):
                state.counterDiagnostic =
                    "the file with its counter was no number and is now \(kept)"
            case .success(.none): break
            case .success(.count(let count)):
                guard let counter = UInt32(exactly: count), !state.devices.isEmpty else { break }
                state.devices[0].device.restore(counter: counter, now: now)
            }
        }
    }

    private func saveCounter(_ now: Instant, after pause: Duration) {
        let known = state.withLock { $0.isRestored ? $0.devices.first?.device.counter : nil }
        guard let known else { return }
        let diagnostic: String?? = file.withLock { file in
            guard file?.isOutdated(Int64(known), after: pause, now: now) == true else {
                return .none
            }
            do throws(FileError) {
                try file?.save(Int64(known), now: now)
                return .some(nil)
            } catch {
                return "its counter is not on disk and would not outlast a restart: \(error)"
            }
        }
        if let diagnostic { state.withLock { $0.counterDiagnostic = diagnostic } }
    }

    public func finish() { saveCounter(Clocks.read().now, after: .zero) }

    // MARK: For people

    /// `3 devices; 12 without a key`.
    public var diagnostic: String? {
        let (count, passed, faults, counterDiagnostic) = state.withLock { state in
            (
                state.devices.filter { $0.device.measured != nil }.count, state.passed,
                state.faults, state.counterDiagnostic
            )
        }
        var parts = [
            options.address == nil
                ? "\(count) \(count == 1 ? "device" : "devices")"
                : count == 0 ? "never heard" : "heard"
        ]
        for (fault, text) in Self.texts {
            if let count = faults[fault] { parts.append("\(count) \(text)") }
        }
        if passed > 0 { parts.append("\(passed) of others, or of changing addresses, left out") }
        if let counterDiagnostic { parts.append(counterDiagnostic) }
        return parts.joined(separator: "; ")
    }

    private static let texts: [(AdvertisementFault, String)] = [
        (.malformed, "malformed"), (.unsupported, "of a kind that is not read"),
        (.keyMissing, "encrypted, and there is no key"), (.forged, "that the key does not open"),
        (.notEncrypted, "not encrypted, though there is a key"), (.replayed, "played back"),
    ]
}

extension Limits {
    /// Between two times that the counter of a sealed device is written: it grows with each
    /// measurement, and memory cards wear out. What a power cut loses of it can be played back.
    static let advertisedCounterPause = Duration.seconds(600)
}
