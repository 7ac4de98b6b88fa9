import Glibc
import NearbyCore

/// A light that shows what the agent is doing: an output line, or one of /sys/class/leds.
///
/// A short flash a second: starting; even blinking: looking for a collector; steady: connected;
/// fast: a fault. `advance` is to be called at `nextDeadline`. For the logic thread; each call is a
/// few small writes. What goes wrong is in `diagnostic`, and tried again at the next change after
/// ten seconds.
public final class StatusLED {
    public enum State: Equatable, Sendable { case starting, searching, connected, fault }

    public enum Place: Sendable {
        /// A name in /sys/class/leds, such as ACT. What the kernel showed there comes back at the
        /// end.
        case led(String)
        case line(LineName, isActiveLow: Bool)
    }

    /// For people: what is wrong; nil: nothing.
    public private(set) var diagnostic: String?
    public private(set) var nextDeadline: Instant?
    private let place: Place
    private let header: HeaderPins
    private let devices: String
    private let leds: String
    private var pattern: LEDPattern?
    private var light: (any Light)?
    private var isLit: Bool?
    private var retryAt = Instant.zero

    /// `header` knows the board's pins; `devices` and `leds` are where chips and lights are: tests
    /// give other folders.
    public init(
        _ place: Place, header: @escaping HeaderPins = { _ in nil }, devices: String = "/dev",
        leds: String = "/sys/class/leds"
    ) {
        self.place = place
        self.header = header
        self.devices = devices
        self.leds = leds
    }

    public func show(_ state: State, now: Instant) {
        if pattern?.state != state { pattern = LEDPattern(state: state, began: now) }
        advance(now: now)
    }

    /// Blinks. Too early or too late is harmless.
    public func advance(now: Instant) {
        guard let pattern else { return }
        let isLit = pattern.isLit(at: now)
        if isLit != self.isLit, light != nil || now >= retryAt { set(isLit, now) }
        nextDeadline = light == nil ? retryAt : pattern.nextChange(after: now)
    }

    /// The light is let go: dark, or as the kernel had it.
    public func finish() {
        light?.finish()
        (light, pattern, nextDeadline, isLit) = (nil, nil, nil, nil)
    }

    private func set(_ isLit: Bool, _ now: Instant) {
        switch opened().flatMap({ light in light.set(isLit).map { light } }) {
        case .success(let light):
            self.light = light
            self.isLit = isLit
            diagnostic = nil
        case .failure(let fault):
            (light, self.isLit) = (nil, nil)
            diagnostic = fault.text
            retryAt = now + .seconds(10)
        }
    }

    private func opened() -> Result<any Light, LineFault> {
        if let light { return .success(light) }
        switch place {
        case .led(let name): return LightFile.open(name, in: leds)
        case .line(let name, let isActiveLow):
            let search = LineSearch(chips: GPIOChips(in: devices), header: header)
            return search.find(name).flatMap { line in
                do throws(LineRequest.Fault) {
                    let request = try LineRequest(
                        line, for: .output(initial: false), bias: .asIs, isActiveLow: isActiveLow,
                        debounce: .zero, consumer: "rivulet status")
                    return .success(LightLine(request: request))
                } catch {
                    return .failure(LineFault(line, error, holder: line.holder))
                }
            }
        }
    }
}

/// What can be lit.
private protocol Light {
    func set(_ isLit: Bool) -> Result<Void, LineFault>
    func finish()
}

private struct LightLine: Light {
    let request: LineRequest

    func set(_ isLit: Bool) -> Result<Void, LineFault> {
        request.set(isLit).mapError { fault in
            LineFault(reason: .failed, text: "the light: \(SensorFile.message(fault.code))")
        }
    }

    func finish() { _ = set(false) }
}

/// A folder below /sys/class/leds (Documentation/ABI/testing/sysfs-class-led).
private struct LightFile: Light {
    let folder: String
    /// What the kernel showed there before, such as mmc0.
    let trigger: String?

    static func open(_ name: String, in leds: String) -> Result<any Light, LineFault> {
        let folder = "\(leds)/\(name)"
        guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")),
            name.utf8.first != UInt8(ascii: "."), access(folder, F_OK) == 0
        else {
            return .failure(
                LineFault(reason: .absent, text: "there is no light \(name) in \(leds)"))
        }
        let triggers = try? SensorFile.read(folder + "/trigger", limit: 16_384).get()
        let active = triggers?.split(whereSeparator: \.isWhitespace).first { $0.hasPrefix("[") }
        let light = LightFile(
            folder: folder, trigger: active.map { String($0.dropFirst().dropLast()) })
        // Otherwise the kernel goes on blinking it.
        return (light.trigger == nil ? .success(()) : light.write("none", to: "trigger"))
            .map { light }
    }

    func set(_ isLit: Bool) -> Result<Void, LineFault> {
        write(isLit ? "255" : "0", to: "brightness")
    }

    func finish() {
        _ = set(false)
        if let trigger, trigger != "none" { _ = write(trigger, to: "trigger") }
    }

    private func write(_ text: String, to name: String) -> Result<Void, LineFault> {
        let file = Glibc.open("\(folder)/\(name)", O_WRONLY | O_CLOEXEC)
        defer { if file >= 0 { close(file) } }
        var text = Array(text.utf8)
        if file >= 0, Glibc.write(file, &text, text.count) == text.count { return .success(()) }
        let code = errno
        return .failure(
            LineFault(
                reason: code == EACCES || code == EROFS ? .denied : .failed,
                text: "\(folder)/\(name): \(UnitRefusal.message(code))"))
    }
}
