import Glibc
import NearbyCore
import Sampling
import Synchronization
import Telemetry

/// What is spoken over a serial line.
public enum SerialProtocol: Sendable {
    /// Plantower's PMS5003 or PMS7003: fine dust.
    case plantower
    /// Nova's SDS011: fine dust.
    case nova
    /// Winsen's MH-Z19: CO₂.
    case winsen
    /// NMEA 0183: position.
    case nmea
    /// Lines of text, each a number, a JSON object of numbers or an InfluxDB point.
    case lines(unit: String)
    /// Lines of text of which a pattern's groups are channels, each a name and a unit.
    case pattern(LinePattern, [(name: String, unit: String)])

    fileprivate func makeParser(name: String?) -> any SerialParser {
        switch self {
        case .plantower: PlantowerParser()
        case .nova: NovaParser()
        case .winsen: WinsenParser()
        case .nmea: PositionParser()
        case .lines(let unit): LineParser(.plain(name: name, unit: unit))
        case .pattern(let pattern, let channels):
            LineParser(
                .pattern(
                    { pattern.groups(in: $0) },
                    channels.map { ExpectedChannel($0.name, $0.unit) }))
        }
    }
}

/// Listens to a sensor on a serial line. Once a period it gives the newest of each channel, with
/// the time at which it came; what stays away becomes null. A device that goes and returns is
/// opened again.
public final class SerialDriver: EventDriver {
    public let name: String
    private let device: String
    private let baud: Int
    private let prefix: String?
    private let state: Mutex<State>

    private struct State {
        var port: SerialPort?
        var parser: any SerialParser
        var readings: NewestReadings
        /// At the end of the last period.
        var losses = SerialLosses()
        var isFinished = false
        var fault: SerialPort.Fault?
        /// How often the device was opened.
        var openCount = 0
    }

    /// `name` is what the channels' names begin with, and for `.lines` the channel of a lone
    /// number. A channel of which nothing new has come for `expiry` is null.
    public init(
        device: String, kind: String, baud: Int, protocol spoken: SerialProtocol, channel: String?,
        expiry: Duration
    ) {
        self.device = device
        self.baud = baud
        if case .lines = spoken { prefix = nil } else { prefix = channel }
        name = "serial \(kind) \(device)"
        let parser = spoken.makeParser(name: channel)
        let expected = parser.channels.map { [prefix] in
            ExpectedChannel(Self.name($0.name, after: prefix), $0.unit)
        }
        state = Mutex(
            State(
                parser: parser,
                readings: NewestReadings(
                    expected: expected, areCertain: parser.areChannelsCertain, expiry: expiry)))
    }

    public var descriptor: Int32? { state.withLock { $0.port?.descriptor } }

    public var diagnostic: String? {
        state.withLock { state in
            if let fault = state.fault { return fault.message }
            var parts: [String] = []
            if let warning = state.port?.warning { parts.append(warning) }
            let unparsed = state.parser.losses.unparsedBytes
            if unparsed >= Self.unparsedBytesReported {
                parts.append(
                    "\(unparsed) bytes came and none made sense; is it this device, and does it "
                        + "speak at \(baud) baud?")
            }
            if let losses = state.parser.losses.text { parts.append(losses) }
            if state.readings.dropCount > 0 {
                parts.append("\(state.readings.dropCount) values of too many channels")
            }
            if state.openCount > 1 { parts.append("opened \(state.openCount) times") }
            return parts.isEmpty ? nil : parts.joined(separator: "; ")
        }
    }

    /// More than the rest of a frame or line that had begun before we listened.
    private static let unparsedBytesReported = 256

    public func sample() -> [Measurement] {
        let isOpen = state.withLock { $0.port != nil || $0.isFinished }
        // The kernel may take its time: nobody waits for the lock meanwhile.
        if !isOpen { reopen() }
        return state.withLock { state in
            guard let port = state.port else {
                return state.readings.nulls(state.fault?.reason ?? .absent)
            }
            let reason = state.parser.losses.reason(since: state.losses)
            state.losses = state.parser.losses
            let measurements = state.readings.sample(Self.now(), reason: reason)
            if let request = state.parser.request { port.write(request) }
            return measurements
        }
    }

    public func receive(now: Instant) -> [Measurement] {
        state.withLock { state in
            guard let port = state.port else { return [] }
            switch port.read(Limits.serialReadBytesMax) {
            case .nothing: return []
            case .bytes(let bytes):
                state.parser.advance(to: now)
                let measurements = state.parser.feed(bytes[...]).map { measurement in
                    var named = measurement
                    named.channel = Self.name(measurement.channel, after: prefix)
                    return named
                }
                return state.readings.record(measurements, now)
            case .gone:
                state.port = nil
                state.fault = SerialPort.Fault(
                    reason: .absent, message: "\(device) went away; it is opened when it is back")
                return state.readings.nulls(.absent)
            }
        }
    }

    public func finish() {
        state.withLock { state in
            state.isFinished = true
            state.port = nil
        }
    }

    private func reopen() {
        let result = Result { () throws(SerialPort.Fault) in
            try SerialPort(device, baud: baud)
        }
        state.withLock { state in
            switch result {
            case .failure(let fault): state.fault = fault
            case .success(let port):
                if state.isFinished { return }
                state.port = port
                state.fault = nil
                state.openCount &+= 1
                state.parser.restart()
                state.losses = state.parser.losses
                state.readings.begin(Self.now())
            }
        }
    }

    private static func name(_ channel: String, after prefix: String?) -> String {
        prefix.map { "\($0).\(channel)" } ?? channel
    }

    /// As the event loop counts, so that times can be compared.
    private static func now() -> Instant {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
